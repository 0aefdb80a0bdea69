"""From the bytes of a body to the values that the rules absorb. Runs in the child process, but for small files."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from crawler.rules import charset, sitemaps
from crawler.rules.directives import directives
from crawler.rules.robots_verdict import Verdict, judge
from crawler.rules.signals import signals
from models.page import MarksRead, PageRead, SitemapRead, Unread
from models.profile import Profile
from models.web import Response

PRELOAD = ("crawler.reading.bodies", "crawler.reading.page", "crawler.reading.marks")
"""Modules that a child imports before its first job. A worker names the functions and imports none of the readers:
they would be an eighth of its start (measured)."""


def read_page(response: Response, url: str, token: str) -> PageRead | Unread:
    """A page: decoded, parsed once, its directives (C09, W07) and usage signals (A05) beside its text.

    `Unread` for a page whose nesting or attributes the parser could not take in bounded time.
    """
    from crawler.reading.page import read_html  # noqa: PLC0415 - in the child alone, see PRELOAD

    decoded = charset.decode(response.body, response.header("Content-Type"))
    reading = replace(read_html(decoded.text, url), encoding=decoded.encoding)
    if reading.trapped:
        return Unread("nesting")
    said = directives(response.all("X-Robots-Tag"), reading.metas, token)
    digest = hashlib.sha256(reading.markdown.encode("utf-8", "replace")).hexdigest()
    return PageRead(
        reading,
        noindex=said.noindex,
        nofollow=said.nofollow,
        signals={f"{signal.source}:{signal.name}": signal.value for signal in signals(response, reading.metas)},
        sha256=digest,
    )


def read_proof(body: bytes, content_type: str | None, name: str) -> MarksRead:
    """What may prove a site on its homepage (E10, C04)."""
    from crawler.reading.marks import read_marks  # noqa: PLC0415 - in the child alone, see PRELOAD

    return read_marks(body, content_type, name)


def read_sitemap(body: bytes, host: str, profile: Profile) -> SitemapRead:
    """The pages of this authority that a sitemap names, or the sitemaps that an index names."""
    found = sitemaps.parse(
        body, host, profile.scope, tuple(profile.discovery.sitemap_formats), profile.bodies.sitemap
    )
    return SitemapRead(tuple((entry.url, entry.priority) for entry in found.entries), found.children)


def read_robots(response: Response, at: str, first: str, hops: int, profile: Profile) -> bytes | str:
    """The stored form of the verdict on robots.txt, or the URL of the next hop."""
    verdict = judge(response, at, first, hops, profile)
    return verdict.to_bytes() if isinstance(verdict, Verdict) else verdict
