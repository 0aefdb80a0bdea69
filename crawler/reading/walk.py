"""One parse, one walk: a page becomes blocks, boxes, links and what its head says.

The walk touches each node once.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.reading.boxes import Anchor, Block, Box, Mark, Tree
from crawler.reading.elements import BLOCKS, HEADINGS, KINDS, OUTER, PLAIN, ROLE_MARKS, ROOTS, SKIPPED, TAG_MARKS
from crawler.reading.names import marks_of

_DIALOG, _HIDDEN, _LINK = int(Mark.DIALOG), int(Mark.HIDDEN), int(Mark.LINK)
_KIND_OF = {tag: tag for tag in KINDS}.get
_TAG_MARK = TAG_MARKS.get
MAX_TRIGGERS = 2_000
MAX_TREE = 480
"""Elements open at once in the parsed tree: Python's own limit of 1,000 calls, as the compiled walk has none."""
MAX_NAMESAKES = 50
"""Controls of a page, and elements of one id: bounds for what looks each control's panel up."""
_BREAK = "\0"  # never in a parsed document: the parser replaces NUL
_TELLING = frozenset(
    ("role", "hidden", "aria-hidden", "aria-modal", "style", "itemtype", "aria-controls", "data-bs-target",
     "data-target", "for")
)  # fmt: skip
_NO_SCHEME = frozenset("hH/#.?")
"""First characters of an href that is neither mail nor telephone."""
_PANEL = ("aria-controls", "data-bs-target", "data-target", "for")


class TooDeepError(Exception):
    """The parser made a tree deeper than its tags: it repeats formatting elements that stay open."""


def walk(html: str) -> Tree:
    """Parse the page once and walk it once. The caller has looked for traps (`guard.is_trap`)."""
    walker = _Walker()
    root = LexborHTMLParser(html).root
    if root is not None:
        try:
            walker.element(root, root.tag or "html")
        except RecursionError:
            raise TooDeepError from None
    return walker.tree


