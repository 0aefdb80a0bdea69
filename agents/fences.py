"""Fencing tokens: which records of the memory's changelog count. Pure.

A Kafka producer is not fenced: a process that is frozen with a record in its buffer writes it when it wakes, over
what the new owner of the partition has written since. So whoever gets a partition *claims* it before reading it to
its end: a record of its own under the next epoch, which no earlier record of the partition has. Every record carries
the epoch of its writer, and whoever reads takes the records in the order of their offsets: after a claim, what
comes from a lower epoch is stale. Of two claims of one epoch the first counts; whoever finds that its own is the
second ends. So two owners never share an epoch, whatever either of them has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

EPOCH = "e"
"""The header that carries the epoch. A header, since a tombstone has no value that could."""
CLAIM = b"claim|"
"""The beginning of the key of a partition's claim; no site has this name."""

Headers = Sequence[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Fence:
    """The newest claim of a partition: its epoch, and the process that made it."""

    epoch: int = 0
    owner: str = ""

    def next(self, owner: str) -> Fence:
        """The claim that comes after this one."""
        return Fence(self.epoch + 1, owner)

    @property
    def headers(self) -> list[tuple[str, bytes]]:
        """What a record of this owner carries."""
        return [(EPOCH, b"%d" % self.epoch)]

    def to_bytes(self) -> bytes:
        """The claim's value."""
        return f"{self.epoch} {self.owner}".encode()

    @classmethod
    def from_bytes(cls, value: bytes) -> Fence:
        """The inverse of `to_bytes`."""
        epoch, _, owner = value.decode().partition(" ")
        return cls(int(epoch), owner)

    def after(self, claim: Fence) -> Fence:
        """The fence after one more claim: the higher epoch, and of one epoch the first."""
        unheard = claim.epoch == self.epoch and not self.owner
        return claim if claim.epoch > self.epoch or unheard else self

    def is_stale(self, key: bytes | None, value: bytes | None, headers: Headers) -> bool:
        """Whether a record that comes behind this fence does not count."""
        if key is not None and key.startswith(CLAIM) and value is not None:
            return self.after(Fence.from_bytes(value)) != Fence.from_bytes(value)
        return epoch_of(headers) < self.epoch


def claim_key(partition: int) -> bytes:
    """The key of a partition's claim."""
    return CLAIM + b"%d" % partition


def epoch_of(headers: Headers) -> int:
    """The epoch of a record's writer; 0 where there is none (a record of an older version)."""
    for name, value in headers:
        if name == EPOCH:
            return int(value)
    return 0


@dataclass(slots=True)
class Reading:
    """One partition, read from its beginning: what counts, and which keys hide it."""

    fence: Fence = Fence()
    values: dict[bytes, bytes | None] = field(default_factory=dict)
    """None: deleted."""
    hidden: set[bytes] = field(default_factory=set)
    """Keys whose last record is stale: compaction keeps only that one, so their values have to be written again."""

    def take(self, records: Iterable[Any]) -> None:
        """Records in the order of their offsets. There may be a million, so nothing is called for the usual one."""
        values, hidden, epoch = self.values, self.hidden, self.fence.epoch
        for record in records:
            key, headers = record.key, record.headers
            token = int(headers[0][1]) if len(headers) == 1 and headers[0][0] == EPOCH else epoch_of(headers)
            if token == epoch and not key.startswith(CLAIM):
                values[key] = record.value
                if hidden:
                    hidden.discard(key)
            else:
                self._odd(key, record.value, headers, token)
                epoch = self.fence.epoch

    def _odd(self, key: bytes, value: bytes | None, headers: Headers, token: int) -> None:
        """A claim, a stale record, or one whose claim was compacted away."""
        # What nothing else is known of is better than nothing: compaction took the newer record before anybody
        # could write it again, and a site without a head would have neither its proofs nor its suspension.
        if self.fence.is_stale(key, value, headers) and key in self.values:
            self.hidden.add(key)
            return
        if key.startswith(CLAIM) and value is not None:
            self.fence = self.fence.after(Fence.from_bytes(value))
        elif token > self.fence.epoch:
            self.fence = Fence(token)
        self.values[key] = value
        self.hidden.discard(key)
