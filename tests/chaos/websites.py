"""The websites of a chaos run: what each serves follows from its name alone, so that nobody has to remember it.

`sNNN.example`; NNN modulo 20 says what kind of a site it is.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.house.house import token_of
from tests.house.shops import HTML, TEXT, TOKEN_FILE
from tests.support.origin import Answer, Asked

PAGES = 20
SLOW_PAGES = 6
DISALLOWED = "/private/"


def names(number: int) -> list[str]:
    """The sites of a run."""
    return [f"s{n:03d}.example" for n in range(number)]


def kind_of(site: str) -> str:
    """plain, lingering (0.4 s a page), slow (2.5 s a page), closed (robots.txt is 503), busy (429 now and then)."""
    number = int(site[1:4]) % 20
    return {3: "lingering", 8: "lingering", 13: "slow", 17: "closed", 19: "busy"}.get(number, "plain")


def described(site: str) -> dict[str, Any]:
    """What a checker must know of a site."""
    return {"site": site, "robots": 503 if kind_of(site) == "closed" else 200, "disallow": [DISALLOWED]}


async def serve(asked: Asked) -> Answer:
    """The handler of the origin."""
    if asked.target == TOKEN_FILE:
        return 200, TEXT, token_of(asked.site).encode()
    kind = kind_of(asked.site)
    if asked.target == "/robots.txt":
        if kind == "closed":
            return 503, TEXT, b"later"
        return 200, TEXT, f"User-agent: *\nDisallow: {DISALLOWED}\n".encode()
    number = _number(asked.target, SLOW_PAGES if kind == "slow" else PAGES)
    if number is None:
        return 404, HTML, b"<p>There is no such page here.</p>"
    if kind == "busy" and number == 7:
        return 429, {**HTML, "Retry-After": "1"}, b"<p>Later, please.</p>"
    await asyncio.sleep({"lingering": 0.4, "slow": 2.5}.get(kind, 0.02))
    return 200, HTML, _page(asked.site, number, SLOW_PAGES if kind == "slow" else PAGES)


def _number(target: str, pages: int) -> int | None:
    if target == "/":
        return 0
    name = target.removeprefix("/p/")
    return int(name) if name.isdigit() and name != target and int(name) < pages else None


def _page(site: str, number: int, pages: int) -> bytes:
    links = "".join(f'<a href="/p/{n}">offer {n}</a> ' for n in range(3 * number + 1, min(pages, 3 * number + 4)))
    said = (
        f"Offer number {number} of {site}: a fine thing that costs {number}.50 euros, is made by hand in the workshop"
        f" behind the shop, and is sent within {number + 2} days to wherever the post goes."
    )
    title = f"<title>Offer {number}</title>"
    return f"{title}<main><h1>Offer {number}</h1><p>{said}</p>{links}<a href='/private/x'>x</a></main>".encode()
