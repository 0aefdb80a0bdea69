"""Pages that take no place among the kept: without text, or a "not found" that answers 200 (E18, E28)."""

from __future__ import annotations

import re

from crawler.reading.dupes import heading_of
from crawler.reading.words import alternatives, holds_price
from models.reading import Reading

THIN = 40
"""Characters of text below which a page must hold a fact to count."""
SOFT_404 = 1_500
"""A longer page that speaks of 404 is about something: help pages explain what a 404 is."""

_FACT = re.compile(r"[\w.+-]+@[\w-]+\.\w{2,}|\+?\(?\d[\d\s()./\u2013-]{6,}\d|\d{1,2}[:.h]\d{2}")
_NOT_FOUND = re.compile(alternatives("not_found"), re.IGNORECASE)


def is_soft_404(reading: Reading) -> bool:
    """Whether a page that answered 200 says in its title or heading that there is none."""
    if len(reading.markdown) > SOFT_404:
        return False
    return any(len(text) < 200 and _NOT_FOUND.search(text) for text in (reading.title, heading_of(reading)))


def is_thin(reading: Reading) -> bool:
    """Whether there is nothing to answer from: hardly any text, and in it no pair, fact, price, number or hour."""
    if is_soft_404(reading):
        return True
    text = reading.markdown.strip()
    if len(text) >= THIN or reading.pairs or reading.facts:
        return False
    return not (_FACT.search(text) or holds_price(text))
