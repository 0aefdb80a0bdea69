"""The actors' memory: one Faust table, with a store of our own (`agents.store`) behind Faust's public interface.

A write is `put`: local at once, and an awaitable that is done when the broker has it. Faust's own `table[k] = v`
is never used: it lost up to 73 writes whose offsets were already committed (measured).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any

import faust
from faust.types import TP

from agents.fences import Fence, claim_key
from agents.partitions import Partitions, bootstrap
from agents.store import Store

log = logging.getLogger(__name__)

LOOK = 10.0
"""Seconds between two looks for records of somebody else, besides the look when our own offsets have a gap. Below the
changelog's min.compaction.lag.ms: until then no record that counts is compacted away for one that hides it."""


class Memory:
    """The table, as the actors use it: text keys, bytes values, explicit partitions, awaited writes."""

    def __init__(
        self, app: faust.App, partitions: int, on_failure: Callable[[BaseException], None], owner: str
    ) -> None:
        self._app = app
        self._table = app.Table(
            "sites", key_type=bytes, value_type=bytes, partitions=partitions, store="licet://sites"
        )
        self._on_failure = on_failure
        self.store.owner, self.store.claim = owner, self._claim

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

    def holds(self, partition: int) -> bool:
        """Whether this partition is claimed by this process, as far as it knows."""
        return partition in self.store.fences

    def is_undisputed(self, partition: int) -> bool:
        """Whether this partition is ours, and nobody else wrote into it before our last record."""
        return self.store.is_undisputed(partition)

    def put(self, partition: int, key: str, value: bytes | None) -> Awaitable[Any]:
        """Write (None deletes): visible here at once, done when the broker has it.

        A write that fails leaves memory ahead of the log, so it stops the worker: the next owner starts from
        what the broker has.
        """
        raw = key.encode()
        future = self._send(partition, raw, value, self.store.fences.get(partition, Fence()))
        self.store.remember(partition, raw, value)
        return future

    def _send(self, partition: int, key: bytes, value: bytes | None, fence: Fence) -> Awaitable[Any]:
        future = self._table.changelog_topic.send_soon(
            key=key, value=value, partition=partition, headers=fence.headers, key_serializer="raw",
            value_serializer="raw",
        )  # fmt: skip
        future.add_done_callback(self._check)
        return future

    def _claim(self, tp: TP, fence: Fence) -> Awaitable[Any]:
        return self._send(tp.partition, claim_key(tp.partition), fence.to_bytes(), fence)

    def _check(self, future: Any) -> None:
        if future.cancelled():
            return
        if future.exception() is not None:
            self._on_failure(future.exception())
            return
        sent = future.result()
        self.store.set_persisted_offset(TP(sent.topic, sent.partition), sent.offset)

    async def watch(self) -> None:
        """For as long as the worker runs: what a stale record hides is written again, before compaction loses it."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self.store.gap.wait()
            try:
                await self.mend()
            except Exception as error:  # noqa: BLE001 - the broker is away: looked for again until it is back
                log.warning("the changelog cannot be looked into now: %r", error)
                await asyncio.sleep(1.0)

    async def mend(self) -> None:
        """Read what others wrote into our partitions; write again what it hides."""
        store, begins = self.store, self.store.unread()
        term = store.term
        store.gap.clear()
        if not begins:
            return
        async with Partitions(bootstrap(self._app), begins) as changelog:
            ends = await changelog.ends()
            behind = {tp: begin for tp, begin in begins.items() if begin < ends[tp]}
            async for tp, batch in changelog.read(behind, ends):
                if store.term != term:
                    return
                store.look_at(tp, batch)
        if store.term != term:
            return
        for tp in behind:
            if tp.partition in store.fences:
                store.read_up_to(tp, ends[tp])
        again = store.take_hidden()
        for partition, key, value in again:
            log.warning(
                "%r in partition %s was overwritten by a process that is no owner; written again", key, partition
            )
            self.put(partition, key.decode(), value)
