"""Partitions, read with a plain client: in bulk, in no group, apart from Faust, from an offset up to their ends."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Mapping
from math import inf
from typing import Any, Self

from aiokafka import AIOKafkaConsumer, TopicPartition
from faust.types import TP

Offsets = Mapping[TP, int]


def bootstrap(app: Any) -> str:
    """The app's brokers as a plain client takes them."""
    return ",".join(f"{url.host}:{url.port}" for url in app.conf.broker)


class Partitions:
    """Some partitions, for as long as the block lasts. All calls raise the client's KafkaError."""

    def __init__(self, brokers: str, tps: Iterable[TP]) -> None:
        self._wanted = [TopicPartition(tp.topic, tp.partition) for tp in tps]
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=brokers,
            auto_offset_reset="earliest",  # where retention overtakes us; the default is to leap to the end
            enable_auto_commit=False,
            max_partition_fetch_bytes=4 << 20,
        )

    async def __aenter__(self) -> Self:
        try:
            await self._consumer.start()
        except BaseException:
            await self._consumer.stop()
            raise
        self._consumer.assign(self._wanted)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._consumer.stop()

    async def begins(self) -> dict[TP, int]:
        """Each partition's first offset."""
        return {TP(*tp): at for tp, at in (await self._consumer.beginning_offsets(self._wanted)).items()}

    async def ends(self) -> dict[TP, int]:
        """Each partition's end: the offset that its next record gets."""
        return {TP(*tp): at for tp, at in (await self._consumer.end_offsets(self._wanted)).items()}

    async def read(
        self, begins: Offsets, ends: Offsets, *, most: int = 20_000, patience: float = inf
    ) -> AsyncIterator[tuple[TP, list[Any]]]:
        """The records from `begins` up to `ends`, in batches of one partition and of at most so many records.

        Read until the *position* reaches the end: compaction leaves gaps, so the last record may be far before it.
        Raises TimeoutError after `patience` seconds without a record: the client itself would wait for ever.
        """
        consumer, heard = self._consumer, time.monotonic()
        # Not `seek_to_beginning`: it races with the client's own reset to the end, and now and then a partition came
        # out empty (measured: one of ten rebalances).
        for place, begin in begins.items():
            consumer.seek(TopicPartition(*place), begin)
        behind = [TopicPartition(*tp) for tp, begin in begins.items() if begin < ends[tp]]
        while behind:
            for place, batch in (await consumer.getmany(*behind, timeout_ms=1000, max_records=most)).items():
                end, heard = ends[TP(*place)], time.monotonic()
                yield TP(*place), batch if batch[-1].offset < end else [one for one in batch if one.offset < end]
            behind = [tp for tp in behind if await consumer.position(tp) < ends[TP(*tp)]]
            if time.monotonic() - heard > patience:
                raise TimeoutError(f"no record for {patience:g} s")
