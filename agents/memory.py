"""The actors' memory: one Faust table, with a store of our own behind Faust's public store interface.

The stock memory store keeps the keys of partitions that went away, and replays the whole changelog of those that
stayed, one record at a time (5,000-8,000 a second). This one knows each key's partition and each partition's
offset, drops what was lost, and reads what is new in bulk (125,000-206,000 records a second, measured).

A write is `put`: local at once, and an awaitable that is done when the broker has it. Faust's own `table[k] = v`
is never used: it lost up to 73 writes whose offsets were already committed (measured).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any

import faust
from aiokafka import AIOKafkaConsumer, TopicPartition
from faust.stores import STORES
from faust.stores import memory as stock
from faust.types import TP, EventT

Records = dict[bytes, bytes]


class Store(stock.Store[bytes, bytes]):
    """Keys and values in bytes, by partition; recovery in bulk."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._keys: defaultdict[int, set[bytes]] = defaultdict(set)
        self._offsets: dict[TP, int] = {}

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
        return {tp.partition for tp in self._offsets} | {number for number, keys in self._keys.items() if keys}

    def persisted_offset(self, tp: TP) -> int | None:
        """The offset up to which this store has read `tp`; Faust recovers what comes after."""
        return self._offsets.get(tp)

    def set_persisted_offset(self, tp: TP, offset: int) -> None:
        """Faust says that the broker has our own write at `offset`.

        Only the next offset in order moves the mark. A gap means that another worker wrote in between (this
        process was frozen, say), and those records have to be read at the next rebalance.
        """
        if offset == self._offsets.get(tp, -1) + 1:
            self._offsets[TP(tp.topic, tp.partition)] = offset

    def apply_changelog_batch(
        self, batch: Iterable[EventT[Any]], to_key: Callable[[Any], Any], to_value: Callable[[Any], Any]
    ) -> None:
        """Records that Faust's own recovery read after the bulk load."""
        for event in batch:
            message = event.message
            self.remember(message.partition, message.key, message.value)
            tp = TP(message.topic, message.partition)
            self._offsets[tp] = max(message.offset, self._offsets.get(tp, -1))

    async def on_rebalance(
        self, assigned: set[TP], revoked: set[TP], newly_assigned: set[TP], generation_id: int = 0
    ) -> None:
        """Before recovery: drop the partitions that are no longer ours, load the new ones in bulk."""
        topic = self.table.changelog_topic.get_topic_name()
        ours = {tp for tp in self.app.assignor.assigned_actives() if tp.topic == topic}
        self._drop({tp.partition for tp in ours})
        new = sorted(tp for tp in ours if tp not in self._offsets)
        if new:
            for tp, records, end in await read_changelog(self.app, new):
                for key, value in records.items():
                    self.remember(tp.partition, key, value)
                if end > 0:
                    self._offsets[tp] = end - 1

    async def on_recovery_completed(self, active_tps: set[TP], standby_tps: set[TP]) -> None:
        """Nothing: stale keys went in `on_rebalance`."""

    def _drop(self, kept: set[int]) -> None:
        for number in [number for number in self._keys if number not in kept]:
            for key in self._keys.pop(number):
                self.data.pop(key, None)
        self._offsets = {tp: offset for tp, offset in self._offsets.items() if tp.partition in kept}


STORES.aliases["licet"] = "agents.memory:Store"


def bootstrap(app: Any) -> str:
    """The app's brokers as a plain client takes them."""
    return ",".join(f"{url.host}:{url.port}" for url in app.conf.broker)


async def read_changelog(app: Any, tps: list[TP]) -> list[tuple[TP, Records, int]]:
    """The newest value of every key in `tps`, and each partition's end offset.

    Read until the *position* reaches the end: compaction leaves gaps, so the last record may be far before it.
    """
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap(app),
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        max_partition_fetch_bytes=4 << 20,
    )
    await consumer.start()
    try:
        wanted = [TopicPartition(tp.topic, tp.partition) for tp in tps]
        consumer.assign(wanted)
        ends = await consumer.end_offsets(wanted)
        # Not `seek_to_beginning`: it races with the client's own reset to the end, and now and then a partition came
        # out empty (measured: one of ten rebalances).
        for tp, begin in (await consumer.beginning_offsets(wanted)).items():
            consumer.seek(tp, begin)
        records: dict[TopicPartition, Records] = {tp: {} for tp in wanted}
        behind = [tp for tp in wanted if await consumer.position(tp) < ends[tp]]
        while behind:
            for tp, batch in (await consumer.getmany(*behind, timeout_ms=1000, max_records=20_000)).items():
                _apply(records[tp], batch)
            behind = [tp for tp in behind if await consumer.position(tp) < ends[tp]]
        return [(TP(tp.topic, tp.partition), records[tp], ends[tp]) for tp in wanted]
    finally:
        await consumer.stop()


def _apply(records: Records, batch: Iterable[Any]) -> None:
    for record in batch:
        if record.value is None:
            records.pop(record.key, None)
        else:
            records[record.key] = record.value


class Memory:
    """The table, as the actors use it: text keys, bytes values, explicit partitions, awaited writes."""

    def __init__(self, app: faust.App, partitions: int, on_failure: Callable[[BaseException], None]) -> None:
        self._table = app.Table(
            "sites", key_type=bytes, value_type=bytes, partitions=partitions, store="licet://sites"
        )
        self._on_failure = on_failure

    @property
    def store(self) -> Store:
        """The store behind the table."""
        store: Store = self._table.data  # type: ignore[assignment]
        return store

    def get(self, key: str) -> bytes | None:
        """The value of a key, as last written or recovered."""
        value: bytes | None = self.store.data.get(key.encode())
        return value

    def items(self, partition: int) -> Iterator[tuple[str, bytes]]:
        """The keys and values of one partition."""
        for key in self.store.keys_of(partition):
            yield key.decode(), self.store.data[key]

    def put(self, partition: int, key: str, value: bytes | None) -> Awaitable[Any]:
        """Write (None deletes): visible here at once, done when the broker has it.

        A write that fails leaves memory ahead of the log, so it stops the worker: the next owner starts from
        what the broker has.
        """
        raw = key.encode()
        future = self._table.send_changelog(partition, raw, value, key_serializer="raw", value_serializer="raw")
        self.store.remember(partition, raw, value)
        future.add_done_callback(self._check)
        return future

    def _check(self, future: Any) -> None:
        if not future.cancelled() and future.exception() is not None:
            self._on_failure(future.exception())
