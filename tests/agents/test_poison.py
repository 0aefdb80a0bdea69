"""10,000 poisonous events in one partition, on a real broker: all set aside, none of the good lost, in the order of offsets."""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaConnectionError

from agents.dead_letters import DeadLetter
from agents.line import MOST_BYTES, OVERHEAD, Forward, Line
from stack.kafka import Kafka
from stack.topics_admin import apply
from tests.support.intake import intake

pytestmark = [pytest.mark.kafka, pytest.mark.stack]
POISON, EVERY = 10_000, 500
TOPIC = "listing-requested"


async def test_A04_I15_ten_thousand_poisonous_events_are_set_aside_and_no_good_one_is_lost(
    kafka: Kafka, tmp_path: Path
) -> None:
    async with listening(kafka.bootstrap) as consumer:
        sent = await flood(kafka.bootstrap)
        name = f"poison-{secrets.token_hex(4)}"
        async with intake(kafka.bootstrap, name, tmp_path, TOPIC):
            letters, heard = await read(consumer, sent)
            await committed(kafka.bootstrap, name, sent)
    own = [offset for offset in letters if offset in sent["poison"]]  # others' floods are in the topic too
    assert len(own) == len(set(own)) == POISON
    assert sent["good"] <= heard


async def test_A04_I15_a_worker_that_is_killed_among_poisonous_events_loses_none_and_no_good_one(
    kafka: Kafka, tmp_path: Path
) -> None:
    async with listening(kafka.bootstrap) as consumer:
        sent = await flood(kafka.bootstrap)
        name = f"poison-{secrets.token_hex(4)}"
        code = "import sys; from tests.agents.test_poison import serve; serve(*sys.argv[1:])"
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", code, kafka.bootstrap, name, str(tmp_path / "a")
        )
        try:
            begun = await read(consumer, sent, wanted=POISON // 4)
        finally:
            child.kill()
            await child.wait()
        async with intake(kafka.bootstrap, name, tmp_path / "b", TOPIC):
            await committed(kafka.bootstrap, name, sent)
            ended = await read(consumer, sent, begun=begun, patience=30.0)
    assert sent["poison"] <= set(ended[0])
    assert sent["good"] <= ended[1]


class Event:
    """Stands for Faust's event."""

    acked = False

    def ack(self) -> None:
        self.acked = True


def letter(number: int, raw: bytes = b"not json") -> DeadLetter:
    return DeadLetter(TOPIC, 0, number, "json", "not JSON", raw, 0.0)


async def test_A04_a_good_event_overtakes_letters_and_is_acknowledged_after_them() -> None:
    told, events, sent = asyncio.Event(), [Event() for _ in range(12)], list[DeadLetter]()

    async def send(letters: Sequence[DeadLetter]) -> int:
        await told.wait()
        sent.append(letters[0])
        return 1

    line = Line(send)
    try:
        await line.join(events[0], None)
        for number, event in enumerate(events[1:11]):
            await line.join(event, letter(number))
        await line.join(events[11], None)
        assert [event.acked for event in events] == [True] + [False] * 11
        told.set()
        async with asyncio.timeout(30):
            while not events[11].acked:  # noqa: ASYNC110 - another task's progress
                await asyncio.sleep(0.01)
        assert all(event.acked for event in events)
        assert sent == [letter(number) for number in range(10)]
    finally:
        line.leave()


async def test_A04_a_broker_that_fails_gets_the_same_letters_again_and_nothing_is_acknowledged_before() -> None:
    events, tries, early = [Event(), Event()], 0, list[bool]()

    async def send(letters: Sequence[DeadLetter]) -> int:
        nonlocal tries
        tries += 1
        early.append(any(event.acked for event in events))
        if tries == 1:
            raise KafkaConnectionError
        return len(letters)

    line = Line(send)
    try:
        for number, event in enumerate(events):
            await line.join(event, letter(number))
        async with asyncio.timeout(30):
            while not all(event.acked for event in events):  # noqa: ASYNC110 - another task's progress
                await asyncio.sleep(0.01)
        assert early == [False, False]
    finally:
        line.leave()


async def test_A04_records_of_one_key_keep_their_order_and_those_of_others_do_not_wait_for_them() -> None:
    """The broker refuses the first record once: the second of its key waits, the other key's does not."""
    events, sent = [Event() for _ in range(3)], list[str]()

    def send(name: str) -> Callable[[], Awaitable[None]]:
        async def tried() -> None:
            if name == "a1" and "a1 refused" not in sent:
                sent.append("a1 refused")
                raise KafkaConnectionError
            sent.append(name)

        return tried

    line = Line(_nothing)
    try:
        for event, key, name in zip(events, ("a", "a", "b"), ("a1", "a2", "b1"), strict=True):
            await line.join(event, Forward(key, send(name)))
        assert not any(event.acked for event in events)
        async with asyncio.timeout(30):
            while not all(event.acked for event in events):  # noqa: ASYNC110 - another task's progress
                await asyncio.sleep(0.01)
        assert sent == ["a1 refused", "b1", "a1", "a2"]
    finally:
        line.leave()


async def test_A04_a_record_on_its_way_holds_back_the_acknowledgements_behind_it_also_when_the_agent_ends() -> None:
    events, broker = [Event(), Event()], asyncio.Event()
    line = Line(_nothing)
    await line.join(events[0], Forward("a", broker.wait))
    await line.join(events[1], None)
    await asyncio.sleep(0)
    assert not events[1].acked
    line.leave()
    broker.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert not any(event.acked for event in events)


async def test_A04_records_on_their_way_are_bounded_too() -> None:
    joined, line = 0, Line(_nothing)

    async def flooded() -> None:
        nonlocal joined
        while True:
            await line.join(Event(), Forward(f"site {joined}", asyncio.Event().wait))
            joined += 1

    flooding = asyncio.create_task(flooded())
    try:
        for _ in range(20):
            await asyncio.sleep(0)
        assert joined == MOST_BYTES // OVERHEAD
    finally:
        flooding.cancel()
        line.leave()


async def _nothing(_letters: Sequence[DeadLetter]) -> int:
    return 0


@pytest.mark.parametrize("size", [1, 1_000_000, 2 * MOST_BYTES])
async def test_A04_letters_on_their_way_are_bounded_in_bytes(size: int) -> None:
    """With a broker that does not answer; one letter is let through whatever its size."""
    joined, line = 0, Line(lambda _letters: asyncio.Future())
    raw = b"x" * size

    async def flooded() -> None:
        nonlocal joined
        while True:
            await line.join(Event(), letter(joined, raw))
            joined += 1

    flooding = asyncio.create_task(flooded())
    try:
        for _ in range(20):
            await asyncio.sleep(0)
        assert joined == max(1, MOST_BYTES // (size + OVERHEAD))
    finally:
        flooding.cancel()
        line.leave()


def serve(bootstrap: str, name: str, folder: str) -> None:
    """An intake in a process of its own, until it is killed."""

    async def run() -> None:
        async with intake(bootstrap, name, Path(folder), TOPIC):
            await asyncio.Event().wait()

    asyncio.run(run())


@asynccontextmanager
async def listening(bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    """To the dead letters and the mailboxes, from here on."""
    await apply(bootstrap)
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap) as consumer:
        places = [TopicPartition("dead-letters", 0), *(TopicPartition("site-mailbox", n) for n in range(12))]
        consumer.assign(places)
        for place, end in (await consumer.end_offsets(places)).items():
            consumer.seek(place, end)
        yield consumer


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


Found = tuple[list[int], set[int]]


async def read(
    consumer: AIOKafkaConsumer,
    sent: dict[str, set[int]],
    *,
    wanted: int = POISON,
    begun: Found | None = None,
    patience: float = 120.0,
) -> Found:
    """The offsets that the dead letters and the mailboxes' messages name; until so many letters have come."""
    letters, heard = begun or (list[int](), set[int]())
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        if len(sent["poison"].intersection(letters)) >= wanted and (wanted < POISON or heard >= sent["good"]):
            break
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
