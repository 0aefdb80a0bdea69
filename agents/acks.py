"""Offsets are committed without a hole: Faust's consumer, with the one rule that it lacks.

Stock Faust commits past events that nobody has dealt with. In a rebalance it drops records that it has fetched, its
position stays behind them, and what was not read counts as a gap (of a compacted topic, say) and is committed with
the next acknowledgement; so do a first event beyond the committed offset, and a single missing one. Measured under
chaos: two crawls that had been acknowledged to their customer were never heard of again.

Here a hole is committed only when the broker says that there is no record in it. When there is one, and it is not
taken within `PATIENCE`, the process ends, and the next one starts from what was really committed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from aiokafka import AIOKafkaConsumer, TopicPartition
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread
from faust.transport.drivers.aiokafka import Consumer as StockConsumer
from faust.types import TP
from mode.services import WaitResults

from agents.eager import Ended, begin

log = logging.getLogger(__name__)

PATIENCE = 10.0
"""Seconds: what was passed over in a rebalance is usually read again at its end."""

FETCH_WAIT = 100
"""Milliseconds that the broker holds back an empty answer; Faust says 1,500. The client asks a broker one thing at a
time, so a question about idle partitions that is out keeps the next records of a busy one waiting (measured: 10,000
events of one partition, all at once, took 2.0 s instead of 1.6)."""


BUSY_WAIT = 0.01
"""Seconds between two looks whether a stream has room again."""


class PassedOver(Exception):
    """Events were fetched and never handed to us."""


@dataclass(slots=True)
class Hole:
    """Offsets that were not acknowledged although a later one was."""

    begin: int
    end: int
    since: float
    asked: bool = False
    empty: bool = False


def advance(base: int, acked: Iterable[int], hole: Hole | None) -> tuple[int, int | None]:
    """The offset that may be committed from `base` on, and the first acknowledged one beyond a hole, if there is one.

    `hole`, when it is known to hold no record, is stepped over.
    """
    end = base
    for offset in sorted(acked):
        if hole is not None and hole.empty and end == hole.begin and offset >= hole.end:
            end = hole.end
        if offset > end:
            return end, offset
        end = max(end, offset + 1)
    return end, None


class Thread(AIOKafkaConsumerThread):
    """Faust's thread around the client."""

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        consumer = super()._create_worker_consumer(transport)
        consumer._fetch_max_wait_ms = FETCH_WAIT  # noqa: SLF001 - Faust fixes it, and has no setting for it
        return consumer


