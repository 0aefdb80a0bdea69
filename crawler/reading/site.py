"""A site as one text: every page's own text, and once what all its pages repeat (E28).

Pages arrive one at a time and may be read again, so what is repeated is not known while they are read: each
page brings its lines, and the counts decide when the text is asked for. A line on at least three pages and
30 % of them is the site's template. Its facts (hours, address, phones, legal lines) are printed once on a
facts page, its menus nowhere. With fewer than four pages nothing is called repeated.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.reading.page import read_html
from models.reading import Reading

LEAST_PAGES = 4
LEAST = 3
SHARE = 0.3
FACTS_TITLE = "# On every page"

_TABLE_RULE = re.compile(r"\|(?: --- \|)+")


def line_key(text: str) -> str:
    """What two lines are compared by: their letters and digits, without case."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return "".join(filter(str.isalnum, text.casefold()))


@dataclass(frozen=True, slots=True)
class _Page:
    """One page's lines by key: `text` is its Markdown, `frame` what stands around it, `menu` link lines."""

    lines: tuple[tuple[str, str], ...]
    frame: tuple[tuple[str, str], ...]
    menu: frozenset[str]

    @property
    def keys(self) -> set[str]:
        return {key for key, _ in self.lines if key} | {key for key, _ in self.frame} | self.menu


class SiteText:
    """The text of one site, page by page.

    `put` takes a page, or takes it again after another reading; `drop` forgets one. Every question is
    answered from what is there at that moment, so the order of arrival does not matter.
    """

    def __init__(self) -> None:
        self._pages: dict[str, _Page] = {}
        self._counts: Counter[str] = Counter()

    def put(self, url: str, reading: Reading) -> None:
        """Take a page as it was read; an earlier reading of the same address is replaced."""
        self.drop(url)
        page = _Page(
            tuple((line_key(line), line) for line in reading.markdown.split("\n")),
            tuple((key, line) for key, line in ((line_key(line), line) for line in reading.frame) if key),
            frozenset(filter(None, map(line_key, reading.menu))),
        )
        self._pages[url] = page
        self._counts.update(page.keys)

    def drop(self, url: str) -> None:
        """Forget a page."""
        page = self._pages.pop(url, None)
        if page is not None:
            self._counts.subtract(page.keys)
            self._counts += Counter()  # let go of the keys that no page has any more

    def repeated(self) -> frozenset[str]:
        """The keys of the template: on at least three pages and 30 % of them, given four pages."""
        count = len(self._pages)
        if count < LEAST_PAGES:
            return frozenset()
        least = max(LEAST, SHARE * count)
        return frozenset(key for key, pages in self._counts.items() if pages >= least)

    def page(self, url: str, repeated: frozenset[str] | None = None) -> str:
        """One page's own Markdown, without the template's lines."""
        template = self.repeated() if repeated is None else repeated
        page = self._pages[url]
        return _tidy(line for key, line in page.lines if not key or key not in template)

    def facts(self, repeated: frozenset[str] | None = None) -> str:
        """The facts page: once each, the template's lines and what stands around the pages, menus left out."""
        template = self.repeated() if repeated is None else repeated
        menus = frozenset().union(*(page.menu for page in self._pages.values()))
        shown = {key for page in self._pages.values() for key, _ in page.lines if key and key not in template}
        lines: dict[str, str] = {}
        for page in self._pages.values():
            for key, line in page.lines:
                if key in template and key not in menus:
                    lines.setdefault(key, line)
            for key, line in page.frame:
                if key not in shown and key not in menus:
                    lines.setdefault(key, line)
        return _tidy([FACTS_TITLE, "", *lines.values()]) if lines else ""

    def text(self) -> str:
        """All pages in the order in which they came first, then the facts page."""
        template = self.repeated()
        parts = [self.page(url, template) for url in self._pages]
        return "\n\n".join(part for part in (*parts, self.facts(template)) if part)

    def __len__(self) -> int:
        """How many pages the site has."""
        return len(self._pages)


def _tidy(lines: Iterable[str]) -> str:
    """Join lines; no two blank ones together, no rule of a table whose header went away."""
    out: list[str] = []
    for line in lines:
        if _TABLE_RULE.fullmatch(line) and not (out and out[-1].startswith("|")):
            continue
        if line.strip() or (out and out[-1]):
            out.append(line)
    return "\n".join(out).strip("\n")


def site_text(pages: list[tuple[str, str]]) -> str:
    """The text of a whole site from (path, html), as `licet read FOLDER` prints it."""
    site = SiteText()
    for path, html in pages:
        site.put(path, read_html(html, f"https://site.invalid/{path.lstrip('/')}"))
    return site.text()
