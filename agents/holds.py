"""Holds: a site that staff stop makes no request from the moment their command is with the broker (E25, W13).

The durable way of a command is intake, mailbox, actor; when the worker that owns its partition of
`operator-commands` is dead or frozen, it takes a session and a rebalance (7.6 s, measured in the model). So every
worker also reads that topic by itself, without a group, and holds the sites that are named. A hold only ever takes
requests away; what becomes of the site is the actor's to decide, and when it has decided that very message the hold
ends. A resumption comes by the mailbox alone.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.intake import message_of
from agents.metrics import HOLD_FAILURES, HOLDS_DROPPED
from models.intake import STAFF_TOPIC
from models.mailbox import Message
from models.wire import Unreadable

log = logging.getLogger(__name__)

STOPPING = frozenset({"suspend-site", "block-site", "erase-site", "unlist-site"})
"""The commands that end what runs at a site."""
LIMIT = 900.0
"""Seconds after which a hold ends whose message never came: it was set aside on its way, or decided so long ago that
the actor has forgotten its id. Far beyond a session, a rebalance and a recovery."""
LOOK_BACK = 300.0
"""Seconds before its start from which a worker hears commands: one said just before may still be on its way to the
mailbox. What was decided since then is known by its id, so nothing old holds anything up."""
AGAIN = 1.0
"""Seconds until a reader that failed is started again."""


class Holds:
    """Which sites are held, and by which messages."""

    def __init__(self, decided: Callable[[str, str], bool]) -> None:
        self._decided = decided
        """Whether the actor of a site has decided the message of this id."""
        self._held: dict[str, dict[str, float]] = {}

    def say(self, message: Message, now: float) -> None:
        """A command was heard; the same one again changes nothing."""
        if message.type in STOPPING:
            self._held.setdefault(message.site, {}).setdefault(message.id, now)

    def held(self, site: str, now: float) -> bool:
        """Whether no request may be made at a site of ours (E25, W13)."""
        messages = self._held.get(site)
        if messages is None:
            return False
        for message, since in list(messages.items()):
            if self._decided(site, message):
                del messages[message]
            elif now - since > LIMIT:
                log.warning("%s is held no longer: the command %s never came to it", site, message)
                HOLDS_DROPPED.inc()
                del messages[message]
        if not messages:
            del self._held[site]
        return bool(messages)

    def sweep(self, now: float) -> None:
        """Forget what is long over; most of it was about sites of other workers."""
        for site, messages in list(self._held.items()):
            if all(now - since > 2 * LIMIT for since in messages.values()):
                del self._held[site]


class HoldReader:
    """Reads the commands of staff, all partitions, without a group. When it fails, it starts again where it was."""

    def __init__(self, bootstrap: str, partitions: int, holds: Holds) -> None:
        self._bootstrap = bootstrap
        self._places = [TopicPartition(STAFF_TOPIC, number) for number in range(partitions)]
        self._holds = holds
        self._next: dict[TopicPartition, int] = {}
        self._began = time.time()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read."""
        self._task = asyncio.create_task(self._run(), name="holds")

    async def stop(self) -> None:
        """Read no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 - the durable way goes on without us; liveness is not ours to harm
                HOLD_FAILURES.inc()
                log.warning("commands are not heard ahead of the mailbox for a moment: %r", error)
            await asyncio.sleep(AGAIN)

    async def _read(self) -> None:
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap, group_id=None, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        await consumer.start()
        try:
            consumer.assign(self._places)
            await self._seek(consumer)
            while True:
                for place, records in (await consumer.getmany(timeout_ms=1000)).items():
                    for record in records:
                        self._hear(record)
                    self._next[place] = records[-1].offset + 1
                self._holds.sweep(time.monotonic())
        finally:
            await consumer.stop()

    async def _seek(self, consumer: AIOKafkaConsumer) -> None:
        """To where we were, at first to a while before our start."""
        if not self._next:
            since = int((self._began - LOOK_BACK) * 1000)
            found = await consumer.offsets_for_times(dict.fromkeys(self._places, since))
            ends = await consumer.end_offsets(self._places)
            self._next = {tp: at.offset if (at := found.get(tp)) else ends[tp] for tp in self._places}
        for place, offset in self._next.items():
            consumer.seek(place, offset)

    def _hear(self, record: Any) -> None:
        try:
            at = record.timestamp / 1000
            message = message_of(record.topic, record.partition, record.offset, at, record.value)
        except Unreadable:
            return  # intake sets it aside
        except Exception:
            log.exception("a command was not understood: %s[%d]@%d", record.topic, record.partition, record.offset)
            return
        self._holds.say(message, time.monotonic())
