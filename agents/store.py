"""The store behind the actors' memory: keys by partition, claimed and recovered in bulk.

The stock memory store keeps the keys of partitions that went away, and replays the whole changelog of those that
stayed, one record at a time (5,000-8,000 a second). This one knows each key's partition and each partition's
offset, drops what was lost, and reads what is new in bulk (125,000-217,000 records a second, measured).

Each partition is claimed before it is used, and each record carries its owner's epoch (`agents.fences`), so what a
frozen process writes when it wakes is passed over by whoever reads, and written over again by the owner.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

from faust.stores import STORES
from faust.stores import memory as stock
from faust.types import TP, EventT

from agents.fences import CLAIM, Fence, Reading
from agents.partitions import Partitions, bootstrap

log = logging.getLogger(__name__)

Claim = Callable[[TP, Fence], Awaitable[Any]]
"""Sends a claim; gives what the broker says of the record, its offset say, when it has it."""


class Outrun(Exception):
    """Somebody else claimed the same epoch first: what this process believes of its partitions is old."""


class Store(stock.Store[bytes, bytes]):
    """Keys and values in bytes, by partition; claimed and recovered in bulk."""

    owner = ""
    """This process, as its claims name it."""
    claim: Claim

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keys: defaultdict[int, set[bytes]] = defaultdict(set)
        self._offsets: dict[TP, int] = {}
        self._beyond: defaultdict[TP, set[int]] = defaultdict(set)
        """Our own records behind a gap."""
        self._hidden: dict[int, set[bytes]] = {}
        self.fences: dict[int, Fence] = {}
        """Our own claims."""
        self.term = 0
        """Counts assignments."""
        self.gap = asyncio.Event()
        """Somebody else may have written into a partition of ours."""

    def remember(self, partition: int, key: Any, value: bytes | None) -> None:
        """What a record of the changelog says; None deletes."""
        if value is None:
            self.data.pop(key, None)
            self._keys[partition].discard(key)
        else:
            self.data[key] = value
            self._keys[partition].add(key)

    def keys_of(self, partition: int) -> frozenset[bytes]:
        """The keys of one partition."""
        return frozenset(self._keys[partition])

    def partitions(self) -> set[int]:
        """The changelog partitions that are loaded."""
        numbers = {tp.partition for tp in self._offsets} | self.fences.keys()
        return numbers | {number for number, keys in self._keys.items() if keys}

    def unread(self) -> dict[TP, int]:
        """Each partition's first offset of which we do not know whose it is."""
        return {tp: offset + 1 for tp, offset in self._offsets.items()}

    def is_undisputed(self, partition: int) -> bool:
        """Whether nobody else wrote into this partition of ours before our last record, that we know of."""
        return partition in self.fences and not any(
            offsets for tp, offsets in self._beyond.items() if tp.partition == partition
        )

    def persisted_offset(self, tp: TP) -> int | None:
        """The offset up to which this store has read `tp`; Faust recovers what comes after."""
        return self._offsets.get(tp)

    def set_persisted_offset(self, tp: TP, offset: int) -> None:
        """The broker has our own write at `offset`.

        Only the next offset in order moves the mark. A gap means that another worker wrote in between: a process
        that was frozen, or our successor, while we were.
        """
        mark = self._offsets.get(tp, offset)
        if offset > mark:
            self._beyond[tp].add(offset)
            self.read_up_to(tp, mark + 1)
            if self._beyond[tp]:
                self.gap.set()

    def read_up_to(self, tp: TP, end: int) -> None:
        """All before `end` is known, and so is what we wrote ourselves right behind it."""
        beyond = self._beyond[tp]
        end = max(end, self._offsets.get(tp, -1) + 1)
        while end in beyond:
            end += 1
        self._beyond[tp] = {offset for offset in beyond if offset > end}
        self._offsets[tp] = end - 1

    def apply_changelog_batch(
        self, batch: Iterable[EventT[Any]], to_key: Callable[[Any], Any], to_value: Callable[[Any], Any]
    ) -> None:
        """Records behind our claim, read by Faust's recovery: none of them counts, but they may hide what does."""
        for _ in batch:
            self.gap.set()

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Before recovery: drop the partitions that are no longer ours, claim ours, load the new ones in bulk."""
        self.term += 1
        topic = self.table.changelog_topic.get_topic_name()
        ours = {tp for tp in self.app.assignor.assigned_actives() if tp.topic == topic}
        self._drop(self.partitions() - {tp.partition for tp in ours})
        kept = sorted(tp for tp in ours if tp.partition in self.fences)
        # The same claim again, behind all that we wrote: when it is the next record, nobody else wrote in between.
        ends = await self._claimed({tp: self.fences[tp.partition] for tp in kept})
        changed = {tp for tp, end in ends.items() if self._offsets.get(tp) != end - 1}
        await self.take_over(sorted(ours.difference(kept) | changed))

    async def take_over(self, tps: list[TP]) -> None:
        """Read to the end, claim, and read on up to the claim: what comes later from below it never counts."""
        if not tps:
            return
        self._drop({tp.partition for tp in tps})
        found = {tp: Reading() for tp in tps}
        async with Partitions(bootstrap(self.app), tps) as changelog:
            ends = await changelog.ends()
            async for tp, batch in changelog.read(await changelog.begins(), ends):
                found[tp].take(batch)
            mine = {tp: reading.fence.next(self.owner) for tp, reading in found.items()}
            claimed = await self._claimed(mine)
            async for tp, batch in changelog.read(ends, claimed):
                found[tp].take(batch)
        for tp, reading in found.items():
            if reading.fence != mine[tp]:
                raise Outrun(f"{tp.topic}[{tp.partition}] was claimed by {reading.fence.owner} under our epoch")
            self._load(tp, reading, claimed[tp])

    async def _claimed(self, claims: Mapping[TP, Fence]) -> dict[TP, int]:
        """Make these claims by the producer of every write, so behind all of ours; the offsets after them."""
        sent = await asyncio.gather(*[self.claim(*claim) for claim in claims.items()], return_exceptions=True)
        if failed := [one for one in sent if isinstance(one, BaseException)]:
            raise failed[0]
        ends: dict[TP, Any] = dict(zip(claims, sent, strict=True))
        return {tp: one.offset + 1 for tp, one in ends.items()}

    def _load(self, tp: TP, reading: Reading, end: int) -> None:
        for key, value in reading.values.items():
            if value is not None:
                self.remember(tp.partition, key, value)
        self.fences[tp.partition] = reading.fence
        self.read_up_to(tp, end)
        if reading.hidden:
            self._hidden[tp.partition] = reading.hidden
            self.gap.set()

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """Nothing: stale keys went in `on_rebalance`."""

    def take_hidden(self) -> list[tuple[int, bytes, bytes | None]]:
        """What has to be written again, since a stale record of its key comes behind it."""
        found = [(n, key, self.data.get(key)) for n, keys in self._hidden.items() for key in sorted(keys)]
        self._hidden.clear()
        return found

    def look_at(self, tp: TP, records: Iterable[Any]) -> None:
        """Records in a partition of ours, some of which may be somebody else's."""
        for record in records:
            fence = self.fences.get(tp.partition)
            if fence is None:
                return
            if fence.is_stale(record.key, record.value, record.headers):
                self._hidden.setdefault(tp.partition, set()).add(record.key)
            elif record.key.startswith(CLAIM) and Fence.from_bytes(record.value) != fence:
                log.warning("%s[%s] was claimed by another worker", tp.topic, tp.partition)
                del self.fences[tp.partition]  # nothing is written for it any more; a rebalance must be on its way

    def _drop(self, gone: set[int]) -> None:
        for number in gone:
            for key in self._keys.pop(number, ()):
                self.data.pop(key, None)
            self.fences.pop(number, None)
            self._hidden.pop(number, None)
        for tp in [tp for tp in self._offsets if tp.partition in gone]:
            del self._offsets[tp]
            self._beyond.pop(tp, None)


STORES.aliases["licet"] = "agents.store:Store"