class Consumer(StockConsumer):
    """Faust's consumer for aiokafka; its bookkeeping of acknowledgements stays, what may be committed is ours."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._base: dict[TP, int] = {}
        self._holes: dict[TP, Hole] = {}
        self._asking: set[asyncio.Task[None]] = set()

    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return Thread(self, loop=self.loop, beacon=self.beacon)

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """As ever, but all partitions at once; and remember where each begins for us."""
        thread = self._thread
        found: Mapping[TP, int] = await thread.call_thread(seek_at_once, thread._ensure_consumer())  # noqa: SLF001 - Faust's driver is pinned
        ours = {TP(*tp): offset for tp, offset in found.items() if self.app.topics.acks_enabled_for(tp.topic)}
        if new := [tp for tp, offset in ours.items() if offset is None or offset < 0]:
            starts = {TP(*tp): offset for tp, offset in (await self.earliest_offsets(*new)).items()}
            for tp, offset in starts.items():  # stock Faust leaves them where a dropped fetch has brought them
                await self._seek(tp, offset)
            ours |= starts
        for tp, offset in ours.items():
            self._base[tp] = offset
            self._holes.pop(tp, None)
        return found

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> Any:  # noqa: ASYNC109 - Faust's signature
        """As ever; but while a stream has enough, its partition is asked about again soon.

        Faust waits a second for the idle ones meanwhile, and the busy one with them (measured).
        """
        if self._buffered_partitions:
            timeout = min(timeout, BUSY_WAIT)
        return await super()._getmany(active_partitions, timeout)

    async def wait_first(self, *coros: Any, timeout: Any = None) -> Any:  # noqa: ASYNC109 - Faust's signature
        """As ever; but what ends without waiting for anything needs no tasks: four for each event of a flood.

        Faust hands every event on through this, next to the wait for a rebalance.
        """
        if len(coros) == 2 and timeout is None and asyncio.iscoroutine(coros[0]):
            work, other = coros
            try:
                begun = begin(work)
            except BaseException:
                other.close()
                raise
            if isinstance(begun, Ended):
                other.close()
                return WaitResults([work], [begun.value], False)
            coros = (begun, other)
        return await super().wait_first(*coros, timeout=timeout)

    async def _add_gap(self, tp: TP, offset_from: int, offset_to: int) -> None:
        """Never believed: see `_new_offset`."""

    def _new_offset(self, tp: TP) -> int | None:
        base, acked = self._base.get(tp), self._acked[tp]
        if base is None or not acked:
            return None  # where the partition begins for us is not known yet
        # A commit of ours that was on its way while the rebalance asked for the committed offsets: Faust takes no
        # acknowledgement below it, so what was read again from before it would be a hole for ever (measured).
        base = max(base, self._committed_offset[tp] or 0)
        end, beyond = advance(base, acked, self._holes.get(tp))
        if beyond is not None:
            self._look_into(tp, end, beyond)
        else:
            self._holes.pop(tp, None)
        if end == self._base[tp]:
            return None
        done = [offset for offset in acked if offset < end]
        acked[:] = [offset for offset in acked if offset >= end]
        self._acked_index[tp].difference_update(done)
        self._base[tp] = end
        return end

    def _look_into(self, tp: TP, begin: int, end: int) -> None:
        now = time.monotonic()
        hole = self._holes.get(tp)
        if hole is None or (hole.begin, hole.end) != (begin, end):
            since = hole.since if hole is not None and hole.begin == begin else now
            hole = self._holes[tp] = Hole(begin, end, since)
        if not hole.asked and now - hole.since > PATIENCE:
            hole.asked = True
            task = asyncio.create_task(self._ask(tp, hole))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _ask(self, tp: TP, hole: Hole) -> None:
        """Whether there is a record in the hole; transactions and compaction leave some without."""
        try:
            async with asyncio.timeout(10.0):
                lost = await first_record(self.app, tp, hole)
        except Exception as error:  # noqa: BLE001 - asked again with the next commit
            log.warning("the hole in %s could not be looked into: %r", tp, error)
            hole.asked = False
            return
        if lost is None:
            hole.empty = True
        elif self._holes.get(tp) is hole:
            cast("Any", self.app).on_passed_over(
                PassedOver(f"{tp.topic}[{tp.partition}]@{lost} was fetched and not handed on")
            )


async def seek_at_once(consumer: AIOKafkaConsumer) -> dict[TopicPartition, int | None]:
    """The client's own `seek_to_committed` asks for one partition after the other: 1.6 s for 44 (measured)."""
    tps = sorted(consumer.assignment())
    offsets = await asyncio.gather(*(consumer.committed(tp) for tp in tps))
    found = dict(zip(tps, offsets, strict=True))
    for tp, offset in found.items():
        if offset:
            consumer.seek(tp, offset)
    return found


async def first_record(app: Any, tp: TP, hole: Hole) -> int | None:
    """The offset of the first record in a hole; None when there is none."""
    servers = ",".join(f"{url.host}:{url.port}" for url in app.conf.broker)
    place = TopicPartition(tp.topic, tp.partition)
    consumer = AIOKafkaConsumer(bootstrap_servers=servers, enable_auto_commit=False)
    try:
        await consumer.start()
        consumer.assign([place])
        consumer.seek(place, max(hole.begin, (await consumer.beginning_offsets([place]))[place]))
        record = await consumer.getone(place)  # there is one: the record at the hole's end
        return int(record.offset) if record.offset < hole.end else None
    finally:
        await consumer.stop()
