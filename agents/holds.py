"""A stop is heard by every worker at once (E25), whoever may be slow to put it into its site's mailbox.

`operator-commands` goes to sites by way of the worker that owns its partition; when that one is dead or frozen, a
session passes before another takes its place (7.6 s, in the model). So each worker reads that topic for itself, and a
site that a stop names is held: no request is made there. What the command does and what is recorded of it is the
mailbox's affair as ever; the hold ends when the site has decided the message, and its own state says the rest. A
resumption is heard in the mailbox alone, so it never comes early.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.intake import message_of
from agents.metrics import HOLD_FAILURES
from models import topics
from models.intake import STAFF_TOPIC
from models.mailbox import Message
from models.wire import Unreadable

log = logging.getLogger(__name__)

STOPS = frozenset({"suspend-site", "block-site", "erase-site", "unlist-site"})
"""Commands that end what runs at a site (E25, W01, W13)."""


class Holds:
    """Which sites are held, and by which commands. A command is the place of its record."""

    def __init__(self) -> None:
        self._held: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
        self._next: dict[int, int] = {}
        """Partition -> the offset that is heard next."""
        self._early: set[tuple[int, int]] = set()
        """Decided before we heard them here; at most what is on its way to us."""

    def begin(self, offsets: Mapping[int, int]) -> None:
        """From here on we hear; what is before it is in the mailboxes already."""
        self._next = {**offsets, **self._next}
        self._early = {place for place in self._early if place[1] >= self._next.get(place[0], 0)}

    @property
    def positions(self) -> dict[int, int]:
        """Where to go on after an interruption."""
        return dict(self._next)

    def hear(self, record: Any) -> None:
        """One record of `operator-commands`; what is none, intake sets aside."""
        place = (record.partition, record.offset)
        self._next[record.partition] = record.offset + 1
        if place in self._early:
            self._early.discard(place)
            return
        try:
            message = message_of(STAFF_TOPIC, *place, record.timestamp / 1000, record.value)
        except Unreadable:
            return
        except Exception:
            log.exception("a command was not understood: %s[%d]@%d", STAFF_TOPIC, *place)
            return
        if message.type in STOPS:
            self._held[message.site].add(place)

    def decided(self, message: Message) -> None:
        """A message of a site's mailbox was dealt with: what it came from holds the site no longer."""
        origin = message.origin
        if origin.topic != STAFF_TOPIC:
            return
        place = (origin.partition, origin.offset)
        if origin.offset >= self._next.get(origin.partition, 0):
            self._early.add(place)
        self._release(message.site, {place})

    def forwarded(self, committed: Mapping[int, int]) -> None:
        """All commands before these offsets are in their sites' mailboxes, which are heard before any request."""
        for site in list(self._held):
            self._release(site, {place for place in self._held[site] if place[1] < committed.get(place[0], 0)})

    def held(self, site: str) -> bool:
        """Whether a stop that the site has not decided yet names it."""
        return site in self._held

    def _release(self, site: str, places: set[tuple[int, int]]) -> None:
        if site in self._held:
            self._held[site] -= places
            if not self._held[site]:
                del self._held[site]


def partitions() -> list[TopicPartition]:
    """Those of the topic."""
    return [TopicPartition(STAFF_TOPIC, number) for number in range(topics.by_name()[STAFF_TOPIC].partitions)]


async def committed(bootstrap: str, group: str) -> dict[int, int]:
    """Partition -> how far the group has put commands into mailboxes."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False)
    await consumer.start()
    try:
        places = partitions()
        consumer.assign(places)
        begins = await consumer.beginning_offsets(places)
        offsets = await asyncio.gather(*(consumer.committed(place) for place in places))
        return {tp.partition: max(offset or 0, begins[tp]) for tp, offset in zip(places, offsets, strict=True)}
    finally:
        await consumer.stop()


class Overhearing:
    """Reads the topic for as long as the worker runs, in no group."""

    def __init__(self, bootstrap: str, group: str, holds: Holds) -> None:
        self._bootstrap = bootstrap
        self._group = group
        self._holds = holds
        self.caught_up = asyncio.Event()
        """Set when what was said before we began to listen has been heard."""

    async def run(self) -> None:
        """For ever; an outage of the broker is waited for, and nothing can be said meanwhile."""
        while True:
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 - the broker is away; what was heard stays true
                HOLD_FAILURES.inc()
                log.warning("%s cannot be read now: %r", STAFF_TOPIC, error)
            await asyncio.sleep(0.5)

    async def _read(self) -> None:
        if not self._holds.positions:
            self._holds.begin(await committed(self._bootstrap, self._group))
        consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, enable_auto_commit=False)
        try:
            await consumer.start()
            places = partitions()
            consumer.assign(places)
            for place, offset in (await consumer.beginning_offsets(places)).items():
                consumer.seek(place, max(offset, self._holds.positions.get(place.partition, 0)))
            ends = await consumer.end_offsets(places)
            while True:
                for records in (await consumer.getmany(timeout_ms=500)).values():
                    for record in records:
                        self._holds.hear(record)
                if not self.caught_up.is_set() and await _at(consumer, ends):
                    self.caught_up.set()
        finally:
            await consumer.stop()


async def _at(consumer: AIOKafkaConsumer, ends: Mapping[TopicPartition, int]) -> bool:
    return all([await consumer.position(place) >= end for place, end in ends.items()])
