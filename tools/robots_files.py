"""Random robots.txt files as people write them, and URLs that come close to their rules. Same seed, same files.

Left out on purpose, because Google's reader departs from RFC 9309 there and the RFC holds: percent-encoded
unreserved characters (`%7E` equals `~`, 2.2.2) and `%2A`, `%24` for a literal `*`, `$` (2.2.3).
"""

from __future__ import annotations

import random
from dataclasses import dataclass

TOKEN = "CatBot"
_AGENTS = (
    b"CatBot", b"catbot", b"CATBOT", b"CatBot/1.0", b"CatBot/1.0 (+https://x.example/bot)", b"CatBot*", b"Cat",
    b"CatBotNews", b"DogBot", b"Googlebot", b"*", b"*", b"* x", b"", b"Cat Bot", b"CatBot, DogBot", b"\xc3\xa9Bot",
)  # fmt: skip
_AGENT_KEYS = (
    b"User-agent",
    b"user-agent",
    b"USER-AGENT",
    b"User agent",
    b"Useragent",
    b"User-agent ",
    b"User-Agents",
)
_DISALLOW_KEYS = (
    b"Disallow",
    b"disallow",
    b"DISALLOW",
    b"Dissallow",
    b"Disalow",
    b"diasllow",
    b"Disallow ",
    b"Disallowed",
)
_ALLOW_KEYS = (b"Allow", b"allow", b"ALLOW", b" Allow", b"Allowed")
_OTHER = (
    b"Crawl-delay: 3", b"Crawl-delay: 0.5", b"Sitemap: https://shop.example/s.xml", b"Host: shop.example",
    b"Request-rate: 1/10", b"Content-Signal: search=yes, ai-train=no", b"Clean-param: ref /", b"Noindex: /x",
    b"foo: bar", b"no colon here", b"<html>", b"Disallow", b":", b"# comment", b"", b"",
    b"Allow /a", b"Disallow /b",
    b"# x\x0cAllow: /", b"# y\xc2\x85Allow: /", b"# z\xe2\x80\xa8Disallow: /", b"License: https://x.example/l",
)  # fmt: skip
_PIECES = (
    b"a", b"b", b"ab", b"private", b"shop", b"x.html", b"index.html", b"?", b"?q=1", b"&", b"=", b"*", b"*", b"**",
    b"\xc3\xa9", b"%C3%A9", b"%c3%a9", b"%20", b"%2F", b"%3F", b";v=1", b"+", b"-", b"_", b".php", b"\xe4\xb8\xad",
    b"$",
)  # fmt: skip
_LINE_ENDS = (b"\n", b"\n", b"\n", b"\r\n", b"\r")


@dataclass(frozen=True)
class Case:
    """One file and the URLs to ask about."""

    number: int
    body: bytes
    urls: tuple[str, ...]


def case(seed: int, number: int) -> Case:
    """The `number`th file of a seed."""
    rng = random.Random(f"{seed}/{number}")
    patterns: list[bytes] = []
    end = rng.choice(_LINE_ENDS)
    body = end.join(_line(rng, patterns) for _ in range(rng.randint(1, 14)))
    if rng.random() < 0.1:
        body = rng.choice((b"\xef\xbb\xbf", b"\xef\xbb", b"\xef")) + body
    if rng.random() < 0.7:
        body += end
    return Case(number, body, tuple(dict.fromkeys(_url(rng, patterns) for _ in range(6))))


def _line(rng: random.Random, patterns: list[bytes]) -> bytes:
    kind = rng.random()
    if kind < 0.3:
        line = rng.choice(_AGENT_KEYS) + b":" + rng.choice((b" ", b"", b"\t")) + rng.choice(_AGENTS)
    elif kind < 0.75:
        key = rng.choice(_DISALLOW_KEYS if rng.random() < 0.55 else _ALLOW_KEYS)
        pattern = _pattern(rng)
        patterns.append(pattern)
        line = key + b": " + pattern
    else:
        line = rng.choice(_OTHER)
    return line + (rng.choice((b" ", b"\t", b" # why")) if rng.random() < 0.15 else b"")


def _pattern(rng: random.Random) -> bytes:
    if rng.random() < 0.06:
        return rng.choice((b"", b"/", b"/*", b"*", b"/$", b"a", b"https://shop.example/a"))
    parts = [b"".join(rng.choices(_PIECES, k=rng.randint(1, 2))) for _ in range(rng.randint(1, 3))]
    return b"/" + b"/".join(parts) + (b"$" if rng.random() < 0.15 else b"")


def _url(rng: random.Random, patterns: list[bytes]) -> str:
    """A URL that a rule may mean: its wildcards filled in, something left out or added."""
    raw = rng.choice(patterns) if patterns and rng.random() < 0.8 else _pattern(rng)
    path = raw.removesuffix(b"$").replace(b"*", rng.choice((b"", b"a", b"zz/y")))
    path = path[: rng.randint(1, len(path))] if path and rng.random() < 0.2 else path
    path += rng.choice((b"", b"", b"/", b"c", b"?z=1", b"$"))
    return "https://shop.example/" + path.removeprefix(b"/").decode("utf-8", "replace")
