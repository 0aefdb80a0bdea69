"""What came of a request, as a member of the closed list: from a status, a header or an exception (A04)."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator

from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientOSError, ServerDisconnectedError

from crawler.fetch.decode import EncodingError
from crawler.fetch.gate import AddressRefusedError
from crawler.fetch.wire import BrokenError, Meter
from models.web import Outcome, Request

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_CONTENT = frozenset({204, 205, 206})  # 206: nobody asked for a range
_CONDITIONS = frozenset({"if-none-match", "if-modified-since"})
_MEDIA_TYPE = re.compile(r"[ \t]*([!#$%&'*+.^_`|~0-9a-z-]+/[!#$%&'*+.^_`|~0-9a-z-]+)[ \t]*(?:;.*)?", re.DOTALL)


def of_status(request: Request, status: int, location: str | None) -> Outcome:
    """The outcome that a status alone decides. OK means: now look at the type and the body."""
    if status == 304 and any(name.lower() in _CONDITIONS for name, _ in request.headers):
        return Outcome.NOT_MODIFIED
    if status in _REDIRECTS and location is not None:
        return Outcome.REDIRECTED
    if status in {429, 503}:
        return Outcome.RATE_LIMITED
    if 200 <= status < 300 and status not in _NO_CONTENT:
        return Outcome.OK
    if 400 <= status < 600:
        return Outcome.HTTP_4XX if status < 500 else Outcome.HTTP_5XX
    return Outcome.HTTP_OTHER


def media_type(lines: tuple[str, ...]) -> str | None:
    """The one media type of an answer in lower case; None for none, or several (RFC 9110 8.3)."""
    found = [_MEDIA_TYPE.fullmatch(line.lower()) for line in lines]
    types = {match[1] if match else None for match in found}
    return types.pop() if len(types) == 1 else None


def of_error(error: BaseException, meter: Meter) -> tuple[Outcome, str]:
    """The outcome of a request that ended in an exception, and what staff are told."""
    if meter.breach is not None:
        return meter.breach
    chain = list(_chain(error))
    return _kind(chain, meter), _told(chain, meter)


def _kind(chain: list[BaseException], meter: Meter) -> Outcome:
    def any_of(*types: type[BaseException]) -> bool:
        return any(isinstance(one, types) for one in chain)

    if any_of(AddressRefusedError):
        return Outcome.REFUSED_ADDRESS
    if isinstance(chain[0], TimeoutError):
        return Outcome.TIMEOUT
    if any_of(ClientConnectorDNSError):
        return Outcome.DNS
    if any_of(ssl.SSLError, ssl.CertificateError):
        return Outcome.TLS
    if any_of(ClientConnectorError) or (_broke(chain[0]) and not meter.received):
        return Outcome.CONNECT
    return Outcome.PROTOCOL


def _broke(error: BaseException) -> bool:
    return isinstance(error, BrokenError | ClientOSError | ServerDisconnectedError)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = getattr(error, "os_error", None) or error.__cause__ or error.__context__


def _told(chain: list[BaseException], meter: Meter) -> str:
    if isinstance(chain[0], TimeoutError):
        return f"after {meter.received} bytes"
    first = chain[0]
    inner = getattr(first, "os_error", None) or first  # aiohttp's own text leaves the cause out
    refused = next((one for one in chain if isinstance(one, AddressRefusedError)), None)
    plain = refused or (inner if isinstance(inner, BrokenError | EncodingError) else None)
    text = str(plain) if plain else f"{type(inner).__name__}: {inner}"
    return "".join(char if char.isprintable() else "?" for char in text)[:200]
