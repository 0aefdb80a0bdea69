"""One page: str in, `Reading` out. One parse, one walk (E28)."""

from __future__ import annotations

from crawler.reading import guard, head
from crawler.reading.boxes import Mark, Tree
from crawler.reading.clean import clean_line, clean_text
from crawler.reading.markdown import markdown
from crawler.reading.noscript import drop_noscript
from crawler.reading.pairs import pairs
from crawler.reading.regions import settle
from crawler.reading.structured import facts, objects
from crawler.reading.walk import walk
from models.reading import Reading

_DROPPED = int(Mark.NAV | Mark.DIALOG | Mark.CONSENT | Mark.BREADCRUMB | Mark.SHARE | Mark.NOSCRIPT)


def read_html(html: str, url: str) -> Reading:
    """What a page says: text, pairs, facts, links and directives. Never raises on any str.

    A page that nests deeper than the parser can take is read as flat text, without links.
    """
    if guard.is_trap(html):
        text = clean_text(guard.flat_text(html))
        return Reading(markdown=text, blocks=tuple(text.split("\n")))
    tree = walk(html)
    drop_noscript(tree)
    regions = settle(tree)
    data = objects(tree.scripts)
    base = head.base_of(tree, url)
    kept = [i for i, block in enumerate(tree.blocks) if not tree.boxes[block.box].marks & _DROPPED]
    return Reading(
        title=head.title_of(tree),
        description=head.description_of(tree),
        language=head.language_of(tree),
        canonical=head.canonical_of(tree, base),
        markdown=clean_text(markdown(tree, kept)),
        links=head.links_of(tree, base),
        metas=head.metas_of(tree),
        pairs=pairs(tree, regions, data, url),
        facts=facts(data),
        blocks=tuple(clean_line(tree.blocks[i].text) for i in kept),
    )


def page_text(html: str, url: str = "https://example.invalid/") -> str:
    """The page's Markdown alone."""
    return read_html(html, url).markdown


def page_pairs(html: str, url: str = "https://example.invalid/") -> list[tuple[str, str]]:
    """The page's (question, answer) pairs alone."""
    return [(pair.question, pair.answer) for pair in read_html(html, url).pairs]
