"""What the child process makes of a body: the values that the rules absorb."""

from __future__ import annotations

from dataclasses import dataclass, field

from models.reading import Reading


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page: its text, and what it says about following, keeping and use."""

    reading: Reading
    noindex: bool = False
    nofollow: bool = False
    signals: dict[str, str] = field(default_factory=dict)
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class SitemapRead:
    """A sitemap: (URL, priority) of its pages, and the sitemaps that an index names."""

    pages: tuple[tuple[str, float | None], ...] = ()
    sitemaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MarksRead:
    """What may prove on a page: contents of the metas of one name in its head, and its whole visible lines (E10)."""

    metas: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """The child process hit a limit: the body stays unread (`parse_limit`)."""

    reason: str
