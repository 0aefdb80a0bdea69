"""What a page says of itself: title, description, language, canonical, dates, directives, links.

Every href is resolved against the first `<base>` that is a valid URL (HTML 2.4.3, 4.2.3), by the same
parser that the rules use.
"""

from __future__ import annotations

import re

import ada_url

from crawler.reading.boxes import Tree
from crawler.reading.clean import clean_line
from models.reading import Link

MAX_LINKS = 5_000
MAX_HREF = 8_192
_SCHEME = re.compile(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*):")
_WEB = ("http", "https")
# robots and a bot's own name carry directives (C09, W07); the others signals about use (A05).
_DIRECTIVE = re.compile(r"robots$|bot$|^tdm-|^content-(?:signal|usage)$|^noai$|^noimageai$|^refresh$", re.IGNORECASE)
_MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "last-modified",
    "dcterms.modified",
    "dc.date.modified",
    "revised",
)
_LANGUAGE = re.compile(r"[a-zA-Z]{2,3}(?:-[a-zA-Z0-9]{1,8})*")


def resolve(href: str, base: str) -> str:
    """The absolute http(s) URL that an href means, or nothing: other schemes and nonsense are no links."""
    scheme = _SCHEME.match(href)
    if len(href) > MAX_HREF or (scheme and scheme.group(1).lower() not in _WEB):
        return ""
    try:
        joined = ada_url.join_url(base, href)
    except ValueError:
        return ""
    return joined if joined.startswith(("http://", "https://")) else ""


def base_of(tree: Tree, url: str) -> str:
    """The URL against which the page's links are read: its first base when that is a web address."""
    return (resolve(tree.base, url) if tree.base else "") or url


def links_of(tree: Tree, base: str) -> tuple[Link, ...]:
    """The page's links in document order, each target once; nofollow only if every link to it says so (W07).

    Links to a place on the same page (`#...`) are left out: they name no other page.
    """
    found: dict[str, Link] = {}
    resolved: dict[str, str] = {}  # a third of a page's links are repeats
    for anchor in tree.anchors:
        if not anchor.href.strip() or anchor.href.lstrip().startswith("#"):
            continue
        href = resolved.get(anchor.href)
        if href is None:
            href = resolved[anchor.href] = resolve(anchor.href, base)
        if not href:
            continue
        before = found.get(href)
        if before is None and len(found) < MAX_LINKS:
            found[href] = Link(href, clean_line(anchor.text, 200), anchor.nofollow)
        elif before is not None and (before.nofollow and not anchor.nofollow):
            found[href] = Link(href, before.text, nofollow=False)
    return tuple(found.values())


def metas_of(tree: Tree) -> tuple[tuple[str, str], ...]:
    """(name, content) of the metas with directives or usage signals, anywhere in the page (C09, A05).

    Anywhere, and not in the head alone: a noindex in the body is still somebody's wish.
    """
    out = []
    for meta in tree.metas:
        name = (meta.get("name") or meta.get("http-equiv") or "").strip().lower()
        if name and _DIRECTIVE.search(name):
            out.append((clean_line(name, 100), clean_line(meta.get("content") or "", 1_000)))
    return tuple(out[:100])


def meta(tree: Tree, *names: str) -> str:
    """The content of the first meta of one of these names or properties, the names in order of preference."""
    contents: dict[str, str] = {}
    for found in tree.metas:
        name = (found.get("name") or found.get("property") or found.get("http-equiv") or "").strip().lower()
        contents.setdefault(name, clean_line(found.get("content") or "", 1_000))
    return next((contents[name] for name in names if contents.get(name)), "")


def title_of(tree: Tree) -> str:
    """The title element's text, else og:title."""
    return clean_line(tree.title, 500) or meta(tree, "og:title", "twitter:title")


def description_of(tree: Tree) -> str:
    """The description that the page gives of itself."""
    return meta(tree, "description", "og:description", "twitter:description")


def modified_of(tree: Tree) -> str:
    """When the page says that it was last changed, as written."""
    return meta(tree, *_MODIFIED)


def language_of(tree: Tree) -> str:
    """The declared language tag in lower case: html lang, else content-language, else og:locale."""
    declared = tree.language or meta(tree, "content-language", "language", "og:locale")
    found = _LANGUAGE.match(declared.strip().replace("_", "-"))
    return found.group().lower() if found else ""


def canonical_of(tree: Tree, base: str) -> str:
    """The first link rel=canonical, resolved (RFC 6596); a hint, never a reason to fetch."""
    for link in tree.rels:
        if "canonical" in (link.get("rel") or "").lower().split() and (href := link.get("href")):
            return resolve(href, base)
    return ""
