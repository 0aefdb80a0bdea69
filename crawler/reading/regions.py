"""What the boxes mean on this page: marks handed down, with a guard by their share of the text.

A class name lies often enough (`has-sidebar` on the wrapper of everything, a `<form>` around a whole page,
`modal-open` on the content), so a box that holds a large share of the page's text, or its h1, keeps no mark
that would drop it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from crawler.reading.boxes import Mark, Tree

_GUARDED = int(
    Mark.NAV | Mark.HEADER | Mark.FOOTER | Mark.ASIDE | Mark.FORM | Mark.DIALOG | Mark.CONSENT | Mark.BREADCRUMB
    | Mark.SHARE | Mark.RELATED | Mark.COMMENT | Mark.HIDDEN | Mark.META | Mark.PROMO | Mark.FILTER | Mark.LOGIN
    | Mark.FAQ | Mark.BUTTON | Mark.LIST
)  # fmt: skip
_INSIDE = int(Mark.MAIN | Mark.ARTICLE)
_FRAME = int(Mark.HEADER | Mark.FOOTER)
SHARE = 0.5
"""Of the page's characters: a box with more is the page, whatever its class says."""


@dataclass(slots=True)
class Regions:
    """Sums over the blocks, so that any box's text is two subtractions."""

    chars: list[int]  # characters before block i
    linked: list[int]
    total: int
    h1: int  # the block of the page's own h1, -1 without

    def of(self, start: int, end: int) -> int:
        """Characters of a range of blocks."""
        return self.chars[end] - self.chars[start]

    def links(self, start: int, end: int) -> int:
        """Characters inside links of a range of blocks."""
        return self.linked[end] - self.linked[start]


def settle(tree: Tree) -> Regions:
    """Hand the marks down the boxes and to the blocks; returns the sums."""
    blocks, boxes = tree.blocks, tree.boxes
    chars = list(accumulate((len(block.text) for block in blocks), initial=0))
    linked = list(accumulate((block.linked for block in blocks), initial=0))
    total = max(1, chars[-1])
    h1 = next((i for i, block in enumerate(blocks) if block.kind == "h1" and len(block.text) > 2), -1)
    most = total * SHARE
    for box in boxes:
        own = box.marks
        if own & _GUARDED and (chars[box.end] - chars[box.start]) > most:
            own &= ~_GUARDED
        box.own = own
        if box.parent >= 0:
            above = boxes[box.parent].marks
            if own & _FRAME and above & _INSIDE:
                own &= ~_FRAME
            own |= above
        box.marks = own
    for block in blocks:
        block.marks |= boxes[block.box].marks
    return Regions(chars, linked, total, h1)
