"""What a page says about its own use by robots: X-Robots-Tag, robots metas, rel, refresh (C09, W07, E28).

There is no standard for X-Robots-Tag; this is what the large crawlers document. The union of the general
rules and our own holds, the most restrictive wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.rules.urls import UrlRefused, canonical

# Rules that carry a colon themselves, so what stands before it is no bot's name.
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_REFRESH = re.compile(r"\s*(\d{1,6})(?:\.\d*)?\s*(?:[;,]\s*)?(?:url\s*=\s*)?[\"']?\s*([^\"']*)", re.IGNORECASE)
_MAX_TEXT = 4096


@dataclass(frozen=True, slots=True)
class Directives:
    """What holds for us on one page. `raw` is recorded with the page (E28)."""

    noindex: bool = False
    nofollow: bool = False
    raw: tuple[str, ...] = ()


def directives(headers: Iterable[str], metas: Iterable[tuple[str, str]], token: str) -> Directives:
    """The directives in X-Robots-Tag headers and in metas (name, content) anywhere in the document."""
    ours = token.lower()
    said: set[str] = set()
    raw: list[str] = []
    for line in headers:
        said |= _of_header(line[:_MAX_TEXT], ours)
        raw.append(f"x-robots-tag: {line[:200]}")
    for name, content in metas:
        owner = _name(name)
        if owner in ("robots", ours):
            said |= {_rule(part) for part in content[:_MAX_TEXT].split(",")}
            raw.append(f"{owner}: {content[:200]}")
    none = "none" in said
    return Directives(none or "noindex" in said, none or "nofollow" in said, tuple(raw[:20]))


def _of_header(line: str, ours: str) -> set[str]:
    """`rule, rule, botname: rule`: a name scopes everything after it in its line."""
    applies = True
    said: set[str] = set()
    for part in line.split(","):
        before, colon, after = part.partition(":")
        if colon and _rule(before) not in _WITH_VALUE and re.fullmatch(r"\s*[\w./*-]+\s*", before):
            applies = _name(before) in (ours, "*", "robots")
            part = after  # noqa: PLW2901 - the rest of this part is its first rule
        if applies:
            said.add(_rule(part))
    return said


def _name(text: str) -> str:
    """A bot's name, without its version: `WembiBot/1.0` is `wembibot`."""
    return text.strip().lower().partition("/")[0]


def _rule(text: str) -> str:
    return text.strip().lower()


def is_nofollow(rel: str) -> bool:
    """W07: nofollow among the tokens of `rel`; ugc and sponsored alone say nothing about following."""
    return "nofollow" in rel.lower().split()


def base_of(document: str, href: str | None) -> str:
    """The base that links are resolved against: the first `<base href>`, if it gives an https URL."""
    if not href:
        return document
    try:
        return canonical(href[:_MAX_TEXT], document)
    except UrlRefused:
        return document


def refresh_target(content: str, base: str) -> str | None:
    """The URL of a meta refresh: an ordinary link, never followed by itself; None if there is none."""
    match = _REFRESH.fullmatch(content[:_MAX_TEXT].strip().rstrip("\"'"))
    if match is None or not match[2].strip():
        return None
    try:
        return canonical(match[2].strip(), base)
    except UrlRefused:
        return None


def canonical_hint(href: str, link_headers: Iterable[str], base: str) -> str | None:
    """What a page calls its canonical URL: a hint for dedup, never a reason to fetch."""
    candidates = [href] if href else [target for line in link_headers for target in _link_canonical(line)]
    for candidate in candidates:
        try:
            return canonical(candidate[:_MAX_TEXT], base)
        except UrlRefused:
            continue
    return None


def _link_canonical(line: str) -> list[str]:
    """Targets of a `Link` header (RFC 8288) whose rel is canonical."""
    found = re.findall(r"<([^<>]{1,2048})>((?:\s*;[^,<]{0,200})*)", line[:_MAX_TEXT])
    rel = re.compile(r";\s*rel\s*=\s*\"?[^\";]*\bcanonical\b", re.IGNORECASE)
    return [target for target, parameters in found if rel.search(parameters)]
