"""What a page says, as values: the result of one parse in the child process."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it stands in the page: `href` already resolved against the base, not yet canonical."""

    href: str
    text: str = ""
    nofollow: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A question that the page already answers (E28). `id` is stable for (page, question)."""

    id: str
    question: str
    answer: str
    source: str  # json-ld, microdata, details, dl, panel, heading


@dataclass(frozen=True, slots=True)
class Reading:
    """One page, read once. All text is clean: NFC, no NUL, no lone surrogates, bounded.

    `metas` are (name, content) of the metas that carry directives or usage signals, names in lower case,
    in document order. `facts` are structured facts (schema.org) as JSON-ready objects. `blocks` are the
    lines of the text, one a block. `frame` are the visible lines around it that may hold facts (footers,
    hours, addresses), `menu` those that are links alone: the site pass compares all three between pages.
    `modified` is the page's own word on when it changed, as written. `fingerprint` tells near duplicates
    (`crawler.reading.dupes`). `thin` is a page that takes no place among the kept: no text, or a soft 404.
    `trapped` is a page that was not parsed because its nesting or its attributes would not end.
    """

    title: str = ""
    description: str = ""
    language: str = ""
    canonical: str = ""
    markdown: str = ""
    encoding: str = ""
    links: tuple[Link, ...] = ()
    metas: tuple[tuple[str, str], ...] = ()
    pairs: tuple[Pair, ...] = ()
    facts: tuple[dict[str, object], ...] = ()
    blocks: tuple[str, ...] = field(default=(), repr=False)
    frame: tuple[str, ...] = field(default=(), repr=False)
    menu: tuple[str, ...] = field(default=(), repr=False)
    modified: str = ""
    fingerprint: str = ""
    thin: bool = False
    trapped: bool = False
