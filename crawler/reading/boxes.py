"""What one walk over a page yields: blocks (lines of text) and boxes (the elements around them).

Everything after the walk is arithmetic on these lists: no second parse, no re-serialising. What a page has a
thousand of is a plain class: compiled (`native`), its attributes are places in memory, which those of a dataclass
with defaults or of a msgspec struct are not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntFlag


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


class Box:
    """A block-level element: the blocks `start` to `end` (exclusive) are inside it."""

    __slots__ = ("attributes", "depth", "end", "kind", "kind_box", "marks", "name", "own", "parent", "start", "tag")

    def __init__(  # noqa: PLR0913, PLR0917 - made in one place
        self,
        tag: str,
        name: str,  # class and id, lower case
        parent: int,
        depth: int,
        marks: int,
        start: int,
        kind: str,  # the tag that decides how its text is written: h2, li, dt, td, summary, p ...
        kind_box: int,  # the box which set `kind`
        attributes: dict[str, str | None],
    ) -> None:
        self.tag = tag
        self.name = name
        self.parent = parent
        self.depth = depth
        self.marks = marks
        self.start = start
        self.kind = kind
        self.kind_box = kind_box
        self.attributes = attributes
        self.end = 0
        self.own = 0  # the marks of this element alone


class Block:
    """One paragraph-like run of text. `linked` are the characters inside links, `anchors` the links."""

    __slots__ = ("anchors", "box", "kind", "linked", "marks", "text")

    def __init__(self, text: str, kind: str, box: int, marks: int, linked: int, anchors: int) -> None:
        self.text = text
        self.kind = kind
        self.box = box
        self.marks = marks
        self.linked = linked
        self.anchors = anchors


class Anchor:
    """A link as the walk met it, its href as written."""

    __slots__ = ("block", "href", "nofollow", "text")

    def __init__(self, href: str, text: str, nofollow: bool, block: int) -> None:
        self.href = href
        self.text = text
        self.nofollow = nofollow
        self.block = block


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
