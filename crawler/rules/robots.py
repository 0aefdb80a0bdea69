"""robots.txt: the rules that hold for us, and what a failed reading means (E14, E15, W03, C07; RFC 9309)."""

from __future__ import annotations

import re
import zlib
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256

import orjson

from crawler.rules.robots_match import Matcher
from crawler.rules.robots_reader import cut_token, read
from crawler.rules.urls import UrlRefused, canonical

_PATH = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//[^/?#]*([^#]*)", re.IGNORECASE)


@dataclass(frozen=True)
class Decision:
    """One answer with its ground, for the audit: which group and which rule of the file decided."""

    allowed: bool
    group: str  # "own", "*", or "none"
    rule: str  # as in the file, such as "disallow: /cart"; empty when no rule matched


@dataclass(frozen=True)
class Rules:
    """A readable robots.txt, cut down to what holds for one token. Small, immutable, storable."""

    token: str
    group: str  # "own": groups for our token; "*": the fallback; "none": neither is there
    named: tuple[str, ...]  # the user-agent values of the group, as written
    rules: tuple[tuple[bool, bytes], ...] = field(repr=False)  # (allow, pattern)
    crawl_delay: float | None
    sitemaps: tuple[str, ...]
    signals: tuple[tuple[str, str], ...]  # A05
    sha256: str  # of the bytes as they came
    size: int
    dropped: tuple[str, ...]
    known_lines: int

    def allows(self, url: str) -> bool:
        """Whether a URL may be asked for (RFC 9309 2.2.2: most octets win, equal allows)."""
        path = _path(url)
        if not self.rules or path.partition("?")[0] == "/robots.txt":
            return True
        rule = self._matcher.deciding(path)
        return rule is None or rule.allow

    def decide(self, url: str) -> Decision:
        """The same with its ground, for the audit."""
        path = _path(url)
        if path.partition("?")[0] == "/robots.txt":
            return Decision(allowed=True, group=self.group, rule="allow: /robots.txt (RFC 9309 2.2.2)")
        rule = self._matcher.deciding(path)
        return Decision(rule is None or rule.allow, self.group, rule.text if rule else "")

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.rules)

    def to_bytes(self) -> bytes:
        """For the site's memory: never larger than the file itself, some hundred bytes as a rule."""
        head = {key: value for key, value in asdict(self).items() if key != "rules"}
        lines = [(b"+" if allow else b"-") + pattern for allow, pattern in self.rules]
        return zlib.compress(b"\n".join([orjson.dumps(head), *lines]))

    @classmethod
    def from_bytes(cls, stored: bytes) -> Rules:
        """The inverse of `to_bytes`."""
        head, *lines = zlib.decompress(stored).split(b"\n")
        values = orjson.loads(head)
        for name in ("named", "sitemaps", "dropped"):
            values[name] = tuple(values[name])
        values["signals"] = tuple((name, value) for name, value in values["signals"])
        return cls(**values, rules=tuple((line[:1] == b"+", line[1:]) for line in lines))


def parse(body: bytes, token: str) -> Rules:
    """Read a robots.txt for a product token; any bytes give rules.

    Give the token, never the User-Agent: with a customer's note in it, the note could choose the group.
    As a second line of defence the argument is cut where the file's values are cut.
    """
    records = read(body, token)
    own, star = records.own, records.star
    group = "own" if own.exists else "*" if star.exists else "none"
    chosen = own if own.exists else star
    return Rules(
        token=cut_token(token.encode("utf-8", "replace")).decode(),
        group=group,
        named=tuple(chosen.named[:10]),
        rules=tuple(chosen.rules),
        crawl_delay=max(chosen.delays, default=None),
        sitemaps=_canonical_sitemaps(records.sitemaps),
        signals=tuple(records.signals),
        sha256=sha256(body).hexdigest(),
        size=len(body),
        dropped=tuple(records.dropped),
        known_lines=records.known_lines,
    )


def _path(url: str) -> str:
    """Path and query, also of a URL that is not canonical; never the fragment."""
    match = _PATH.match(url)
    path = match[1] if match else url.partition("#")[0]
    return path if path.startswith("/") else f"/{path}"


def _canonical_sitemaps(found: list[str]) -> tuple[str, ...]:
    urls: dict[str, None] = {}
    for text in found:
        try:
            urls[canonical(text)] = None
        except UrlRefused:
            continue
    return tuple(urls)
