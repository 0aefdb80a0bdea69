"""Content-Encoding undone in bounded steps (RFC 9110 8.4.1): gzip and deflate, as asked for; no other.

Our own on zlib, because aiohttp's decoder lets a truncated gzip pass as complete, decodes whatever libraries
happen to be installed, and hides how many bytes came.
"""

from __future__ import annotations

import zlib
from typing import Protocol

MEMBERS = 1000  # gzip members in one body; 10^5 empty ones are a bomb (F61), and bgzip makes one per 64 KB
_STEP = 16 * 1024  # input per call: what follows a member is copied, so a long input would be quadratic


class EncodingError(Exception):
    """The body is not what its Content-Encoding says."""


class Decoder(Protocol):
    """Bytes of the wire in, at most `room` bytes of the body out; what does not fit is lost."""

    def feed(self, data: bytes, room: int) -> bytes:
        """Decode the next piece."""

    def finish(self) -> None:
        """Raise EncodingError when the body is cut short."""


class Identity:
    """No encoding."""

    def feed(self, data: bytes, room: int) -> bytes:
        """The piece as it is."""
        return data[:room]

    def finish(self) -> None:
        """Framing already tells a cut body."""


class Inflate:
    """gzip with any number of members, or deflate in either of the two forms that servers send."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._inner: zlib._Decompress | None = None
        self._members = 0
        self._ignore = False

    def feed(self, data: bytes, room: int) -> bytes:
        """Decode the next piece; bytes after the last member are ignored, as browsers do."""
        out = bytearray()
        for start in range(0, len(data), _STEP):
            piece = data[start : start + _STEP]
            while piece and len(out) < room and not self._ignore:
                piece = self._step(piece, room, out)
        return bytes(out)

    def finish(self) -> None:
        """A body that stops inside a member is no body."""
        if self._inner is not None and not self._inner.eof and not self._ignore:
            raise EncodingError("the compressed body is cut short")

    def _step(self, piece: bytes, room: int, out: bytearray) -> bytes:
        inner = self._inner
        if inner is None or inner.eof:
            inner = self._inner = self._next(piece)
        if inner is None:
            self._ignore = True
            return b""
        try:
            out += inner.decompress(piece, room - len(out))
        except zlib.error as error:
            raise EncodingError(str(error)) from None
        return inner.unused_data if inner.eof else inner.unconsumed_tail

    def _next(self, piece: bytes) -> zlib._Decompress | None:
        """The first member, or another if the byte after the one before begins one (RFC 1952 2.3.1)."""
        self._members += 1
        if self._members > MEMBERS:
            raise EncodingError("too many gzip members")
        if self._members > 1 and not (self._gzip and piece[0] == 0x1F):
            return None
        if self._gzip:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        wrapped = piece[0] & 0x0F == 8  # RFC 1950 2.2: CM = 8; raw deflate begins otherwise
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)


def decoder(encodings: tuple[str, ...]) -> Decoder | None:
    """The decoder for the Content-Encoding lines of an answer; None for one that we did not ask for."""
    names = [part.strip().lower() for line in encodings for part in line.split(",")]
    match [name for name in names if name not in {"", "identity"}]:
        case []:
            return Identity()
        case ["gzip" | "x-gzip"]:
            return Inflate(gzip=True)
        case ["deflate"]:
            return Inflate(gzip=False)
        case _:
            return None
