"""A worker's view of `worker-lives`: who is certainly dead, and whether a younger process took this one's name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from models.lives import TOPIC, Life, full_name

log = logging.getLogger(__name__)

PARTITION = TopicPartition(TOPIC, 0)


class NameTaken(Exception):
    """Two processes under one name."""


class Lives:
    """Reads the topic from its beginning for as long as the worker runs. Start it before the group is joined."""

    def __init__(self, bootstrap: str, me: Life, on_rival: Callable[[BaseException], None]) -> None:
        self._bootstrap = bootstrap
        self._me = me
        self._on_rival = on_rival
        self._mine: int | None = None
        self._gone: set[str] = set()
        self._namesakes: set[str] = set()
        self._heard = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Say that this process lives, and return when everything said before that has been heard."""
        while self._mine is None:
            try:
                self._mine = await self._announce()
            except Exception as error:  # noqa: BLE001 - a worker that starts in an outage waits for its end
                log.warning("the broker does not take our name yet: %r", error)
                await asyncio.sleep(1.0)
        self._task = asyncio.create_task(self._follow(), name="lives")
        await self._heard.wait()

    async def _announce(self) -> int:
        producer = AIOKafkaProducer(bootstrap_servers=self._bootstrap, acks="all")
        try:
            await producer.start()
            sent = await producer.send_and_wait(TOPIC, self._me.model_dump_json().encode(), partition=0)
            return int(sent.offset)
        finally:
            await producer.stop()

    async def stop(self) -> None:
        """Stop listening."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def certainly_dead(self, name: str) -> bool:
        """Whether the process of this full name was reaped by its supervisor."""
        return name in self._gone

    @property
    def namesake(self) -> bool:
        """Whether an earlier process of this name may still be there: nobody said that it is gone."""
        return bool(self._namesakes - self._gone)

    async def _follow(self) -> None:
        while True:
            try:
                await self._read()
            except Exception as error:  # noqa: BLE001 - the broker is away; what was heard stays true
                log.warning("%s cannot be read now: %r", TOPIC, error)
            await asyncio.sleep(1.0)

    async def _read(self) -> None:
        consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, enable_auto_commit=False)
        try:
            await consumer.start()
            consumer.assign([PARTITION])
            # not `seek_to_beginning`, which races with the client's own reset to the end
            consumer.seek(PARTITION, (await consumer.beginning_offsets([PARTITION]))[PARTITION])
            async for record in consumer:
                self.hear(record)
        finally:
            await consumer.stop()

    def hear(self, record: Any) -> None:
        """Take one record in; a record that is none of ours is passed over."""
        with suppress(ValueError):
            said = Life.model_validate_json(record.value)
            name = full_name(said.worker, said.life)
            if said.state == "gone":
                self._gone.add(name)
            elif said.worker == self._me.worker and said.life != self._me.life:
                self._namesakes.add(name)
                self._fence(record.offset)
        if self._mine is not None and record.offset >= self._mine:
            self._heard.set()

    def _fence(self, offset: int) -> None:
        """The younger process has the name; Kafka alone would let the two throw each other out for ever."""
        if self._mine is not None and offset > self._mine:
            name = self._me.worker
            self._on_rival(NameTaken(f"another process was started under the name {name}: this one, the older, ends"))
