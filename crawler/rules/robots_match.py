"""Paths against the rules of a robots.txt (RFC 9309 2.2.2, 2.2.3): most octets win, equal allows.

protego matches one pattern with one path. Which rules there are, how both sides are written before they are
compared, and which rule wins is decided here: protego's own parser treats `%3F` as `?` and adds a literal
twin to every anchored rule, so that `Allow: /foo$` would also open `/foo$bar`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from protego._urlpattern import _URLPattern  # pinned to the byte in pyproject.toml

_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What cannot stand in a URI as it is: control characters, space, non-ASCII octets, and RFC 3986's excluded ones.
_NOT_URI = re.compile(rb'[^!-~]|["<>\\^`{|}]')
_AS_IT_IS = re.compile(rb"[A-Za-z0-9/*$_.~=?&+,;:!()-]*").fullmatch
_INDEX = "/index.html"


def _escaped(text: bytes) -> str:
    """Octets that no URI holds become `%XX`; triplets in upper case, unreserved ones decoded (2.2.2)."""
    if _AS_IT_IS(text):
        return text.decode("ascii")
    ascii_only = _NOT_URI.sub(lambda match: b"%%%02X" % match[0][0], text).decode("ascii")
    return _TRIPLET.sub(_decoded, ascii_only)


def _decoded(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def path_as_matched(path: str) -> str:
    """A path with its query, as rules are compared with it: a literal `*` or `$` is `%2A`, `%24` (2.2.3)."""
    return _escaped(path.encode("utf-8", "replace")).replace("*", "%2A").replace("$", "%24")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, ready to match. `octets` is what it weighs, `prefix` what a path must begin with."""

    allow: bool
    octets: int
    pattern: str
    prefix: str
    written: bytes

    @property
    def plain(self) -> bool:
        """Whether it is nothing but a prefix."""
        return self.prefix == self.pattern

    @property
    def text(self) -> str:
        """As it stands in the file, for the audit."""
        return f"{'allow' if self.allow else 'disallow'}: {self.written.decode('utf-8', 'replace')}"

    def matches(self, url: str) -> bool:
        """Whether it matches a path, written as rules are."""
        # Few paths get past the prefix, so protego's pattern is made only then: a file may have 30,000 of them.
        return url.startswith(self.prefix) and (self.plain or bool(_URLPattern(self.pattern).match(url)))


def _rule(allow: bool, written: bytes, pattern: str) -> Rule:
    anchor = "$" if pattern.endswith("$") else ""
    literal = pattern.removesuffix("$").replace("$", "%24")  # only the last `$` is an anchor
    prefix = literal.partition("*")[0]
    return Rule(allow, len(pattern), literal + anchor, prefix, written)


class Matcher:
    """All rules of the chosen group, the heaviest first."""

    def __init__(self, rules: tuple[tuple[bool, bytes], ...]) -> None:
        ready: list[Rule] = []
        for allow, written in rules:
            pattern = _escaped(written)
            ready.append(_rule(allow, written, pattern))
            if allow and pattern.endswith(_INDEX):
                # Who allows the index page means the folder too; the large crawlers read it so.
                ready.append(_rule(allow, written, pattern.removesuffix("index.html") + "$"))
        self._rules = sorted(ready, key=lambda rule: (-rule.octets, not rule.allow))
        self._prefixes = tuple(rule.prefix for rule in self._rules)

    def deciding(self, path: str) -> Rule | None:
        """The rule that decides about a path with its query, or None if none matches."""
        url = path_as_matched(path)
        # One startswith over all prefixes rules out every rule of a large file at once, as a rule.
        if not url.startswith(self._prefixes):
            return None
        return next((rule for rule in self._rules if rule.matches(url)), None)
