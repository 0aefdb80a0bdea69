"""The sink: the second Faust app, with its own consumer group. Facts in, rows out, offsets after the commit.

PostgreSQL may be away for an hour: crawls go on, the events wait on the broker, and the batch in hand is tried
again for as long as it takes.
"""

from __future__ import annotations

import asyncio
from typing import Any

from agents import dead_letters
from agents.batches import Batches
from agents.health import Health
from agents.runtime import build_app, raw_topic
from agents.sink_metrics import SinkMetrics
from agents.storing import READERS
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
        # An un-acknowledged event (the database is away) must not hold up a rebalance for ever.
        self.app = build_app(settings, APP_ID, stream_wait_empty=False)
        self.app.on_passed_over = self._passed_over
        self.failure: asyncio.Future[BaseException] | None = None
        self.metrics = metrics or SinkMetrics()
        self._engine = make_engine(settings.require_database(), APP_ID)
        letters = raw_topic(self.app, dead_letters.TOPIC)
        self._batches = Batches(self._engine, health, self.metrics, letters)
        self._upkeep: asyncio.Task[None] | None = None
        self.app.agent(raw_topic(self.app, *READERS), name="sink", concurrency=1)(self._store)

    async def start(self) -> None:
        """Start reading."""
        self.failure = asyncio.get_running_loop().create_future()
        self.app.finalize()
        await self.app.start()
        self._upkeep = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Stop; a batch that is not stored stays un-acknowledged and comes again."""
        if self._upkeep is not None:
            self._upkeep.cancel()
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

    async def _look(self) -> None:
        while True:
            ready = await self._batches.look(self.app)
            await asyncio.sleep(5 if ready else 1)
