"""What is known of a block when it is decided whether it is the page's own text.

One list of numbers a block, in the order of `NAMES`: of the block, of its neighbours, of the boxes around
it, of the page. The same code makes the numbers that the weights were learned from (`tools/train.py`).
Whatever is the same for all blocks of a box, or for the page, is computed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass
from itertools import accumulate

from crawler.reading.boxes import Block, Mark, Tree
from crawler.reading.declared import declared, path_kind
from crawler.reading.groups import Groups, best_box
from crawler.reading.places import Places
from crawler.reading.regions import Regions
from crawler.reading.words import holds_price, is_tail_heading

MARKS = tuple(
    int(mark)
    for mark in (
        Mark.NAV, Mark.HEADER, Mark.FOOTER, Mark.ASIDE, Mark.FORM, Mark.DIALOG, Mark.HIDDEN, Mark.MAIN, Mark.ARTICLE,
        Mark.COMMENT, Mark.RELATED, Mark.FAQ, Mark.TABLE, Mark.META, Mark.PROMO, Mark.PRODUCT, Mark.LIST, Mark.LINK,
        Mark.FORUM,
    )
)  # fmt: skip
NEAR = tuple(int(mark) for mark in (Mark.NAV, Mark.COMMENT, Mark.CONTENT, Mark.META))
_KINDS = {"": 0, "p": 1, "h1": 2, "h2": 3, "h3": 4, "h4": 5, "h5": 6, "h6": 6, "li": 7, "td": 8, "th": 8, "dt": 9,
          "dd": 9, "summary": 10, "pre": 11, "blockquote": 12, "button": 13, "legend": 13, "address": 14,
          "caption": 15, "figcaption": 15}  # fmt: skip
_FORUM, _COMMENT = int(Mark.FORUM), int(Mark.COMMENT)
_ENDS = frozenset(".!?。！？…:;")
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
    "table", "meta", "promo", "product", "list", "link", "forum",
)  # fmt: skip
NEAR_NAMES = ("near nav", "near comment", "near content", "near meta")
PAGE_NAMES = (
    "page: length", "page: blocks", "page: links", "page: main", "page: articles", "page: long blocks", "page: forms",
    "page: prices", "page: repeated", "page: main text", "page: links in main text", "page: product", "page: forum",
    "page: article", "page: list", "page: forum boxes", "page: comment boxes", "page: path", "page: path depth",
)  # fmt: skip
NAMES = BLOCK_NAMES + BOX_NAMES + MARK_NAMES + NEAR_NAMES + PAGE_NAMES


@dataclass(slots=True)
class _Page:
    """What is computed once a page."""

    tree: Tree
    regions: Regions
    lengths: list[int]
    shares: list[float]
    long_before: list[int]
    counts: Counter[str]
    priced: list[bool]
    groups: Groups
    places: Places
    best: tuple[int, int]
    numbers: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Around:
    """The numbers that all blocks of one box share, and the marks as bits."""

    numbers: tuple[float, ...]
    marks: int
    near: int


Row = tuple[tuple[float, ...], Around]


def rows(tree: Tree, regions: Regions, without: Container[int]) -> tuple[list[Row | None], tuple[float, ...]]:
    """The numbers of each block but those that a rule has dropped, and the numbers of the page."""
    page = _page(tree, regions)
    cache: dict[int, Around] = {}
    out: list[Row | None] = []
    for index, heading in enumerate(_headings(tree.blocks)):
        if index in without:
            out.append(None)
            continue
        box = tree.blocks[index].box
        around = cache.get(box)
        if around is None:
            around = cache[box] = _around_box(page, box)
        out.append((_block_numbers(page, index, heading), around))
    return out, page.numbers


def flat(row: Row, page: tuple[float, ...]) -> list[float]:
    """A row as one list in the order of `NAMES`, for learning and for explaining."""
    numbers, around = row
    marks = [float(around.marks & mark > 0) for mark in MARKS]
    near = [float(around.near & mark > 0) for mark in NEAR]
    return [*map(float, numbers), *map(float, around.numbers), *marks, *near, *map(float, page)]


def _page(tree: Tree, regions: Regions) -> _Page:
    blocks = tree.blocks
    lengths = [len(block.text) for block in blocks]
    shares = [block.linked / length for block, length in zip(blocks, lengths, strict=True)]
    longs = [length >= 100 and share < 0.3 for length, share in zip(lengths, shares, strict=True)]
    counts = Counter([block.text for block in blocks])
    best = best_box(tree, [i for i, is_long in enumerate(longs) if is_long])
    groups = Groups.of(tree, regions)
    priced = list(map(_priced, blocks))
    numbers = _page_numbers(tree, regions, (sum(longs), sum(n > 1 for n in counts.values()), sum(priced)), best)
    return _Page(tree, regions, lengths, shares, list(accumulate(longs, initial=0)), counts, priced, groups, Places.of(tree), best, numbers)


def _page_numbers(tree: Tree, regions: Regions, sums: tuple[int, int, int], best: tuple[int, int]) -> tuple[float, ...]:
    boxes, total, count = tree.boxes, regions.total, len(tree.blocks)
    mains = [regions.of(box.start, box.end) for box in boxes if box.tag == "main" or box.attributes.get("role") == "main"]
    tags = Counter([box.tag for box in boxes])
    inside = regions.of(*best)
    kinds = declared(tree)
    return (
        total, count, regions.linked[-1] / total, max(mains, default=0) / total,
        min(tags["article"], 20), sums[0], min(tags["form"], 5),
        min(sums[2], 30), sums[1] / max(1, count), inside / total,
        regions.links(*best) / max(1, inside), *kinds,
        min(sum(box.own & _FORUM > 0 for box in boxes), 50), min(sum(box.own & _COMMENT > 0 for box in boxes), 50),
        *path_kind(tree),
    )  # fmt: skip


def _priced(block: Block) -> bool:
    return len(block.text) < 300 and holds_price(block.text)


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


def _block_numbers(page: _Page, index: int, heading: tuple[int, int, bool]) -> tuple[float, ...]:
    block = page.tree.blocks[index]
    regions, lengths, shares = page.regions, page.lengths, page.shares
    text, length, last = block.text, lengths[index], len(lengths) - 1
    low, high = max(0, index - 3), min(last + 1, index + 4)
    chars, linked = regions.chars, regions.linked
    around = chars[high] - chars[low]
    start, end = page.best
    return (
        length, text.count(" ") + 1, shares[index], _KINDS.get(block.kind, 0), text[-1] in _ENDS,
        text.count(","), page.counts[text], index / (last + 1), chars[index] / regions.total,
        min(max(index - regions.h1, -50), 200) if regions.h1 >= 0 else -100,
        heading[2], index - heading[0] if heading[0] >= 0 else 300, heading[1], page.priced[index],
        lengths[index - 1] if index else 0, lengths[index + 1] if index < last else 0,
        shares[index + 1] if index < last else 1, around / (high - low), (linked[high] - linked[low]) / max(1, around),
        page.long_before[index], page.long_before[-1] - page.long_before[index],
        (start - index if index < start else max(0, index - end + 1)) if end else 500,
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
    return Around(numbers, box.marks, places.near[index])
