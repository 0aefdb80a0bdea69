"""10,000 poisonous events in one partition, on a real broker: all set aside, none of the good lost, in the order of offsets."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
import uuid
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import bots
from agents.intake import Intake
from agents.post import Post
from agents.runtime import build_app, raw_topic
from models.settings import Settings
from stack.kafka import Kafka
from stack.topics_admin import apply

pytestmark = [pytest.mark.kafka, pytest.mark.stack]
POISON, EVERY = 10_000, 500
TOPIC = "listing-requested"


async def test_A04_I15_ten_thousand_poisonous_events_are_set_aside_and_no_good_one_is_lost(
    kafka: Kafka, tmp_path: Path
) -> None:
    await apply(kafka.bootstrap)
    async with AIOKafkaConsumer(bootstrap_servers=kafka.bootstrap) as consumer:
        places = [TopicPartition("dead-letters", 0), *(TopicPartition("site-mailbox", n) for n in range(12))]
        consumer.assign(places)
        for place, end in (await consumer.end_offsets(places)).items():
            consumer.seek(place, end)
        sent = await flood(kafka.bootstrap)
        settings = Settings(kafka=(kafka.bootstrap,), data=tmp_path, session_timeout=6, heartbeat_interval=1)
        name = f"poison-{secrets.token_hex(4)}"
        app = build_app(settings, name, stream_wait_empty=False)
        app.agent(raw_topic(app, TOPIC), name="intake", concurrency=1)(
            Intake(Post(app, 12), bots.load("ema")).__call__
        )
        app.finalize()
        await app.start()
        app.producer.buffer.max_messages = 10_000
        try:
            letters, heard = await read(consumer, sent)
            await committed(kafka.bootstrap, name, sent)
        finally:
            await app.stop()
    assert len(letters) == len(set(letters)) == POISON
    assert set(letters) == sent["poison"]
    assert heard == sent["good"]


async def flood(bootstrap: str) -> dict[str, set[int]]:
    """Poison into one partition, a good event after every 500; the offsets of both."""
    found: dict[str, set[int]] = {"poison": set(), "good": set()}
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=5) as producer:
        waits = []
        for number in range(POISON):
            waits.append(("poison", await producer.send(TOPIC, b"not json", partition=0)))
            if number % EVERY == EVERY - 1:
                waits.append(("good", await producer.send(TOPIC, good(number), partition=0)))
        for kind, wait in waits:
            found[kind].add((await wait).offset)
    return found


def good(number: int) -> bytes:
    data = {"account": "acme", "address": f"poison{number}.example"}
    return json.dumps({"id": str(uuid.uuid4()), "type": TOPIC, "version": 1, "producer": "x", "data": data}).encode()


async def read(consumer: AIOKafkaConsumer, sent: dict[str, set[int]]) -> tuple[list[int], set[int]]:
    """The offsets that the dead letters and the mailboxes' messages name."""
    letters: list[int] = []
    heard: set[int] = set()
    deadline = time.monotonic() + 120
    while (len(letters), len(heard)) < (POISON, len(sent["good"])) and time.monotonic() < deadline:
        for place, records in (await consumer.getmany(timeout_ms=500)).items():
            for record in records:
                if place.topic == "dead-letters":
                    headers = dict(record.headers)
                    if headers["topic"] == TOPIC.encode():
                        letters.append(int(headers["offset"]))
                elif (origin := json.loads(record.value)["origin"])["topic"] == TOPIC:
                    heard.add(origin["offset"])
    return letters, heard


async def committed(bootstrap: str, group: str, sent: dict[str, set[int]]) -> None:
    """The offset is let go when everything before it is on the broker, and then to the very end."""
    place = TopicPartition(TOPIC, 0)
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group) as consumer, asyncio.timeout(30):
        consumer.assign([place])
        while await consumer.committed(place) != max(sent["poison"] | sent["good"]) + 1:  # noqa: ASYNC110 - another process's progress
            await asyncio.sleep(0.2)
