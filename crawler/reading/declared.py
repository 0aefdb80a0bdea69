"""What kind of page it says it is: og:type, the types in its JSON-LD, the words in its own address.

A hint for the choice of text and nothing else: a product page's text is not an article's.
"""

from __future__ import annotations

import re

from crawler.reading.boxes import Tree

_PATHS = (
    (1, re.compile(r"/(?:t|topics?|threads?|forums?|questions?|discussions?|community|showthread|viewtopic|comments|ask)(?:[/.-]|$)")),
    (2, re.compile(r"/(?:products?|p|item|items|dp|produkt|produit|producto)(?:/|$)")),
    (3, re.compile(r"/(?:collections?|categor(?:y|ies)|c|shop|store|catalog|brands?|browse)(?:/|$)")),
    (4, re.compile(r"/(?:docs?|documentation|reference|api|manual|guides?|help|support|learn|tutorials?|wiki)(?:/|$)")),
    (5, re.compile(r"/(?:blogs?|news|articles?|posts?|stor(?:y|ies)|magazine|20[0-2]\d)(?:/|$)")),
    (6, re.compile(r"/(?:services?|solutions?|pricing|about(?:-us)?|features?|industries|practice-areas)(?:/|$)")),
)  # fmt: skip


def declared(tree: Tree) -> tuple[float, float, float, float]:
    """Whether the page calls itself a product, a thread, an article, a list."""
    og = next((meta.get("content") or "" for meta in tree.metas if meta.get("property") == "og:type"), "")
    data = " ".join(tree.scripts)
    return (
        float('"Product"' in data or "product" in og),
        float('DiscussionForumPosting"' in data or 'QAPage"' in data),
        float('Article"' in data or 'BlogPosting"' in data or og == "article"),
        float('ItemList"' in data or 'CollectionPage"' in data),
    )


def path_kind(tree: Tree) -> tuple[float, float]:
    """The kind of page that its canonical address names (0: none of them), and the depth of the path."""
    path = own_path(tree)
    kind = next((number for number, pattern in _PATHS if pattern.search(path)), 0)
    return float(kind), float(min(path.strip("/").count("/") + (path.strip("/") != ""), 8))


def own_path(tree: Tree) -> str:
    """The path of the canonical address, else of og:url; `/` without either."""
    address = next((link.get("href") or "" for link in tree.rels if link.get("rel") == "canonical"), "")
    if not address:
        address = next((meta.get("content") or "" for meta in tree.metas if meta.get("property") == "og:url"), "")
    path = re.sub(r"^(?:https?:)?//[^/?#]*", "", address.lower())
    return path.partition("?")[0].partition("#")[0] or "/"
