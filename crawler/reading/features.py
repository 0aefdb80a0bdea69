"""What is known of a block when it is decided whether it is the page's own text.

One list of numbers a block, in the order of `NAMES`: of the block, of its neighbours, of the boxes around
it, of the page. The same code makes the numbers that the weights were learned from (`tools/train.py`).
Whatever is the same for all blocks of a box, or for the page, is computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import accumulate

from crawler.reading.boxes import Block, Mark, Tree
from crawler.reading.declared import declared
from crawler.reading.groups import Groups, best_box
from crawler.reading.kind import FLAGS as KIND_FLAGS
from crawler.reading.kind import NAMES as KIND_NAMES
from crawler.reading.kind import WHOLE as KIND_WHOLE
from crawler.reading.kind import kind_numbers
from crawler.reading.places import Places
from crawler.reading.prices import may_hold_price
from crawler.reading.regions import Regions
from crawler.reading.words import holds_price, is_tail_heading

MARKS = tuple(
    int(mark)
    for mark in (
        Mark.NAV, Mark.HEADER, Mark.FOOTER, Mark.ASIDE, Mark.FORM, Mark.DIALOG, Mark.HIDDEN, Mark.MAIN, Mark.ARTICLE,
        Mark.COMMENT, Mark.RELATED, Mark.FAQ, Mark.TABLE, Mark.META, Mark.PROMO, Mark.PRODUCT, Mark.LIST, Mark.LINK,
        Mark.FORUM, Mark.BREADCRUMB, Mark.SHARE, Mark.DETAILS, Mark.DEFINITIONS, Mark.ADDRESS, Mark.CONTENT,
        Mark.FILTER, Mark.LOGIN, Mark.BUTTON,
    )
)  # fmt: skip
NEAR = tuple(
    int(mark)
    for mark in (
        Mark.NAV, Mark.COMMENT, Mark.CONTENT, Mark.META, Mark.HEADER, Mark.ASIDE, Mark.SHARE, Mark.RELATED,
        Mark.ARTICLE, Mark.LIST, Mark.PRODUCT, Mark.FAQ, Mark.PROMO, Mark.FILTER, Mark.LOGIN, Mark.FORUM,
    )
)  # fmt: skip
_KINDS = {"": 0, "p": 1, "h1": 2, "h2": 3, "h3": 4, "h4": 5, "h5": 6, "h6": 6, "li": 7, "td": 8, "th": 8, "dt": 9,
          "dd": 9, "summary": 10, "pre": 11, "blockquote": 12, "button": 13, "legend": 13, "address": 14,
          "caption": 15, "figcaption": 15}  # fmt: skip
_MAIN = int(Mark.MAIN)
_ENDS = frozenset(".!?\u3002\uff01\uff1f…:;")
_LEVELS = {f"h{n}": n for n in range(1, 7)}

BLOCK_NAMES = (
    "length", "words", "link share", "kind", "ends like a sentence", "commas", "repeats on the page", "place",
    "place in text", "after h1", "under a tail heading", "after heading", "heading level", "price",
    "length before", "length after", "links after", "length around", "links around", "long before", "long after",
    "before or after the main text",
)  # fmt: skip
BOX_NAMES = (
    "links in box", "share of box", "length of outer box", "links in outer box", "blocks in outer box",
    "mean in outer box", "length of section", "links in section", "mean in section", "share of section", "alike",
    "depth", "length of card", "share of cards", "cards", "mean card", "in main text",
)  # fmt: skip
MARK_NAMES = (
    "nav", "header", "footer", "aside", "form", "dialog", "hidden", "main", "article", "comment", "related", "faq",
    "table", "meta", "promo", "product", "list", "link", "forum", "breadcrumb", "share", "details", "definitions",
    "address", "content", "filter", "login", "button",
)  # fmt: skip
NEAR_NAMES = (
    "near nav", "near comment", "near content", "near meta", "near header", "near aside", "near share",
    "near related", "near article", "near list", "near product", "near faq", "near promo", "near filter",
    "near login", "near forum",
)  # fmt: skip
PAGE_NAMES = (
    "page: length", "page: blocks", "page: links", "page: main", "page: articles", "page: long blocks", "page: forms",
    "page: prices", "page: repeated", "page: main text", "page: links in main text", "page: product", "page: forum",
    "page: article", *KIND_NAMES,
)  # fmt: skip
NAMES = BLOCK_NAMES + BOX_NAMES + MARK_NAMES + NEAR_NAMES + PAGE_NAMES
FLAGS = frozenset(("ends like a sentence", "under a tail heading", "price", "in main text", *KIND_FLAGS))
"""Always a bool."""
WHOLE = frozenset(
    ("length", "words", "kind", "commas", "repeats on the page", "after h1", "after heading", "heading level",
     "length before", "length after", "length around", "long before", "long after", "before or after the main text",
     "length of outer box", "blocks in outer box", "length of section", "alike", "depth", "length of card", "cards",
     "page: length", "page: blocks", "page: articles", "page: long blocks", "page: forms", "page: prices",
     *KIND_WHOLE)
)  # fmt: skip
"""Always an int: `weights` compares these with whole numbers. What is in neither set may be any number."""


Around = tuple[tuple[float, ...], int, int]
"""What all blocks of one box share: numbers, marks as bits, marks of the names close around."""
Row = tuple[tuple[float, ...], Around]


@dataclass(slots=True)
class _Page:
    """What is computed once a page."""

    tree: Tree
    regions: Regions
    lengths: list[int]
    shares: list[float]
    priced: list[bool]
    long_before: list[int]
    counts: Counter[str]
    groups: Groups
    places: Places
    best: tuple[int, int]


def rows(tree: Tree, regions: Regions, without: Container[int]) -> tuple[list[Row | None], tuple[float, ...]]:
    """The numbers of each block but those that a rule has dropped, and the numbers of the page."""
    page = _page(tree, regions, without)
    cache: dict[int, Around] = {}
    boxes = [block.box for block in tree.blocks]
    out: list[Row | None] = []
    for index, numbers in _block_numbers(page, without):
        while len(out) < index:
            out.append(None)
        box = boxes[index]
        around = cache.get(box)
        if around is None:
            around = cache[box] = _around_box(page, box)
        out.append((numbers, around))
    out.extend([None] * (len(boxes) - len(out)))
    return out, _page_numbers(page)


def flat(row: Row, page: tuple[float, ...]) -> list[float]:
    """A row as one list in the order of `NAMES`, for learning and for explaining."""
    numbers, (around, marks, near) = row
    bits = [*(marks & mark > 0 for mark in MARKS), *(near & mark > 0 for mark in NEAR)]
    return list(map(float, (*numbers, *around, *bits, *page)))


def _page(tree: Tree, regions: Regions, without: Container[int]) -> _Page:
    blocks = tree.blocks
    lengths = [len(block.text) for block in blocks]
    shares = [block.linked / length for block, length in zip(blocks, lengths, strict=True)]
    longs = [length >= 100 and share < 0.3 for length, share in zip(lengths, shares, strict=True)]
    texts = [block.text for block in blocks]
    priced = [False] * len(blocks)
    short, signs = may_hold_price(tree)
    for index in short if signs else ():
        priced[index] = index not in without and holds_price(texts[index], signs)
    best = best_box(tree, [i for i, is_long in enumerate(longs) if is_long])
    before = list(accumulate(longs, initial=0))
    counts = Counter(texts)
    return _Page(
        tree, regions, lengths, shares, priced, before, counts, Groups.of(tree, regions), Places.of(tree), best
    )


def _page_numbers(page: _Page) -> tuple[float, ...]:
    tree, regions, best = page.tree, page.regions, page.best
    total, count = regions.total, len(tree.blocks)
    tags = [box.tag for box in tree.boxes]
    mains = [regions.of(box.start, box.end) for box in tree.boxes if box.own & _MAIN]
    inside = regions.of(*best)
    repeated = sum(times > 1 for times in page.counts.values())
    return (
        total, count, regions.linked[-1] / total, max(mains, default=0) / total, min(tags.count("article"), 20),
        page.long_before[-1], min(tags.count("form"), 5), min(sum(page.priced), 30), repeated / max(1, count),
        inside / total, regions.links(*best) / max(1, inside), *declared(tree),
        *kind_numbers(tree, regions),
    )  # fmt: skip


def _headings(blocks: list[Block]) -> list[tuple[int, int, bool]]:
    """Of each block: the heading above it, that heading's level, and whether a tail heading is in force.

    A tail heading ("Related products") holds until a heading of its own level or above.
    """
    out = []
    above, level, tail_level = -1, 0, 0
    for index, block in enumerate(blocks):
        new = _LEVELS.get(block.kind)
        if new:
            if not tail_level or new <= tail_level:
                tail_level = new if is_tail_heading(block.text) else 0
            above, level = index, new
        out.append((above, level, tail_level > 0))
    return out


def _block_numbers(page: _Page, without: Container[int]) -> Iterator[tuple[int, tuple[float, ...]]]:
    """The numbers of each block that is asked for. One loop with everything at hand: it runs 200 times a page."""
    regions, counts, long_before, priced = page.regions, page.counts, page.long_before, page.priced
    count, total, h1, (start, end) = len(page.lengths), regions.total, regions.h1, page.best
    lengths = [0, *page.lengths, 0]
    shares = [1.0, *page.shares, 1.0]
    chars = [0] * 3 + regions.chars + regions.chars[-1:] * 3  # seven blocks around i: from i to i + 7
    linked = [0] * 3 + regions.linked + regions.linked[-1:] * 3
    longs = long_before[-1]
    for index, (block, heading) in enumerate(zip(page.tree.blocks, _headings(page.tree.blocks), strict=True)):
        if index in without:
            continue
        text = block.text
        around = chars[index + 7] - chars[index]
        above, level, tail = heading
        yield index, (
            lengths[index + 1], text.count(" ") + 1, shares[index + 1], _KINDS.get(block.kind, 0), text[-1] in _ENDS,
            text.count(","), counts[text], index / count, chars[index + 3] / total,
            max(index - h1, -50) if h1 >= 0 else -100, tail, index - above if above >= 0 else 300, level,
            priced[index], lengths[index], lengths[index + 2], shares[index + 2], around,
            (linked[index + 7] - linked[index]) / (around or 1), long_before[index], longs - long_before[index],
            (start - index if index < start else index - end + 1 if index >= end else 0) if end else 500,
        )  # fmt: skip


def _around_box(page: _Page, index: int) -> Around:
    """The numbers of a box: its own, of the next larger box, of the section, of its group."""
    regions, places = page.regions, page.places
    box = page.tree.boxes[index]
    length = regions.chars[box.end] - regions.chars[box.start]
    start, end = page.best
    numbers = (
        (regions.linked[box.end] - regions.linked[box.start]) / max(1, length), length / regions.total,
        *places.measured(places.outer[index], regions)[:4], *places.measured(places.section[index], regions)[4:],
        page.groups.alike[index], box.depth, *page.groups.numbers(index), start <= box.start < end,
    )  # fmt: skip
    return numbers, box.marks, places.near[index]
