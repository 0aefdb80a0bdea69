"""What kind of page it looks like: numbers of the page that all of its blocks share.

A reply is the text of a thread and noise under an article; only the whole page tells which. Each number is a
sum over lists that the walk has left, or a word of the page's own head, so they cost once a page.
"""

from __future__ import annotations

import re
from collections import defaultdict

from crawler.reading.boxes import Mark, Tree
from crawler.reading.regions import Regions

_SHARES = tuple(
    int(mark)
    for mark in (Mark.COMMENT, Mark.FORUM, Mark.PRODUCT, Mark.ARTICLE, Mark.LIST, Mark.CONTENT, Mark.META,
                 Mark.RELATED)
)  # fmt: skip
_KINDS = ("pre", "li", "td", "p", "h3", "")
_DATA = tuple(
    f'"{name}"'
    for name in ("ItemList", "CollectionPage", "BreadcrumbList", "Organization", "FAQPage", "LocalBusiness",
                 "WebPage", "Offer", "Review", "NewsArticle", "Question")
)  # fmt: skip
_PATHS = tuple(
    re.compile(words)
    for words in (
        "forum|thread|topic|question|discussion|communit|/t/|/r/|comments",
        "product|/p/|/dp/|/item|/shop/|/store/|/buy",
        "collection|categor|/c/|/shop|/search|/s/|browse|tag",
        r"docs?\b|/api|reference|manual|guide|wiki|learn|tutorial|/help|support",
        r"blog|news|article|post|story|stories|/20\d\d/",
        "service|solution|about|pricing|contact|feature",
    )
)
_LONGEST = 500  # characters of a path looked at
_SUMS = (
    "page: comment share", "page: forum share", "page: product share", "page: article share", "page: list share",
    "page: content share", "page: meta share", "page: related share",
    "page: pre", "page: items", "page: cells", "page: paragraphs", "page: h3", "page: plain",
)  # fmt: skip
_COUNTS = ("page: buttons", "page: anchors", "page: h2 count", "page: title words")
_TYPES = (
    "page: og article", "page: og website", "page: og none",
    "page: item list data", "page: collection data", "page: breadcrumb data", "page: organization data",
    "page: faq data", "page: business data", "page: webpage data", "page: offer data", "page: review data",
    "page: news data", "page: question data",
)  # fmt: skip
_STEPS = ("page: path length", "page: path depth")
_WORDS = (
    "page: forum path", "page: product path", "page: collection path", "page: docs path", "page: article path",
    "page: service path",
)  # fmt: skip
NAMES = (*_SUMS, *_COUNTS, *_TYPES, *_STEPS, *_WORDS)
FLAGS = (*_TYPES, *_WORDS)
"""Always a bool."""
WHOLE = (*_COUNTS, *_STEPS)
"""Always an int."""


def kind_numbers(tree: Tree, regions: Regions) -> tuple[float, ...]:
    """Shares of the text by mark and tag, a few counts, what the head declares, words of the canonical path."""
    by_mark: defaultdict[int, int] = defaultdict(int)
    by_kind: defaultdict[str, int] = defaultdict(int)
    second = 0
    for block in tree.blocks:
        length = len(block.text)
        by_mark[block.marks] += length
        by_kind[block.kind] += length
        second += block.kind == "h2"
    sums = by_mark.items()
    total = regions.total
    return (
        *(sum(length for marks, length in sums if marks & mark) / total for mark in _SHARES),
        *(by_kind[kind] / total for kind in _KINDS),
        min(sum(box.tag == "button" for box in tree.boxes), 100),
        len(tree.anchors),
        second,
        len(tree.title.split()),
        *_declared(tree),
        *_path(tree),
    )


def _declared(tree: Tree) -> tuple[float, ...]:
    """og:type, and the types named in the page's JSON-LD."""
    og = next((meta.get("content") or "" for meta in tree.metas if meta.get("property") == "og:type"), "").lower()
    data = " ".join(tree.scripts)
    return (og == "article", og == "website", not og, *(name in data for name in _DATA))


def _path(tree: Tree) -> tuple[float, ...]:
    """Of the canonical address the path alone, by words that many sites use; its host is not looked at."""
    path = path_of(_canonical(tree))
    steps = path.strip("/")
    depth = steps.count("/") + (steps != "")
    return (len(path), depth, *(found.search(path) is not None for found in _PATHS))


def path_of(address: str) -> str:
    """`/docs/api` of `https://any.example/docs/api`, in lower case; nothing of nothing."""
    if not address:
        return ""
    return ("/" + address.partition("//")[2].partition("/")[2]).lower()[:_LONGEST]


def _canonical(tree: Tree) -> str:
    for rel in tree.rels:
        if (rel.get("rel") or "").lower() == "canonical":
            return rel.get("href") or ""
    return next((meta.get("content") or "" for meta in tree.metas if meta.get("property") == "og:url"), "")
