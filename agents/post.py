"""What goes out to other topics: facts, page contents, messages to sites, dead letters. Every send is awaitable."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from itertools import islice
from typing import Any, cast

import faust

from agents.dead_letters import TOPIC, DeadLetter
from agents.metrics import DEAD_LETTERS
from agents.producing import Producer
from crawler.rules.site import Change
from models import events
from models.ids import partition_of
from models.mailbox import Message

PARTITION = 0
"""The one partition of the dead letters (`topics.yaml`)."""


class Post:
    """Sends to Kafka with explicit partitions; an await returns when the broker has the record."""

    def __init__(self, app: faust.App, partitions: int) -> None:
        self._app = app
        self._partitions = partitions
        self._topics = {
            name: app.topic(name, key_type=bytes, value_type=bytes)
            for name in ("site-mailbox", "site-events", "page-fetched", "pages-listed")
        }

    def _send(
        self, topic: str, key: bytes | None, value: bytes, partition: int | None, headers: Any = None
    ) -> Awaitable[Any]:
        future: Awaitable[Any] = self._topics[topic].send_soon(
            key=key, value=value, partition=partition, headers=headers, key_serializer="raw", value_serializer="raw"
        )
        return future

    async def tell(self, change: Change) -> None:
        """Publish what a change says, contents before facts, and wait until the broker has all of it."""
        key = change.head.site.encode()
        where = change.head.partition
        sends = [self._send(_topic_of(content), key, events.dump(content), where) for content in change.contents]
        sends += [self._send("site-events", key, events.dump(fact), where) for fact in change.facts]
        if sends:
            await asyncio.gather(*sends)

    async def to_site(self, message: Message) -> None:
        """Put a message into its site's mailbox, on the partition that is the site's."""
        partition = partition_of(message.site, self._partitions)
        value = message.model_dump_json(exclude_defaults=True).encode()  # F36: an older worker knows no newer field
        await self._send("site-mailbox", message.site.encode(), value, partition)

    async def dead_letters(self, letters: Sequence[DeadLetter]) -> int:
        """Keep what could not be read: as many of the first letters as fit into one batch; returns how many.

        Past Faust's queue of what is sent soon: a flood would stand in it before the intents of requests.
        """
        records = ((letter.key, letter.value, letter.headers) for letter in letters)
        count = await cast("Producer", self._app.producer).send_first(TOPIC, PARTITION, records)
        kinds = Counter((letter.topic, letter.cause) for letter in islice(letters, count))
        for (topic, cause), number in kinds.items():
            DEAD_LETTERS.labels(topic, cause).inc(number)
        return count


def _topic_of(content: events.Fact) -> str:
    """A listing has a topic of its own; it is no page of the assistant's."""
    return "pages-listed" if isinstance(content, events.PagesListed) else "page-fetched"