class _Walker:
    """The state of one walk."""

    __slots__ = (
        "anchor", "anchor_text", "anchors", "blocks", "boxes", "buffer",
        "depth", "in_head", "index", "linked", "outer", "tree",
    )  # fmt: skip

    def __init__(self) -> None:
        self.tree = Tree()
        self.blocks = self.tree.blocks
        self.boxes = self.tree.boxes
        self.buffer: list[str] = []
        self.index = -1  # of the box that the walk is in
        self.outer = Box("", "", -1, -1, 0, 0, "", 0, {})  # that box itself; here what holds the root
        self.linked = 0
        self.anchors = 0
        self.anchor: Anchor | None = None
        self.anchor_text: list[str] = []
        self.in_head = False
        self.depth = 0

    def visit(self, parent: LexborNode) -> None:  # noqa: C901 - the innermost loop
        """The children of a node, in order. Runs once a node, 3,000 times an average page.

        Recursion, because a stack of our own took twice the time; the depth is bounded (`TooDeepError`). The text is
        asked for first: it is None for all that is no text, and takes less than half of the time of the name.
        """
        self.depth += 1
        if self.depth > MAX_TREE:
            raise TooDeepError
        buffer, visit = self.buffer, self.visit
        node = parent.child
        while node is not None:
            text = node.text_content
            if text is not None:
                if not text or text.isspace():  # more than half of all text nodes
                    if buffer:
                        buffer.append(" ")
                elif not self.in_head:
                    buffer.append(text)
                    if self.anchor is not None:
                        self.anchor_text.append(text)
                        self.linked += len(text.strip())
            else:
                tag = node.tag
                if tag in BLOCKS:
                    self.block(node, tag)
                elif tag in PLAIN:
                    visit(node)
                elif tag and tag[0] not in "-!":
                    self.element(node, tag)
            node = node.next
        self.depth -= 1

    def element(self, node: LexborNode, tag: str) -> None:
        """An element which is a box, a link, or has something to say."""
        if tag == "a":
            self.open_anchor(node.attributes)
            self.visit(node)
            if self.anchor is not None:
                self.close_anchor()
        elif tag in SKIPPED:
            if tag == "script":
                self.script(node)
        elif tag in BLOCKS or "-" in tag:
            self.block(node, tag)
        elif tag == "br":
            self.buffer.append(_BREAK)
        else:
            if tag in _INLINE:
                _INLINE[tag](self, node)
            self.visit(node)

    def block(self, node: LexborNode, tag: str) -> None:
        """A box and what it holds. Runs 640 times an average page."""
        if self.buffer:
            self.flush()
        outer, index = self.outer, self.index
        self.outer = box = self.open_box(tag, node.attributes)
        if tag in ROOTS:
            self.root(box)
        self.visit(node)
        if self.buffer:
            self.flush()
        box.end = len(self.blocks)
        self.outer, self.index = outer, index
        if tag == "head":
            self.in_head = False

    def open_box(self, tag: str, attributes: dict[str, str | None]) -> Box:
        """Make the box of an element: its kind from the tag or from around it, its marks from its names."""
        outer, boxes = self.outer, self.boxes
        parent, self.index = self.index, len(boxes)
        kind, kind_box = _KIND_OF(tag), self.index
        if kind is None or (kind == "p" and outer.kind in OUTER):
            kind, kind_box = outer.kind, outer.kind_box
        name, marks = "", _TAG_MARK(tag, 0)
        if attributes:
            name = attributes.get("class") or ""
            if identity := attributes.get("id"):
                name = f"{name} {identity}" if name else identity
                self.named(tag, identity)
            if name and tag not in ROOTS:
                marks |= marks_of(name)
        box = Box(tag, name, parent, outer.depth + 1, marks, len(self.blocks), kind, kind_box, attributes)
        boxes.append(box)
        # A class alone tells nothing more, and most other attributes are data-* and the like.
        more = len(attributes) > 1 or "class" not in attributes
        if more and not _TELLING.isdisjoint(attributes):
            self.told(box, attributes)
        return box

    def told(self, box: Box, attributes: dict[str, str | None]) -> None:
        """What a box's other attributes say of it."""
        if box.tag in ROOTS:
            return
        box.marks |= _attribute_marks(attributes)
        self.controls(attributes)
        if attributes.get("role") == "heading" and box.tag not in HEADINGS:
            box.kind, box.kind_box = _heading(attributes), self.index

    def root(self, box: Box) -> None:
        """The page's own elements: the language of one, the end of text in the other."""
        if box.tag == "head":
            self.in_head = True
        elif box.tag == "html":
            self.tree.language = box.attributes.get("lang") or box.attributes.get("xml:lang") or ""

    def script(self, node: LexborNode) -> None:
        if "ld+json" in (node.attrs.get("type") or "").lower():  # no dict of the others: 25 scripts a page
            self.tree.scripts.append(node.text(deep=True))

    def named(self, tag: str, identity: str) -> None:
        """Remember the box of an id, or around it."""
        if tag not in ROOTS:
            named = self.tree.ids.setdefault(identity, [])
            if len(named) < MAX_NAMESAKES:
                named.append(self.index)

    def controls(self, attributes: dict[str, str | None]) -> None:
        """Remember which block opens which panel."""
        tree = self.tree
        if "itemtype" in attributes:
            tree.microdata = True
        for name in _PANEL if len(tree.triggers) < MAX_TRIGGERS else ():
            if target := attributes.get(name):
                tree.triggers.append((len(tree.blocks), self.index, target.removeprefix("#")))
                return

    def open_anchor(self, attributes: dict[str, str | None]) -> None:
        href = attributes.get("href")
        if self.buffer and self.anchors:
            self.buffer.append(" ")  # a row of links: "Home" and "News" are two words
        if identity := attributes.get("id"):
            self.named("a", identity)
        if not _TELLING.isdisjoint(attributes):
            self.controls(attributes)
        if href is None:
            return
        if href[:1] == "#" and len(href) > 1 and len(self.tree.triggers) < MAX_TRIGGERS:
            self.tree.triggers.append((len(self.blocks), self.index, href[1:]))
        if self.anchor is not None:
            self.close_anchor()
        rel = attributes.get("rel")
        nofollow = bool(rel) and "nofollow" in (rel or "").lower().replace(",", " ").split()
        self.anchor = Anchor(href, "", nofollow, len(self.blocks))
        self.anchors += 1
        self.anchor_text = []

    def close_anchor(self) -> None:
        """The link ends; the caller has seen that there is one."""
        anchor, self.anchor = self.anchor, None
        if anchor is None:
            return
        anchor.text = text = " ".join("".join(self.anchor_text).split())
        self.tree.anchors.append(anchor)
        if anchor.href[:1] in _NO_SCHEME:  # nearly all links of a page
            return
        href = anchor.href.strip()
        if href[:7].lower() == "mailto:":
            self.append_target(href[7:].partition("?")[0], text)
        elif href[:4].lower() == "tel:":
            self.append_target(href[4:], text)

    def append_target(self, target: str, text: str) -> None:
        """An address or number that stands only in the target belongs into the text: `Mail us (a@b.example)`."""
        if not text or "@" in text or sum(map(str.isdigit, text)) >= 5 or not 5 <= len(target) <= 100:
            return
        if "@" in target or sum(map(str.isdigit, target)) >= 6:
            self.buffer.append(f" ({target})")

    def meta(self, node: LexborNode) -> None:
        self.tree.metas.append(node.attributes)

    def rel(self, node: LexborNode) -> None:
        self.tree.rels.append(node.attributes)

    def base(self, node: LexborNode) -> None:
        self.tree.base = self.tree.base or (node.attributes.get("href") or "")

    def title(self, node: LexborNode) -> None:
        if self.in_head and not self.tree.title:
            self.tree.title = node.text(deep=True)

    def area(self, node: LexborNode) -> None:
        attributes = node.attributes
        if href := attributes.get("href"):
            nofollow = "nofollow" in (attributes.get("rel") or "").lower()
            self.tree.anchors.append(Anchor(href, attributes.get("alt") or "", nofollow, len(self.tree.blocks)))

    def raised(self, _node: LexborNode) -> None:
        """`$63<sup>07</sup>` is no 6307, and a note's number is no part of the number before it."""
        if self.buffer and self.buffer[-1][-1:].isdigit():
            self.buffer.append(" ")

    def inline(self, node: LexborNode) -> None:
        attributes = node.attributes
        if identity := attributes.get("id"):
            self.named("label", identity)
        self.controls(attributes)

    def flush(self) -> None:
        """End the current run of text; it becomes a block when it holds more than white space."""
        buffer = self.buffer
        joined = "".join(buffer)
        buffer.clear()
        kind = self.outer.kind
        if kind == "pre":
            text = _preformatted(joined)
        elif _BREAK in joined:
            text = _broken(joined)
        else:
            text = " ".join(joined.split())
        inside = self.anchor is not None
        if text:
            linked = min(self.linked, len(text))
            self.blocks.append(Block(text, kind, self.index, _LINK if inside else 0, linked, self.anchors))
        self.linked = 0
        self.anchors = 1 if inside else 0


def _broken(text: str) -> str:
    """Lines as their `<br>` part them, without empty ones."""
    lines = (" ".join(line.split()) for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)


def _preformatted(text: str) -> str:
    return text.replace(_BREAK, "\n").strip("\n").rstrip() if text.strip() else ""


def _attribute_marks(attributes: dict[str, str | None]) -> int:
    """The marks that an element's other attributes give it."""
    marks = 0
    if role := attributes.get("role"):
        marks = ROLE_MARKS.get(role, 0)
    if attributes.get("aria-modal") == "true":
        marks |= _DIALOG
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or _styled_away(attributes):
        marks |= _HIDDEN
    return marks


def _heading(attributes: dict[str, str | None]) -> str:
    level = attributes.get("aria-level") or "3"
    return f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "h3"


def _styled_away(attributes: dict[str, str | None]) -> bool:
    style = attributes.get("style")
    return bool(style) and "display:none" in (style or "").replace(" ", "").lower()


_INLINE = {
    "meta": _Walker.meta, "link": _Walker.rel, "base": _Walker.base, "title": _Walker.title,
    "area": _Walker.area, "sup": _Walker.raised, "label": _Walker.inline,
}  # fmt: skip
