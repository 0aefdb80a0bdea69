"""One page: str in, `Reading` out. One parse, one walk (E28).

`read_html` is the whole of it; `page_text` and `page_pairs` are its parts for whoever wants only those.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from crawler.reading import guard, head
from crawler.reading.boxes import Mark, Tree
from crawler.reading.choose import Choice, choose
from crawler.reading.clean import clean_line, clean_text
from crawler.reading.dupes import fingerprint_of
from crawler.reading.markdown import markdown
from crawler.reading.noscript import drop_noscript
from crawler.reading.pairs import pairs
from crawler.reading.regions import Regions, settle
from crawler.reading.structured import Json, body, facts, objects
from crawler.reading.thin import is_thin
from crawler.reading.visible import Shown, shown_pairs
from crawler.reading.walk import TooDeepError, walk
from crawler.rules.charset import decode
from models.reading import Reading

NOWHERE = "https://page.invalid/"
SHELL = 200
"""Characters of visible text below which a page is a shell that scripts would fill."""
_HELD = frozenset(("td", "th", "dt", "dd", "summary", "address"))
_NEVER = int(Mark.CONSENT)


@contextmanager
def _without_collector() -> Iterator[None]:
    """No search for cycles while thousands of small objects are made, and freed, that hold none.

    It goes on when the page's own objects are gone, or the first thing it did would be to look through them all:
    .5 ms a page [measured].
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@_without_collector()
def read_html(html: str, url: str) -> Reading:
    """What a page says: text, pairs, facts, links and directives. Never raises on any str.

    A page that the parser could not take in bounded time is read as flat text, without links.
    """
    page = _parsed(html)
    if page is None:
        text = clean_text(guard.flat_text(html))
        return Reading(markdown=text, blocks=tuple(text.split("\n")), trapped=True)
    return with_marks(page.reading(url))


@_without_collector()
def page_text(page: str | bytes, url: str = NOWHERE) -> str:
    """The page's Markdown alone, from its text or its bytes."""
    html = _text_of(page)
    parsed = _parsed(html)
    return read_html(html, url).markdown if parsed is None else parsed.markdown()


def page_pairs(page: str | bytes, url: str = NOWHERE) -> list[tuple[str, str]]:
    """The page's (question, answer) pairs alone, from its text or its bytes."""
    return [(pair.question, pair.answer) for pair in read_html(_text_of(page), url).pairs]


def _parsed(html: str) -> Page | None:
    """The page, or nothing for a trap."""
    try:
        return None if guard.is_trap(html) else Page(html)
    except TooDeepError:
        return None


def _text_of(page: str | bytes) -> str:
    return page if isinstance(page, str) else decode(page).text


class Page:
    """A parsed page and what was chosen of it; `licet read --explain` looks inside."""

    def __init__(self, html: str) -> None:
        with _without_collector():
            self._read(html)

    def _read(self, html: str) -> None:
        self.tree: Tree = walk(html)
        drop_noscript(self.tree)
        self.regions: Regions = settle(self.tree)
        self.shown: list[Shown] = list(shown_pairs(self.tree, self.regions))
        answers = {index for pair in self.shown for index in pair.blocks}
        self.choice: Choice = choose(self.tree, self.regions, answers)

    def markdown(self, data: list[Json] | None = None) -> str:
        """The chosen text; for a shell without text, what its structured data or its head say."""
        text = markdown(self.tree, self.choice.kept)
        if self.regions.total < SHELL:
            said = body(objects(self.tree.scripts) if data is None else data)
            told = said or f"{head.title_of(self.tree)}\n\n{head.description_of(self.tree)}".strip()
            text = told if len(told) > len(text) else text
        return clean_text(text)

    def reading(self, url: str) -> Reading:
        """Everything that the page says."""
        tree = self.tree
        base = head.base_of(tree, url)
        data = objects(tree.scripts)
        frame, menu = self._around()
        return Reading(
            title=head.title_of(tree),
            description=head.description_of(tree),
            language=head.language_of(tree),
            canonical=head.canonical_of(tree, base),
            markdown=self.markdown(data),
            links=head.links_of(tree, base),
            metas=head.metas_of(tree),
            pairs=pairs(tree, data, self.shown, url),
            facts=facts(data),
            blocks=tuple(clean_line(tree.blocks[index].text) for index in self.choice.kept),
            frame=frame,
            menu=menu,
            modified=head.modified_of(tree),
        )

    def _around(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines that were not chosen: those that may hold facts, and those that are links alone."""
        kept = set(self.choice.kept)
        frame: dict[str, None] = {}
        menu: dict[str, None] = {}
        for index, block in enumerate(self.tree.blocks):
            if index in kept or block.marks & _NEVER:
                continue
            for line in clean_text(block.text, 20_000).split("\n"):
                words = len(block.text) - block.anchors  # without the spaces between links
                linked = block.linked >= 0.9 * words and block.linked > 0 and block.kind not in _HELD
                silent = linked and "@" not in line and not any(map(str.isdigit, line))
                (menu if silent else frame).setdefault(line)
        return tuple(frame), tuple(menu)


def with_marks(reading: Reading) -> Reading:
    """The reading with its fingerprint, and whether it is thin."""
    return replace(reading, fingerprint=fingerprint_of(reading), thin=is_thin(reading))
