"""What the origin of the house tests serves: shops of 50 pages, one slow site, and Debian's Python documentation."""

from __future__ import annotations

import asyncio
import functools
import mimetypes
from pathlib import Path

from tests.house.house import token_of
from tests.support.origin import Answer, Asked
from tests.support.python_docs import python_docs

TOKEN_FILE = "/.well-known/ema-site-verification.txt"
DOCS = "docs.example"
SLOW = "slow.example"
PAGES = 50
TEXT = {"Content-Type": "text/plain"}
HTML = {"Content-Type": "text/html; charset=utf-8"}


async def serve(asked: Asked) -> Answer:
    """Any site by its name."""
    if asked.target == TOKEN_FILE:
        return 200, TEXT, token_of(asked.site).encode()
    if asked.site == DOCS:
        return document(asked.target)
    if asked.site == SLOW and asked.target != "/robots.txt":
        await asyncio.sleep(4.0)
    return shop(asked.site, asked.target)


def shop(site: str, target: str) -> Answer:
    """A shop whose pages link to the next three; a part is disallowed."""
    if target == "/robots.txt":
        return 200, TEXT, b"User-agent: *\nDisallow: /private/\n"
    number = _number(target)
    if number is None:
        return 404, HTML, b"<p>There is no such page here.</p>"
    links = "".join(f'<a href="/p/{n}">offer {n}</a> ' for n in range(3 * number + 1, min(PAGES, 3 * number + 4)))
    said = f"Offer number {number} of {site}: a fine thing that costs {number}.50 euros and is sent within two days."
    body = f"<title>Offer {number}</title><main><h1>Offer {number}</h1><p>{said}</p>{links}<a href='/private/x'>x</a>"
    return 200, HTML, body.encode()


def _number(target: str) -> int | None:
    if target == "/":
        return 0
    name = target.removeprefix("/p/")
    return int(name) if name.isdigit() and name != target and int(name) < PAGES else None


def document(target: str) -> Answer:
    """Debian's Python documentation, with a robots.txt that shuts a part of it."""
    if target == "/robots.txt":
        return 200, TEXT, b"User-agent: *\nDisallow: /c-api/\nDisallow: /library/asyncio\n"
    file = (folder() / ("index.html" if target == "/" else target.lstrip("/"))).resolve()
    if not file.is_file() or folder().resolve() not in file.parents:
        return 404, HTML, b"<p>There is no such page here.</p>"
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return 200, {"Content-Type": kind}, file.read_bytes()


@functools.cache
def folder() -> Path:
    """Where the documentation is."""
    return python_docs()


FEW = 15


async def small(asked: Asked) -> Answer:
    """A shop of few pages; a response takes a while, so that there is always one in flight."""
    if asked.target == TOKEN_FILE:
        return 200, TEXT, token_of(asked.site).encode()
    await asyncio.sleep(0.0 if asked.target == "/robots.txt" else 0.4)
    number = _number(asked.target)
    if number is not None and number >= FEW:
        return 404, HTML, b"<p>There is no such page here.</p>"
    status, headers, body = shop(asked.site, asked.target)
    for beyond in range(FEW, 3 * FEW + 3):
        body = body.replace(f'<a href="/p/{beyond}">offer {beyond}</a> '.encode(), b"")
    return status, headers, body
