"""What a page's text never holds, and what it never loses, whatever the scores say."""

from __future__ import annotations

from crawler.reading.boxes import Box, Mark, Tree
from crawler.reading.regions import Regions
from crawler.reading.words import SKU, holds_price

_CONSENT, _DIALOG, _LOGIN, _SHARE = (int(mark) for mark in (Mark.CONSENT, Mark.DIALOG, Mark.LOGIN, Mark.SHARE))
_NAV, _BUTTON = int(Mark.NAV), int(Mark.BUTTON)
_ELSEWHERE = int(Mark.NAV | Mark.FOOTER | Mark.DIALOG | Mark.CONSENT | Mark.RELATED | Mark.FILTER | Mark.COMMENT)
BUY_BOX = 60
"""Blocks after the h1 in which a price or an article number belongs to the product of the page."""


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
    if own & _NAV and box.tag == "nav":
        length = regions.of(box.start, box.end)
        if regions.links(box.start, box.end) > 0.75 * length and not box.start <= regions.h1 < box.end:
            return "menu"
    return ""


def protected(tree: Tree, regions: Regions, answers: set[int]) -> dict[int, str]:
    """Block -> why it is kept: pairs, the buy box, the page's own heading."""
    out = dict.fromkeys(answers, "pair")
    if regions.h1 >= 0:
        out.setdefault(regions.h1, "the page's heading")
        for index in range(regions.h1, min(len(tree.blocks), regions.h1 + BUY_BOX)):
            block = tree.blocks[index]
            if len(block.text) < 200 and not block.marks & _ELSEWHERE and _sold(block.text):
                out.setdefault(index, "buy box")
    return out


def _sold(text: str) -> bool:
    return holds_price(text) or SKU.search(text) is not None
