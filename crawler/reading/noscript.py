"""`noscript`: the parser reads it as markup, because nothing here runs scripts; mostly it repeats the page.

Discourse forums put a page's whole text there (19 of 163 forum pages of the development data), and without
it their text would be empty.
"""

from __future__ import annotations

from itertools import accumulate

from crawler.reading.boxes import Mark, Tree

LEAST = 1_500
_NOSCRIPT = int(Mark.NOSCRIPT)


def drop_noscript(tree: Tree) -> None:
    """Take the noscript blocks out, unless the rest is under 1,500 characters and they more than double it."""
    if not any(box.marks & _NOSCRIPT for box in tree.boxes):
        return
    inside: list[bool] = []
    for box in tree.boxes:
        inside.append(bool(box.marks & _NOSCRIPT) or (box.parent >= 0 and inside[box.parent]))
    kept = [not (block.box >= 0 and inside[block.box]) for block in tree.blocks]
    if all(kept):
        return
    shown = sum(len(block.text) for block, keep in zip(tree.blocks, kept, strict=True) if keep)
    hidden = sum(len(block.text) for block in tree.blocks) - shown
    if shown < LEAST and hidden > shown:
        return
    _remove(tree, kept)


def _remove(tree: Tree, kept: list[bool]) -> None:
    """Remove blocks and move every index that points behind them."""
    place = list(accumulate(kept, initial=0))
    tree.blocks = [block for block, keep in zip(tree.blocks, kept, strict=True) if keep]
    for box in tree.boxes:
        box.start, box.end = place[box.start], place[box.end]
    for anchor in tree.anchors:
        anchor.block = place[anchor.block]
    tree.triggers = [(place[block], box, target) for block, box, target in tree.triggers]
