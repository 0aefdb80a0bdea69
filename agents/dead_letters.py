"""What could not be used, set aside with its cause and origin, so that the next record runs at once (F40-F44).

The value is the original's bytes, or a stub with their hash when they are large; all else is in headers, so that a
dead letter can be found by topic, partition and offset, and be sent again unchanged.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import orjson

TOPIC = "dead-letters"
MAX_BYTES = 256 * 1024
"""Larger originals are replaced by a stub: the broker's own limit is about 1 MB, headers included."""
MAX_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One record that was set aside. `cause` is one word of a closed list, `message` is for staff."""

    topic: str
    partition: int
    offset: int
    cause: str
    message: str
    raw: bytes | None
    at: float
    """Broker time of the original, seconds."""

    @property
    def key(self) -> bytes:
        """The same letter has the same key, however often it is written (I15)."""
        return f"{self.topic}/{self.partition}/{self.offset}".encode()

    @property
    def value(self) -> bytes:
        """The original, empty for null, or the stub of a large one."""
        raw = self.raw or b""
        if len(raw) <= MAX_BYTES:
            return raw
        return orjson.dumps({"stub": True, "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()})

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        """Where it came from and why it was set aside (KIP-298's set, under plain names)."""
        found = {
            "topic": self.topic,
            "partition": str(self.partition),
            "offset": str(self.offset),
            "cause": self.cause,
            "message": self.message[:MAX_MESSAGE],
            "at": f"{self.at:.3f}",
            "null": "1" if self.raw is None else "0",
        }
        return [(name, value.encode("utf-8", "backslashreplace")) for name, value in found.items()]
