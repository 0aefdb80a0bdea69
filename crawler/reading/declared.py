"""What kind of page it says it is: og:type and the types in its JSON-LD.

A hint for the choice of text and nothing else: a product page's text is not an article's.
"""

from __future__ import annotations

from crawler.reading.boxes import Tree


def declared(tree: Tree) -> tuple[float, float, float]:
    """Whether the page calls itself a product, a thread, an article."""
    og = next((meta.get("content") or "" for meta in tree.metas if meta.get("property") == "og:type"), "")
    data = " ".join(tree.scripts)
    return (
        float('"Product"' in data or "product" in og),
        float('DiscussionForumPosting"' in data or 'QAPage"' in data),
        float('Article"' in data or 'BlogPosting"' in data or og == "article"),
    )
