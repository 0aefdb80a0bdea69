"""What the sink does with a batch: it returns when all of it is safe, and never gives up before.

A database or a broker that is away is waited for, with the batch in hand; a bad record becomes a dead letter.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

import faust
from faust.types import EventT
from sqlalchemy import Engine

from agents.dead_letters import DeadLetter
from agents.health import Health
from agents.sink_metrics import SinkMetrics
from agents.storing import READERS, DatabaseAwayError, Record, Stored, schema_problem, store

FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
"""Seconds between tries while the database or the broker is away; doubling."""

log = logging.getLogger(__name__)


class Batches:
    """Stores batches, and says how it fares."""

    def __init__(self, engine: Engine, health: Health, metrics: SinkMetrics, letters: faust.Topic) -> None:
        self.engine = engine
        self.health = health
        self.metrics = metrics
        self.next: dict[tuple[str, int], int] = {}
        """(topic, partition) -> the offset after the last one that is stored."""
        self._letters = letters
        self._trouble = ""

    @property
    def waits(self) -> bool:
        """Whether the batch in hand waits for the database or the broker."""
        return bool(self._trouble)

    async def take(self, batch: Sequence[EventT[bytes]]) -> None:
        """Return when the batch is committed and its dead letters are on the broker; never before, never by raising.

        Only a cancellation ends it otherwise, and then nothing of the batch is acknowledged.
        """
        started = time.monotonic()
        records = [_record(event) for event in batch]
        self._seen(records)
        stored = await self._insist(records)
        self._done(records, stored)
        self.metrics.seconds.observe(time.monotonic() - started)

    async def _insist(self, records: Sequence[Record]) -> Stored:
        """Try until it works. What is tried again is idempotent, dead letters included (they have a key)."""
        wait = FIRST_WAIT
        while True:
            try:
                stored = await asyncio.to_thread(store, self.engine, records)
                await self._set_aside(stored.letters)
            except DatabaseAwayError as error:
                self._away(str(error))
                if error.slow and len(records) > 1:
                    half = len(records) // 2
                    return await self._insist(records[:half]) + await self._insist(records[half:])
            except Exception as error:
                # whatever it is: an escape from the agent would lose the whole batch
                self._away(f"{type(error).__name__} while storing")
                log.exception("A batch of %d could not be stored; it is tried again", len(records))
            else:
                self._back()
                return stored
            self.metrics.retries.inc()
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def _set_aside(self, letters: Sequence[DeadLetter]) -> None:
        """All on the broker before anything is acknowledged."""
        sent = [
            await self._letters.send(key=letter.key, value=letter.value, headers=letter.headers) for letter in letters
        ]
        for acknowledged in sent:
            await acknowledged

    def _away(self, trouble: str) -> None:
        """Say it once, not once for each try; new connections, since the old ones may be half dead (F23)."""
        if trouble != self._trouble:
            log.warning("Waiting, nothing is lost: %s", trouble)
        self._trouble = trouble
        self.metrics.away.set(1)
        self.health.set_ready(False, trouble)
        self.engine.dispose()

    def _back(self) -> None:
        if self._trouble:
            log.warning("Storing again")
        self._trouble = ""
        self.metrics.away.set(0)

    def _seen(self, records: Sequence[Record]) -> None:
        for record in records:
            self.metrics.records.labels(record.topic).inc()
            self.next.setdefault((record.topic, record.partition), record.offset)

    def _done(self, records: Sequence[Record], stored: Stored) -> None:
        for record in records:
            self.next[record.topic, record.partition] = record.offset + 1
        self.metrics.batches.inc()
        self.metrics.rows.inc(stored.rows)
        for letter in stored.letters:
            self.metrics.letters.labels(letter.cause).inc()
            where = f"{letter.topic}/{letter.partition}/{letter.offset}"
            log.warning("Dead letter %s: %s", where, letter.cause)

    async def look(self, app: faust.App) -> bool:
        """Refresh readiness and lag. Gives the readiness."""
        if not self._trouble:
            problem = unassigned(app) or await asyncio.to_thread(schema_problem, self.engine)
            self.health.set_ready(not problem, problem)
        for topic in READERS:
            self.metrics.lag.labels(topic).set(self._lag(app, topic))
        return self.health.ready

    def _lag(self, app: faust.App, topic: str) -> int:
        """Records between what is stored and the end of each partition that is ours and has been heard of."""
        mine = {tp for tp in app.consumer.assignment() if tp.topic == topic}
        known = [(app.consumer.highwater(tp), self.next.get((tp.topic, tp.partition))) for tp in mine]
        return sum(max(0, end - done) for end, done in known if end is not None and done is not None)


def _record(event: EventT[bytes]) -> Record:
    message = event.message
    return Record(message.topic, message.partition, message.offset, message.timestamp or 0.0, message.value)


def unassigned(app: faust.App) -> str:
    """Why no events come, as far as the group is concerned (F11); empty text when they do."""
    if app.rebalancing:
        return "the group is rebalancing"
    return "" if app.consumer.assignment() else "no partition is assigned"
