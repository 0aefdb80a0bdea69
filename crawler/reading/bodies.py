"""From the bytes of a body to the values that the rules absorb. Runs in the child process, but for small files."""

from __future__ import annotations

import gzip
import hashlib
import re

from crawler.reading.page import read_html
from crawler.rules.robots_verdict import Verdict, judge
from models.page import PageRead, SitemapRead
from models.profile import Profile
from models.web import Response

PAGE_READER = ("crawler.reading.bodies",)
"""Modules that a child imports before its first job."""


def read_page(body: bytes, headers: tuple[tuple[str, str], ...], url: str, token: str) -> PageRead:
    """A page: decoded, parsed once, its directives and signals beside its text."""
    text = body.decode("utf-8", "replace")
    reading = read_html(text, url)
    digest = hashlib.sha256(reading.markdown.encode("utf-8", "replace")).hexdigest()
    return PageRead(reading, sha256=digest, fingerprint=digest[:16], thin=len(reading.markdown) < 40)


def read_sitemap(body: bytes, formats: tuple[str, ...]) -> SitemapRead:
    """A sitemap or a sitemap index."""
    if body[:2] == b"\x1f\x8b":
        body = gzip.decompress(body)
    locs = [u.decode("utf-8", "replace") for u in re.findall(rb"<loc>\s*([^<\s]+)\s*</loc>", body)]
    if b"<sitemapindex" in body:
        return SitemapRead(sitemaps=tuple(locs))
    return SitemapRead(pages=tuple((u, None) for u in locs))


def read_robots(response: Response, at: str, first: str, hops: int, profile: Profile) -> bytes | str:
    """The stored form of the verdict on robots.txt, or the URL of the next hop."""
    verdict = judge(response, at, first, hops, profile)
    return verdict.to_bytes() if isinstance(verdict, Verdict) else verdict
