"""What a page's text never holds, and what it never loses, whatever the scores say."""

from __future__ import annotations

from crawler.reading.boxes import Box, Mark, Tree
from crawler.reading.product import buy_box
from crawler.reading.regions import Regions

_CONSENT, _DIALOG, _LOGIN, _SHARE = (int(mark) for mark in (Mark.CONSENT, Mark.DIALOG, Mark.LOGIN, Mark.SHARE))
_FOOTER = int(Mark.FOOTER)
_MENUS = int(Mark.NAV | Mark.FOOTER | Mark.HEADER | Mark.DIALOG | Mark.FILTER)
LEAST = 3
"""Blocks of a menu."""


MENU = 0.5
"""A menu's share of the page at most: what holds more is a page of links, such as a directory."""
LINKS = 0.75
"""A menu's share of characters inside links at least."""


def forbidden(tree: Tree, regions: Regions) -> dict[int, str]:
    """Block -> why it is never text: consent, dialogs that cover the page, menus made of links."""
    out: dict[int, str] = {}
    boxes = tree.boxes
    for box in boxes:
        if box.end > box.start and (reason := _why_not(tree, regions, box)):
            for index in range(box.start, box.end):
                out.setdefault(index, reason)
    return out


def _why_not(tree: Tree, regions: Regions, box: Box) -> str:
    own = box.own
    if own & _CONSENT:
        return "consent"
    if own & _DIALOG and (box.attributes.get("role") in ("dialog", "alertdialog") or box.tag == "dialog"):
        return "dialog"
    if own & _FOOTER and not box.start <= regions.h1 < box.end:
        return "footer"
    if box.marks & _MENUS and box.end - box.start >= LEAST:
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
