"""What headings, labels and lines say, in eleven languages: patterns over the words of `words.yaml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import yaml

WORDS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
_RARE = ("USD", "GBP", "CHF", "NOK", "SEK", "DKK", "AUD", "CAD", "PLN", "RUB", "CZK", "INR")


def alternatives(name: str) -> str:
    """One of the lists as alternatives of a pattern."""
    return "(?:" + "|".join(cast("list[str]", WORDS[name])) + ")"


_TAIL_HEADING = re.compile(alternatives("tail_headings") + "[\\s:.…!>»→]*")
SKU = re.compile(rf"\b{alternatives('number_labels')}(?![a-z])[\s.:\uff1a#№\u200e\u200f]*")
"""A label before an article number, in lower case."""
_DIGIT = re.compile("[0-9]")
SIGNS: tuple[str, ...] = tuple(WORDS["currency_signs"])
"""What every amount of `PRICE` has before or behind it."""
_CURRENCY = rf"(?:[$€£¥₹₽]|(?<![^\W\d_])(?:{'|'.join(('EUR', *_RARE))}|zł|kr|\u0440\u0443\u0431)(?![^\W\d_]))"
PRICE = re.compile(rf"{_CURRENCY}\.?\s?\d|\d(?:[.,]\d{{1,2}}|,-|\.-)?\s?{_CURRENCY}")
"""An amount with its currency before or behind it."""


def signs_in(text: str) -> tuple[str, ...]:
    """The currencies that a page's text names at all: most pages name none, so none of their blocks is searched."""
    return tuple([sign for sign in SIGNS if sign in text])


def has_digit(text: str) -> bool:
    """Whether an ASCII digit stands in the text."""
    return _DIGIT.search(text) is not None


def holds_price(text: str, signs: tuple[str, ...] = SIGNS) -> bool:
    """Whether an amount with a currency stands in the text; looks for a sign and a digit first, which is faster."""
    for sign in signs:
        if sign in text:
            return _DIGIT.search(text) is not None and PRICE.search(text) is not None
    return False


def is_tail_heading(text: str) -> bool:
    """Whether a heading opens what follows a page's own content: related pages, sharing, comments."""
    return len(text) <= 80 and _TAIL_HEADING.fullmatch(text.strip().lower()) is not None
