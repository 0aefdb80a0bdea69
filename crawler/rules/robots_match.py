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
_INDEX = "/index.html"


def _escaped(text: bytes) -> str:
    """Octets that no URI holds become `%XX`; triplets in upper case, unreserved ones decoded (2.2.2)."""
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
    """One rule, ready to match. `octets` is what it weighs; `text` is what stands in the file."""

    allow: bool
    octets: int
    pattern: _URLPattern
    text: str

    @property
    def plain(self) -> bool:
        """Whether it can only match as a prefix."""
        return not (self.pattern._contains_asterisk or self.pattern._contains_dollar)  # noqa: SLF001 - see above


def _rule(allow: bool, written: bytes, pattern: str) -> Rule:
    anchor = "$" if pattern.endswith("$") else ""
    literal = pattern.removesuffix("$").replace("$", "%24")  # only the last `$` is an anchor
    text = f"{'allow' if allow else 'disallow'}: {written.decode('utf-8', 'replace')}"
    return Rule(allow, len(pattern), _URLPattern(literal + anchor), text)


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
        self._special = [rule for rule in self._rules if not rule.plain]
        self._prefixes = tuple(rule.pattern._pattern for rule in self._rules if rule.plain)  # noqa: SLF001

    def deciding(self, path: str) -> Rule | None:
        """The rule that decides about a path with its query, or None if none matches."""
        url = path_as_matched(path)
        # One startswith over all prefixes rules out nearly every rule of a large file at once.
        rules = self._rules if url.startswith(self._prefixes) else self._special
        return next((rule for rule in rules if rule.pattern.match(url)), None)
