"""The sink: the second Faust app, with its own consumer group. Facts in, rows out, offsets after the commit.

PostgreSQL may be away for an hour: crawls go on, the events wait on the broker, and the batch in hand is tried
again for as long as it takes. A sink that takes nothing although the broker and the database are there says so, and a
supervisor starts a new one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import TopicPartition

from agents import dead_letters
from agents.batches import Batches, unassigned
from agents.health import Health
from agents.partitions import bootstrap
from agents.runtime import build_app, raw_topic
from agents.sink_metrics import SinkMetrics
from agents.storing import READERS
from agents.vitals import Vitals
from models.database import make_engine
from models.settings import Settings

APP_ID = "licet-sink"
"""Also the consumer group."""
BATCH = 200
WITHIN = 0.2
"""Seconds that a batch may wait to be filled."""


class Sink:
    """The service: its app, and what is around it. Nothing is connected before `start`."""

    def __init__(self, settings: Settings, health: Health, metrics: SinkMetrics | None = None) -> None:
        # An un-acknowledged event (the database is away) must not hold up a rebalance for ever. By the client id the
        # sink finds itself in the broker's list of the group.
        more: dict[str, Any] = {"stream_wait_empty": False, "broker_client_id": settings.name}
        self.app = build_app(settings, APP_ID, **more)
        self.app.on_passed_over = self._passed_over
        self.failure: asyncio.Future[BaseException] | None = None
        self.metrics = metrics or SinkMetrics()
        self._engine = make_engine(settings.require_database(), APP_ID)
        letters = raw_topic(self.app, dead_letters.TOPIC)
        self._batches = Batches(self._engine, health, self.metrics, letters)
        self.vitals = Vitals(
            bootstrap(self.app), APP_ID, settings.name, interval=settings.heartbeat_interval,
            session=settings.session_timeout, asks_group=not settings.embedded,
        )  # fmt: skip
        self.vitals.waiting = self._taken
        health.unready, health.deaf = self.vitals.unready, self.vitals.deaf
        self._upkeep: asyncio.Task[None] | None = None
        self.app.agent(raw_topic(self.app, *READERS), name="sink", concurrency=1)(self._store)

    async def start(self) -> None:
        """Start reading."""
        self.failure = asyncio.get_running_loop().create_future()
        self.vitals.start()
        self.app.finalize()
        await self.app.start()
        self._upkeep = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Stop; a batch that is not stored stays un-acknowledged and comes again."""
        if self._upkeep is not None:
            self._upkeep.cancel()
        await self.vitals.stop()
        await self.app.stop()
        self._engine.dispose()

    def _passed_over(self, error: BaseException) -> None:
        """Faust dropped events: the next process begins where the database really is."""
        if self.failure is not None and not self.failure.done():
            self.failure.set_result(error)

    async def _store(self, stream: Any) -> None:
        """The agent: it acknowledges a batch when it is stored, and in no other case.

        `take_events` acknowledges in `finally`, so on a cancellation as well, and a consumer that stops commits
        what was acknowledged (measured: a stop during an outage lost the batch). So each event is held with one
        reference more, which only a stored batch gives back.
        """
        async for batch in stream.take_events(BATCH, within=WITHIN):
            for event in batch:
                event.message.incref()
            await self._batches.take(batch)
            for event in batch:
                event.ack()

    def _taken(self) -> list[TopicPartition]:
        """What a sink that is not deaf takes from; nothing while a batch waits for the database."""
        if self._batches.waits or not self.vitals.assigned:
            return []
        return [TopicPartition(*tp) for tp in self.app.consumer.assignment() if tp.topic in READERS]

    async def _look(self) -> None:
        while True:
            self.vitals.assigned = not unassigned(self.app)
            ready = await self._batches.look(self.app)
            await asyncio.sleep(5 if ready else 1)
