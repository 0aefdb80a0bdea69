"""Pages that take no place among the kept: without text, or a "not found" that answers 200 (E18, E28)."""

from __future__ import annotations

import re

from crawler.reading.dupes import heading_of
from crawler.reading.words import holds_price
from models.reading import Reading

THIN = 140
"""Characters of text below which a page must hold a fact to count."""
SOFT_404 = 1_500
"""A longer page that speaks of 404 is about something: help pages explain what a 404 is."""

_FACT = re.compile(r"[\w.+-]+@[\w-]+\.\w{2,}|\+?\(?\d[\d\s()./–-]{6,}\d|\d{1,2}[:.h]\d{2}")
_NOT_FOUND = re.compile(
    r"(?:error\s*)?404(?!\d)|not\s+found|(?:page|site|product|content)\s+(?:you\s.{0,40})?(?:(?:was|is|could|can|does)\s*(?:not|n[o']t)|cannot|can't|couldn't"
    r"|doesn't|no longer|isn't|wasn't)\s+(?:be\s+)?(?:found|exist|available)|nothing (?:was )?found|page missing|no longer (?:available|exists)"
    r"|seite (?:wurde )?nicht gefunden|nicht gefunden|existiert nicht|page (?:introuvable|non trouvée)|n'existe (?:pas|plus)"
    r"|página no encontrada|no (?:se ha )?encontrad[oa]|no existe|pagina non trovata|non (?:è stata )?trovat[oa]|non esiste"
    r"|página não encontrada|não (?:foi )?encontrad[oa]|pagina niet gevonden|niet gevonden|bestaat niet|nie znaleziono|nie istnieje"
    r"|страница не найдена|не найден[ао]?|не существует|sidan (?:hittades|kunde) inte|siden (?:blev|findes) ikke|ikke fundet"
    r"|ページが見つかりません|页面不存在|找不到",
    re.IGNORECASE,
)


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
