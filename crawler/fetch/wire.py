"""What a connection may do to us: bytes and interim answers are counted when they arrive, not when read.

aiohttp bounds header sizes and what it buffers, but follows interim answers for ever (5.5 s CPU in 6 s,
measured), keeps what a server says unasked on an idle connection and takes it for the next answer, and asks
an idempotent request a second time on its own when a kept connection breaks, which no policy announces (A01).
"""

from __future__ import annotations

import asyncio
import functools
import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from aiohttp import (
    ClientConnectorError,
    ClientHandlerType,
    ClientOSError,
    ClientRequest,
    ClientResponse,
    ServerDisconnectedError,
    TCPConnector,
)
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_parser import RawResponseMessage
from aiohttp.streams import StreamReader

from models.web import Outcome

HEAD_LIMIT = 128 * 1024  # bytes before the final answer's head is complete, interim answers included
INTERIM_LIMIT = 8  # 100, 102 and 103 answers before the final one (F64)


@dataclass(slots=True)
class Meter:
    """What one request has cost so far. `limit` bounds the bytes of the whole answer as they arrive."""

    limit: int
    received: int = 0
    interim: int = 0
    breach: tuple[Outcome, str] | None = None


METER: ContextVar[Meter | None] = ContextVar("METER", default=None)


class BrokenError(Exception):
    """The connection broke before the answer was there; raised so that aiohttp does not ask again."""


async def once(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
    """An aiohttp middleware: one call is one request, whatever happens to the connection (A01, A04)."""
    try:
        return await handler(request)
    except ClientConnectorError:
        raise
    except (ClientOSError, ServerDisconnectedError) as error:
        raise BrokenError(str(error) or type(error).__name__) from error


class Wire(ResponseHandler):
    """aiohttp's client protocol with a meter, and without patience for what nobody asked for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._meter: Meter | None = None
        self._used = False
        self._head_done = False
        self._head_only = False

    @property
    def busy(self) -> bool:
        """A request is out and its answer is not complete."""
        return self._meter is not None

    def set_response_params(self, **params: Any) -> None:
        """Aiohttp's call at the start of each request, in the task that makes it."""
        self._meter, self._used, self._head_done = METER.get(), True, False
        self._head_only = bool(params.get("skip_payload"))
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Count, stop at the caps, and cut a kept connection on which the server speaks unasked."""
        meter = self._meter
        if meter is None:
            self._unasked(data)
            return
        meter.received += len(data)
        if meter.received > meter.limit:
            self._stop(meter, Outcome.TOO_LARGE, "too many bytes on the wire")
            return
        if self._head_only:
            self._head(data)
        else:
            super().data_received(data)
        if not self._head_done and meter.received > HEAD_LIMIT:
            self._stop(meter, Outcome.PROTOCOL, "the head does not end")

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Aiohttp's call for each parsed head."""
        meter, status = self._meter, data[0].code
        if meter is None or self._head_done:
            self._cut()  # a second answer to one request
        elif status == 101:
            self._stop(meter, Outcome.PROTOCOL, "101 to a request that asked for no upgrade")
        elif 100 <= status < 200:
            self._interim(meter)
        else:
            self._head_done = True
            super().feed_data(data, size)
            data[1].on_eof(self._answered)

    def close(self) -> None:
        """Close politely when idle; in the middle of an answer at once, or the server may go on sending."""
        if self.busy:
            self._meter = None
            self.abort()
        else:
            super().close()

    def _head(self, data: bytes) -> None:
        """Line by line: aiohttp takes a body after the answer to a HEAD for a broken second answer (E07)."""
        for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
            if self._head_done:
                self.force_close()
                return
            super().data_received(line)

    def _interim(self, meter: Meter) -> None:
        meter.interim += 1
        if meter.interim > INTERIM_LIMIT:
            self._stop(meter, Outcome.PROTOCOL, "too many interim answers")

    def _answered(self) -> None:
        self._meter = None

    def _unasked(self, data: bytes) -> None:
        if self._used and data:
            self._cut()
        else:
            super().data_received(data)

    def _stop(self, meter: Meter, outcome: Outcome, detail: str) -> None:
        meter.breach = meter.breach or (outcome, detail)
        self._cut()

    def _cut(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.abort()


class Connector(TCPConnector):
    """aiohttp's connector whose connections are `Wire`s and can be forgotten."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._wires: WeakSet[Wire] = WeakSet()
        self._factory = functools.partial(self._make, self._loop)

    def _make(self, loop: asyncio.AbstractEventLoop) -> ResponseHandler:
        wire = Wire(loop)
        self._wires.add(wire)
        return wire

    def forget(self) -> None:
        """Close idle connections and let no busy one be used again."""
        for wire in tuple(self._wires):
            wire.force_close()
            if not wire.busy:
                wire.close()
