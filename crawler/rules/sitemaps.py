"""Sitemaps: XML, index, text, RSS and Atom, gzip up to twice; what came of a truncated one is kept (E18).

Read as a stream by expat with handlers, in pieces of 64 KiB: expat 2.5 is quadratic on one huge token fed in
small pieces. Any DOCTYPE is refused: no entity is ever defined, so none can grow (F70).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from crawler.rules.urls import UrlRefused, admitted
from models.profile import Scope

MAX_ENTRIES = 50_000  # sitemaps.org
_PIECE = 64 * 1024
_MAX_LOC = 2048
_GZIP = b"\x1f\x8b"
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of the site that its sitemap names; `lastmod` is a hint as it stands."""

    url: str
    priority: float = 0.5
    lastmod: str = ""


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap says. `error` names what stopped the reading; entries before it are kept."""

    kind: str  # urlset, index, rss, atom, text, or "" if it is none
    entries: tuple[Entry, ...] = ()
    children: tuple[str, ...] = ()  # of an index; one level only, so the caller ignores a child's children
    dropped: int = 0  # of another host, with a query where none is fetched, unreadable
    error: str = ""


@dataclass(slots=True)
class _Found:
    kind: str = ""
    entries: list[Entry] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def full(self) -> bool:
        return len(self.entries) + len(self.children) >= MAX_ENTRIES


class _Stop(Exception):
    """Reading has found a reason to stop."""


def parse(body: bytes, authority: str, scope: Scope, formats: tuple[str, ...], max_bytes: int) -> Sitemap:
    """A sitemap as a job may use it: URLs of other hosts dropped, http ones of the same host read as https."""
    return scoped(read(body, formats, max_bytes), authority, scope)


def read(body: bytes, formats: tuple[str, ...], max_bytes: int) -> Sitemap:
    """A sitemap, its URLs as they stand. Any bytes give a result, in time linear in `max_bytes`.

    `max_bytes` caps what a gzip file grows to (E20); `formats` are those that the profile reads (E04).
    """
    plain, cut = _unzipped(body, max_bytes)
    text = plain.lstrip(b"\xef\xbb\xbf" + _SPACE)
    if text.startswith(b"<") or text[:2] in (b"\xff\xfe", b"\xfe\xff"):
        found = _Reader(formats).read(text)
    elif "text" in formats:
        found = _read_text(text)
    else:
        found = _Found(error="not XML")
    error = found.error or ("truncated" if cut else "")
    return Sitemap(found.kind, tuple(found.entries), tuple(found.children), error=error)


def _unzipped(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    """Gzip is looked for after HTTP has decoded its own: sites do both. A broken tail is cut off."""
    cut = False
    for _ in range(2):
        if not body.startswith(_GZIP):
            break
        body, whole = _inflated(body, max_bytes)
        cut = cut or not whole
    return body[:max_bytes], cut or len(body) > max_bytes


def _inflated(body: bytes, max_bytes: int) -> tuple[bytes, bool]:
    inflate, pieces, room = zlib.decompressobj(31), [], max_bytes
    for start in range(0, len(body), _PIECE):
        try:
            pieces.append(inflate.decompress(inflate.unconsumed_tail + body[start : start + _PIECE], room))
        except zlib.error:
            break
        room -= len(pieces[-1])
        if room <= 0 or inflate.eof:
            break
    return b"".join(pieces), inflate.eof


def _read_text(text: bytes) -> _Found:
    lines = text.decode("utf-8", "replace").splitlines()[:MAX_ENTRIES]
    urls = [line.strip() for line in lines if line.strip()]
    if not any(url.lower().startswith(("https://", "http://")) for url in urls[:10]):
        return _Found(error="no URLs")
    return _Found(kind="text", entries=[Entry(url) for url in urls])


class _Reader:
    """The handlers of one parse; names are compared without their namespace prefix."""

    _ROOTS = {"urlset": "urlset", "sitemapindex": "index", "rss": "rss", "rdf": "rss", "feed": "atom"}  # noqa: RUF012
    _ITEMS = {"url", "sitemap", "item", "entry"}  # noqa: RUF012
    _TEXTS = {"loc", "link", "priority", "lastmod", "pubdate", "updated"}  # noqa: RUF012

    def __init__(self, formats: tuple[str, ...]) -> None:
        self.found = _Found()
        self._formats = formats
        self._path: list[str] = []
        self._item: dict[str, str] = {}
        self._text: list[str] = []
        self._room = 0

    def read(self, body: bytes) -> _Found:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        try:
            for start in range(0, len(body), _PIECE):
                parser.Parse(body[start : start + _PIECE], False)
            parser.Parse(b"", True)
        except _Stop as stop:
            self.found.error = str(stop)
        except expat.ExpatError as error:
            self.found.error = str(error)[:100]
        except (ValueError, LookupError) as error:  # an encoding that is declared and unknown
            self.found.error = str(error)[:100]
        return self.found

    def _doctype(self, *_: object) -> None:
        raise _Stop("DOCTYPE refused")

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = _local(qualified)
        if not self._path:
            self._root(name)
        self._path.append(name)
        if name in self._ITEMS:
            self._item = {}
        elif self.found.kind == "atom" and name == "link" and attributes.get("rel", "alternate") == "alternate":
            self._item.setdefault("link", attributes.get("href", ""))
        self._text, self._room = [], _MAX_LOC + 1 if name in self._TEXTS else 0

    def _root(self, name: str) -> None:
        kind = self._ROOTS.get(name, "")
        if not kind:
            raise _Stop("not a sitemap")
        if (kind if kind in ("rss", "atom") else "xml") not in self._formats:
            raise _Stop(f"{kind} is not read")
        self.found.kind = kind

    def _characters(self, data: str) -> None:
        if self._room > 0:
            self._text.append(data[: self._room])
            self._room -= len(data)

    def _end(self, _qualified: str) -> None:
        name = self._path.pop()
        # `image:loc` stands in `image:image`, not in `url`.
        if name in self._TEXTS and self._path and self._path[-1] in self._ITEMS and self._text:
            self._item.setdefault(name, "".join(self._text).strip())
        elif name in self._ITEMS:
            self._keep(name)
        self._text, self._room = [], 0
        if self.found.full:
            raise _Stop(f"more than {MAX_ENTRIES} entries")

    def _keep(self, name: str) -> None:
        loc = self._item.get("loc") or self._item.get("link") or ""
        if loc and name == "sitemap":
            self.found.children.append(loc)
        elif loc:
            changed = self._item.get("lastmod") or self._item.get("updated") or self._item.get("pubdate") or ""
            self.found.entries.append(Entry(loc, _priority(self._item.get("priority", "")), changed[:40]))
        self._item = {}


def _local(qualified: str) -> str:
    return qualified.rpartition(":")[2].lower()


def scoped(sitemap: Sitemap, authority: str, scope: Scope) -> Sitemap:
    """The same for a job's authority: canonical, of the site, each URL once (E20)."""
    entries: dict[str, Entry] = {}
    children: dict[str, None] = {}
    dropped = 0
    for entry in sitemap.entries:
        url = _admitted(entry.url, authority, scope)
        dropped += url is None
        if url is not None:
            entries.setdefault(url, Entry(url, entry.priority, entry.lastmod))
    for loc in sitemap.children:
        url = _admitted(loc, authority, scope)
        dropped += url is None
        if url is not None:
            children[url] = None
    return Sitemap(sitemap.kind, tuple(entries.values()), tuple(children), dropped, sitemap.error)


def _admitted(url: str, authority: str, scope: Scope) -> str | None:
    try:
        return admitted(url, authority, scope)
    except UrlRefused:
        return None


def _priority(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.5
    return value if 0.0 <= value <= 1.0 else 0.5
