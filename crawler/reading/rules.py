"""What a page's text never holds, and what it never loses, whatever the scores say."""

from __future__ import annotations

from crawler.reading.boxes import Box, Mark, Tree
from crawler.reading.product import buy_box
from crawler.reading.regions import Regions
from crawler.reading.tables import tables_of

_CONSENT, _DIALOG, _LOGIN, _SHARE = (int(mark) for mark in (Mark.CONSENT, Mark.DIALOG, Mark.LOGIN, Mark.SHARE))
_INSIDE = int(Mark.MAIN | Mark.ARTICLE | Mark.CONTENT)
_AROUND = int(
    Mark.NAV | Mark.ASIDE | Mark.FOOTER | Mark.DIALOG | Mark.RELATED | Mark.FILTER | Mark.COMMENT | Mark.PROMO
)
_NAV, _FOOTER = int(Mark.NAV), int(Mark.FOOTER)
_MENUS = int(Mark.NAV | Mark.FOOTER | Mark.HEADER | Mark.DIALOG | Mark.FILTER)
_LOOKED_AT = _CONSENT | _DIALOG | _FOOTER | _MENUS
"""A box without any of these, its own or handed down, breaks no rule; a footer in `main` has only its own."""
LEAST = 3
"""Blocks of a menu."""


MENU = 0.5
"""A menu's share of the page at most: what holds more is a page of links, such as a directory."""
LINKS = 0.75
"""A menu's share of characters inside links at least."""


def forbidden(tree: Tree, regions: Regions) -> dict[int, str]:
    """Block -> why it is never text: consent, dialogs that cover the page, menus made of links."""
    out: dict[int, str] = {}
    done = 0  # parents come before what they hold: what is in a box without a place in the text needs no look
    for box in tree.boxes:
        looked_at = box.end > done and box.end > box.start and (box.marks | box.own) & _LOOKED_AT
        if looked_at and (reason := _why_not(regions, box)):
            out.update(dict.fromkeys(range(box.start, box.end), reason))
            done = box.end
    return out


def _why_not(regions: Regions, box: Box) -> str:
    own = box.own
    if own & _CONSENT:
        return "consent"
    if own & _DIALOG and (box.attributes.get("role") in ("dialog", "alertdialog") or box.tag == "dialog"):
        return "dialog"
    if own & _FOOTER and not box.start <= regions.h1 < box.end:
        return "footer"
    if box.marks & _MENUS and (box.end - box.start >= LEAST or own & _NAV):
        length = regions.of(box.start, box.end)
        small = length < MENU * regions.total and not box.start <= regions.h1 < box.end
        if small and regions.links(box.start, box.end) > LINKS * length:
            return "menu"
    return ""


def protected(tree: Tree, regions: Regions, answers: set[int]) -> dict[int, str]:
    """Block -> why it is kept: pairs, the buy box, the page's own heading."""
    out = dict.fromkeys(answers, "pair")
    if regions.h1 >= 0:
        out.setdefault(regions.h1, "the page's heading")
    for index in buy_box(tree, regions):
        out.setdefault(index, "buy box")
    return out


def own_tables(tree: Tree, regions: Regions) -> list[tuple[int, int]]:
    """The data tables that may be the page's own, as ranges of blocks: they are kept or dropped whole."""
    found = (tree.boxes[box] for box in tables_of(tree).values())
    return [(table.start, table.end) for table in found if _belongs(tree, regions, table)]


def _belongs(tree: Tree, regions: Regions, table: Box) -> bool:
    """Whether a data table is the page's own: in its main part, with numbers, not made of links."""
    if not table.marks & _INSIDE or table.marks & _AROUND:
        return False
    length = regions.of(table.start, table.end)
    if regions.links(table.start, table.end) > 0.5 * length:
        return False
    return any(map(str.isdigit, "".join(block.text for block in tree.blocks[table.start : table.end])))
