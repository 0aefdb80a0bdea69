"""What one walk over a page yields: blocks (lines of text) and boxes (the elements around them).

Everything after the walk is arithmetic on these lists: no second parse, no re-serialising. What a page has a
thousand of is a msgspec struct: made in .11 us where a dataclass takes .30 [measured].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag

import msgspec


class Mark(IntFlag):
    """What is known of a box from its tag, role, class and id. Boxes inherit the marks of their parents."""

    NONE = 0
    NAV = 1  # nav, role=navigation, menu classes
    HEADER = 2  # a header of the page, not of an article
    FOOTER = 4
    ASIDE = 8
    FORM = 16
    DIALOG = 32
    CONSENT = 64
    BREADCRUMB = 128
    SHARE = 256
    RELATED = 512
    HIDDEN = 1024
    NOSCRIPT = 2048
    MAIN = 4096
    ARTICLE = 8192
    DETAILS = 16384
    TABLE = 32768
    DEFINITIONS = 65536
    ADDRESS = 131072
    COMMENT = 262144
    LIST = 524288
    PRODUCT = 1048576
    CONTENT = 2097152
    FAQ = 4194304
    META = 8388608  # bylines, dates, tags, author boxes
    PROMO = 16777216  # advertisements, newsletter, banners
    FILTER = 33554432  # sorting, facets, pagination
    LOGIN = 67108864
    LINK = 134217728  # inside <a href>
    BUTTON = 268435456
    FORUM = 536870912


class Box(msgspec.Struct, gc=False):
    """A block-level element: the blocks `start` to `end` (exclusive) are inside it."""

    tag: str
    name: str  # class and id, lower case
    parent: int
    depth: int
    marks: int
    start: int
    kind: str  # the tag that decides how its text is written: h2, li, dt, td, summary, p ...
    kind_box: int  # the box which set `kind`
    attributes: dict[str, str | None]
    end: int = 0
    own: int = 0  # the marks of this element alone


class Block(msgspec.Struct, gc=False):
    """One paragraph-like run of text. `linked` are the characters inside links, `anchors` the links."""

    text: str
    kind: str
    box: int
    marks: int
    linked: int
    anchors: int


class Anchor(msgspec.Struct, gc=False):
    """A link as the walk met it, its href as written."""

    href: str
    text: str
    nofollow: bool
    block: int


@dataclass(slots=True)
class Tree:
    """A walked page."""

    blocks: list[Block] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    anchors: list[Anchor] = field(default_factory=list)
    metas: list[dict[str, str | None]] = field(default_factory=list)
    rels: list[dict[str, str | None]] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)  # JSON-LD, as text
    triggers: list[tuple[int, int, str]] = field(default_factory=list)  # (block, box, id of the panel)
    ids: dict[str, list[int]] = field(default_factory=dict)  # element id -> boxes: pages repeat ids
    base: str = ""
    title: str = ""
    language: str = ""
    microdata: bool = False
    tables: dict[int, int] | None = None  # `tables.tables_of`, once it was asked
    priced: tuple[list[int], tuple[str, ...]] | None = None  # `prices.may_hold_price`, once it was asked

    def parents(self, box: int) -> list[int]:
        """The box and the boxes around it, innermost first."""
        out = []
        while box >= 0:
            out.append(box)
            box = self.boxes[box].parent
        return out
