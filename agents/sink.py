"""The sink: the second Faust app, with its own consumer group. Facts in, rows out, offsets after the commit.

PostgreSQL may be away for an hour: crawls go on, the events wait on the broker, and the batch in hand is tried
again for as long as it takes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from typing import Any

import faust
from faust.types import EventT
from sqlalchemy import Engine

from agents import dead_letters, runtime, versions
from agents.dead_letters import DeadLetter
from agents.health import Health
from agents.sink_metrics import SinkMetrics
from agents.storing import READERS, DatabaseAwayError, Record, Stored, schema_problem, store
from models.database import make_engine
from models.settings import Settings

APP_ID = "licet-sink"
"""Also the consumer group."""
BATCH = 200
WITHIN = 0.2
"""Seconds that a batch may wait to be filled."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 10.0
"""Seconds between tries while the database or the broker is away; doubling."""

log = logging.getLogger("licet.sink")


class Sink:
    """Stores batches, and says how it fares. Faust's part is `build_sink`; this one knows no stream."""

    def __init__(self, engine: Engine, health: Health, metrics: SinkMetrics, letters: faust.Topic) -> None:
        self.engine = engine
        self.health = health
        self.metrics = metrics
        self.next: dict[tuple[str, int], int] = {}
        """(topic, partition) -> the offset after the last one that is stored."""
        self._letters = letters
        self._trouble = ""

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

    async def look(self, app: faust.App) -> None:
        """Refresh readiness and lag."""
        if not self._trouble:
            problem = _unassigned(app) or await asyncio.to_thread(schema_problem, self.engine)
            self.health.set_ready(not problem, problem)
        for topic in READERS:
            self.metrics.lag.labels(topic).set(self._lag(app, topic))

    def _lag(self, app: faust.App, topic: str) -> int:
        """Records between what is stored and the end of each partition that is ours and has been heard of."""
        mine = {tp for tp in app.consumer.assignment() if tp.topic == topic}
        known = [(app.consumer.highwater(tp), self.next.get((tp.topic, tp.partition))) for tp in mine]
        return sum(max(0, end - done) for end, done in known if end is not None and done is not None)


def _record(event: EventT[bytes]) -> Record:
    message = event.message
    return Record(message.topic, message.partition, message.offset, message.timestamp or 0.0, message.value)


def _unassigned(app: faust.App) -> str:
    """Why no events come, as far as the group is concerned (F11); empty text when they do."""
    if app.rebalancing:
        return "the group is rebalancing"
    return "" if app.consumer.assignment() else "no partition is assigned"


def build_sink(settings: Settings, health: Health | None = None, metrics: SinkMetrics | None = None) -> faust.App:
    """The sink as a Faust app. `health` listens where the settings say unless one is given."""
    versions.check()
    engine = make_engine(settings.require_database(), APP_ID)
    # An un-acknowledged event (the database is away) must not hold up a rebalance for ever.
    app = runtime.build_app(settings, APP_ID, stream_wait_empty=False)
    health = health or Health(settings.metrics_host, settings.metrics_port)
    sink = Sink(engine, health, metrics or SinkMetrics(), runtime.raw_topic(app, dead_letters.TOPIC))
    _add_agent(app, sink, runtime.raw_topic(app, *READERS))
    _add_upkeep(app, sink)
    return app


def _add_agent(app: faust.App, sink: Sink, topic: faust.Topic) -> None:
    """The agent, which acknowledges a batch when it is stored and in no other case.

    `take_events` acknowledges in `finally`, so on a cancellation as well, and a consumer that stops commits what
    was acknowledged. So each event is held with one reference more, which only a stored batch gives back.
    """

    async def store_facts(stream: Any) -> None:
        async for batch in stream.take_events(BATCH, within=WITHIN):
            for event in batch:
                event.message.incref()
            await sink.take(batch)
            for event in batch:
                event.ack()

    app.agent(topic, name="agents.sink.store_facts")(store_facts)


def _add_upkeep(app: faust.App, sink: Sink) -> None:
    @app.on_before_shutdown.connect
    async def stopping(*_args: object, **_more: object) -> None:
        sink.health.set_ready(False, "stopping")

    @app.task  # type: ignore[untyped-decorator]
    async def upkeep() -> None:
        await sink.health.start()
        try:
            while not app.should_stop:
                await sink.look(app)
                await asyncio.sleep(1)
        finally:
            await sink.health.stop()
            sink.engine.dispose()
