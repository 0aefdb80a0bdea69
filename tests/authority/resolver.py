"""DNS-over-HTTPS servers on loopback that say what a test wants, and DNS messages to say it with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Self

import dns.edns
import dns.flags
import dns.message
import dns.rcode
import dns.rrset
from aiohttp import web

Answer = tuple[int, str, bytes]
MEDIA = "application/dns-message"
Says = Callable[[dns.message.Message], Answer | Awaitable[Answer]]


def message(query: dns.message.Message, *lines: str, rcode: int = 0, ad: bool = False, tc: bool = False) -> bytes:
    """An answer to `query` with these records, as a zone file writes them."""
    answer = dns.message.make_response(query)
    answer.set_rcode(rcode)
    answer.flags |= (dns.flags.AD if ad else 0) | (dns.flags.TC if tc else 0)
    for line in lines:
        name, kind, rest = line.split(" ", 2)
        answer.answer.append(dns.rrset.from_text(name, 60, "IN", kind, rest))
    return answer.to_wire(max_size=65_535)


def says(*lines: str, **flags: Any) -> Says:
    """A resolver with one answer for every name; `@` in a line is the name that was asked for."""

    def one(query: dns.message.Message) -> Answer:
        name = query.question[0].name.to_text()
        return 200, MEDIA, message(query, *(line.replace("@", name) for line in lines), **flags)

    return one


def zone(**names: str) -> Says:
    """A resolver that knows these names (dots written as two underscores) with one TXT record each."""
    known = {name.replace("__", ".") + ".": text for name, text in names.items()}

    def one(query: dns.message.Message) -> Answer:
        name = query.question[0].name.to_text()
        lines = [f'{name} TXT "{known[name]}"'] if name in known else []
        return 200, MEDIA, message(query, *lines, rcode=dns.rcode.NOERROR if lines else dns.rcode.NXDOMAIN)

    return one


class Resolver:
    """A DoH server; it writes down the names that it was asked for."""

    def __init__(self, says: Says) -> None:
        self.says = says
        self.asked: list[str] = []
        self.heads: list[dict[str, str]] = []
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("POST", "/dns-query", self._serve)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/dns-query"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.Response:
        query = dns.message.from_wire(await request.read())
        self.asked.append(query.question[0].name.to_text().rstrip("."))
        self.heads.append(dict(request.headers))
        answer = self.says(query)
        status, media, body = answer if isinstance(answer, tuple) else await answer
        return web.Response(status=status, body=body, headers={"Content-Type": media})
