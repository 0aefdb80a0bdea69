"""How a hostile origin plays: the pieces that the cases are made of."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from models.web import Outcome
from tests.support.origin import Answer

Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

HTML = "Content-Type: text/html\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
HEAD = OK + HTML.encode()
MB = 1_000_000
CAP = 2 * MB


@dataclass(frozen=True, slots=True)
class Case:
    """One hostility: what is sent, the outcomes that are right, and how the request differs from a page's."""

    fault: str
    name: str
    says: Answer | Play
    expect: Outcome | tuple[Outcome, ...]
    request: dict[str, Any] = field(default_factory=dict)
    body: int | None = None  # the exact length of the body that must come through
    sent_at_most: int | None = None  # bytes that we take, beside what the kernel's buffers do

    @property
    def path(self) -> str:
        return f"/{self.fault}/{self.name}"


def send(*pieces: bytes) -> Play:
    """Send and close."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        writer.close()
        with contextlib.suppress(TimeoutError, ConnectionError):
            await asyncio.wait_for(writer.wait_closed(), 5)

    return play


def stream(first: bytes, pieces: Iterable[bytes], delay: float = 0) -> Play:
    """Send, then go on piece by piece until the client has had enough."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(delay)

    return play


def forever(first: bytes, piece: bytes, delay: float = 0) -> Play:
    """Never stop."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(delay)

    return play


def hang(first: bytes = b"") -> Play:
    """Send something and fall silent."""
    return forever(first, b"", 0.05)


def reset(first: bytes = b"") -> Play:
    """Send something and cut the connection with a RST."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        await writer.drain()
        await asyncio.sleep(0.05)
        place: socket.socket = writer.get_extra_info("socket")
        place.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return play


def whole(body: bytes, *lines: str, status: str = "200 OK") -> Play:
    """A complete answer with header lines of the case's own."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n" + "".join(f"{line}\r\n" for line in lines)
    return send(head.encode("latin-1") + b"\r\n" + body)


def chunked(pieces: Iterable[bytes], *lines: str) -> Play:
    """A chunked answer."""
    head = HEAD + b"".join(f"{line}\r\n".encode() for line in lines) + b"Transfer-Encoding: chunked\r\n\r\n"
    return send(head, *(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces), b"0\r\n\r\n")


def bomb(first: bytes) -> bytes:
    """1 GB of zeros as raw deflate, about 1 MB: one block of 16 MB said 64 times. `first` is its header."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = packer.compress(bytes(16 * MB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return first + block * 64


_LAZY: dict[str, bytes] = {}


def lazy(name: str, make: Callable[[], bytes], *lines: str) -> Play:
    """A body that is expensive to make is made on the first request."""

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if name not in _LAZY:
            _LAZY[name] = await asyncio.to_thread(make)
        await whole(_LAZY[name], "Content-Type: text/html", *lines)(reader, writer)

    return play


TYPE = "Content-Type: text/html"
PAGE = b"<html><title>x</title><p>Text</html>"


def status_line(line: bytes, *, body: bytes = PAGE) -> Play:
    return send(line + b"\r\n" + HTML.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)


def headers(*lines: bytes) -> Play:
    return send(HEAD + b"Content-Length: 2\r\n" + b"".join(line + b"\r\n" for line in lines) + b"\r\nhi")


def redirect(location: bytes, status: int = 302) -> Play:
    return send(b"HTTP/1.1 %d Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n" % (status, location))
