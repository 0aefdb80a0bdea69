"""One request, one response, never an exception: the only code that opens a connection to a stranger."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar
from multidict import CIMultiDict
from yarl import URL

from crawler.fetch.decode import Decoder, decoder
from crawler.fetch.gate import Lookup, Resolver, SystemLookup, no_lookup, socket_factory
from crawler.fetch.network import Network
from crawler.fetch.verdict import media_type, of_error, of_status
from crawler.fetch.wire import METER, Connector, Meter, once
from crawler.rules.addresses import name_refusal
from models.web import Outcome, Request, Response

if TYPE_CHECKING:
    from crawler.fetch.decode import Decoder

# Kept connections serve the next request of a job. Apache, Node and LiteSpeed drop theirs after 5 s: one that
# has been idle for 4 s is not used again, or a pace of 5 s would meet the closing one half of the time.
KEEPALIVE = 4.0
PER_SITE = 4  # C11: never more than four in flight to one site
WIRE_SLACK = 1024 * 1024  # head, framing, and what TLS and flow control hand over before we can stop
SIDE_BODY = 64 * 1024  # of an error's or redirect's HTML: enough to know a challenge by (E26, C13)

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_URL = re.compile(r"https://([^/?#@:\[\]\\]+)(/[\x21\x22\x24-\x7e]*)?")  # no port, userinfo, literal, fragment
_METHODS = frozenset({"GET", "HEAD"})  # E03
_AUTO = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")  # what aiohttp would add by itself


@dataclass(slots=True)
class _Answer:
    """What is known of an answer so far; what is known stays in the record when the rest fails."""

    outcome: Outcome = Outcome.PROTOCOL
    detail: str = ""
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    def all(self, name: str) -> tuple[str, ...]:
        return tuple(value for key, value in self.headers if key.lower() == name)


class Fetcher:
    """Makes requests within one `Network`. It decides nothing and retries nothing: a call is a request."""

    def __init__(self, network: Network, lookup: Lookup | None = None) -> None:
        """`lookup` replaces the machine's resolver; the address policy applies to whatever it answers."""
        self._network, self._tls = network, network.tls()
        self._own = None if lookup or network.routes else SystemLookup()
        self._lookup = lookup or self._own or no_lookup
        self._connector: Connector | None = None
        self._session: ClientSession | None = None

    async def fetch(self, request: Request) -> Response:
        """Send one request and read its answer within `request.timeout` seconds (E17).

        Raises nothing but CancelledError.
        """
        started_at, started = time.time(), time.monotonic()
        answer, meter = _Answer(), Meter(limit=request.max_bytes + WIRE_SLACK)
        try:
            await self._within(request, answer, meter)
        except Exception as error:  # noqa: BLE001 - whatever a stranger provokes is an outcome, not a crash
            answer.outcome, answer.detail = of_error(error, meter)
            answer.body = b""
        return Response(
            outcome=answer.outcome,
            started_at=started_at,
            ended_at=time.time(),
            elapsed=time.monotonic() - started,
            status=answer.status,
            headers=answer.headers,
            body=answer.body,
            wire_bytes=meter.received,
            detail=answer.detail,
        )

    def forget_connections(self) -> None:
        """Use no connection again that is open now: after a stall, the first packet must be a SYN."""
        if self._connector is not None:
            self._connector.forget()

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
        if self._own is not None:
            self._own.close()

    async def _within(self, request: Request, answer: _Answer, meter: Meter) -> None:
        if why := _unfit(request):
            answer.outcome, answer.detail = Outcome.REFUSED_ADDRESS, why
            return
        token = METER.set(meter)
        try:
            async with asyncio.timeout(request.timeout):
                await self._ask(request, answer)
        finally:
            METER.reset(token)
        if meter.breach is not None:
            answer.outcome, answer.detail = meter.breach
            answer.body = b""

    async def _ask(self, request: Request, answer: _Answer) -> None:
        response = await self._open().request(
            request.method,
            URL(request.url, encoded=True),
            headers=CIMultiDict(request.headers),
            allow_redirects=False,  # a hop is a request of its own: paced, counted, checked (E20)
        )
        try:
            answer.status = response.status
            answer.headers = tuple((_text(key), _text(value)) for key, value in response.raw_headers)
            answer.outcome = of_status(request, response.status, response.headers.get("Location"))
            if request.method != "HEAD":
                await _read(request, response, answer)
        finally:
            response.close()  # a no-op when the answer was read to its end: the connection is kept then

    def _open(self) -> ClientSession:
        """The session, made on first use because it belongs to the running loop."""
        if self._session is None:
            self._connector = Connector(
                resolver=Resolver(self._network, self._lookup),
                socket_factory=socket_factory(self._network),
                ssl=self._tls,
                limit=0,
                limit_per_host=PER_SITE,
                keepalive_timeout=KEEPALIVE,
                ttl_dns_cache=30,
            )
            self._session = ClientSession(
                connector=self._connector,
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                skip_auto_headers=_AUTO,
                timeout=ClientTimeout(total=None, sock_connect=None),
                middlewares=(once,),
            )
        return self._session


def _unfit(request: Request) -> str | None:
    """Why a request is not sent at all: the last look at what the rules should have seen to (A02, E03)."""
    match = _URL.fullmatch(request.url)
    if match is None:
        return "not a canonical https URL"
    if request.method not in _METHODS:
        return "not a method that we use"
    return name_refusal(match[1])


async def _read(request: Request, response: ClientResponse, answer: _Answer) -> None:
    """The body, or the part of it that its status, type and encoding allow."""
    kind = media_type(answer.all("content-type"))
    decode = decoder(answer.all("content-encoding"))
    if answer.outcome is not Outcome.OK:
        if kind in _HTML and decode is not None:
            answer.body, _ = await _body(response, decode, SIDE_BODY)
    elif request.media_types is not None and kind not in request.media_types:
        answer.outcome, answer.detail = Outcome.REFUSED_TYPE, kind or "no media type"
    elif decode is None:
        answer.outcome = Outcome.REFUSED_ENCODING
        answer.detail = ", ".join(answer.all("content-encoding"))[:200]
    else:
        body, whole = await _body(response, decode, request.max_bytes)
        if whole or request.truncate:
            answer.body = body
        else:
            answer.outcome, answer.detail = Outcome.TOO_LARGE, f"more than {request.max_bytes} bytes"


async def _body(response: ClientResponse, decode: Decoder, limit: int) -> tuple[bytes, bool]:
    """At most `limit` decoded bytes, and whether that is all there was."""
    body = bytearray()
    while data := await response.content.readany():
        body += decode.feed(data, limit + 1 - len(body))
        if len(body) > limit:
            return bytes(body[:limit]), False
    decode.finish()
    return bytes(body), True


def _text(raw: bytes) -> str:
    """A header's text without lone surrogates: UTF-8 when it is, else Latin-1 (RFC 9110 5.5)."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
