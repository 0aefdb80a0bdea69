"""What Faust drops is never committed; what was never there does not stop the commits."""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from agents import acks
from agents.acks import Consumer, Hole, PassedOver, advance
from agents.runtime import App, build_app, raw_topic
from models.settings import Settings
from stack.kafka import Kafka
from stack.tansu import Tansu
from tests.conftest import until


@given(st.integers(0, 50), st.sets(st.integers(0, 80)), st.booleans())
def test_A04_nothing_is_committed_beyond_an_offset_that_was_not_acknowledged(
    base: int, acked: set[int], empty: bool
) -> None:
    end, beyond = advance(base, acked, Hole(1000, 1001, 0.0, empty=empty))
    assert end >= base
    assert set(range(base, end)) <= acked
    assert end not in acked
    assert beyond == min((offset for offset in acked if offset > end), default=None)


@given(st.integers(0, 20), st.integers(1, 20), st.integers(0, 20))
def test_a_hole_without_records_is_stepped_over(base: int, width: int, more: int) -> None:
    hole = Hole(base, base + width, 0.0, empty=True)
    acked = range(hole.end, hole.end + 1 + more)
    assert advance(base, acked, hole) == (hole.end + 1 + more, None)
    hole.empty = False
    assert advance(base, acked, hole) == (base, hole.end)


def test_A04_what_is_read_again_from_before_a_commit_of_ours_is_no_hole() -> None:
    """A commit was on its way while a rebalance asked for it: Faust takes no acknowledgement below it (found by chaos)."""
    tp = TP("intake", 1)
    consumer = object.__new__(Consumer)
    consumer._base, consumer._holes = {tp: 0}, {}
    consumer._committed_offset = defaultdict(lambda: None, {tp: 1})
    consumer._acked, consumer._acked_index = defaultdict(list, {tp: [1, 2]}), defaultdict(set)
    assert consumer._new_offset(tp) == 3
    assert consumer._holes == {}


class Dropping(Consumer):
    """Drops offsets 3 and 4, once, as Faust does in a rebalance: fetched, and not handed on."""

    dropped = (3, 4)

    async def getmany(self, timeout: float) -> AsyncIterator[Any]:  # noqa: ASYNC109 - Faust's signature
        async for tp, message in super().getmany(timeout):
            if message.offset not in self.dropped:
                yield tp, message


@asynccontextmanager
async def reading(broker: Kafka | Tansu, folder: Path, consumer: type[Consumer]) -> AsyncIterator[Any]:
    name = f"acks-{secrets.token_hex(4)}"
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    await admin.create_topics([NewTopic(name, 1, 1)])
    await admin.close()
    where = {"kafka": (broker.bootstrap,), "broker_kind": broker.kind, "data": folder}
    settings = Settings(**where, session_timeout=6, heartbeat_interval=1)
    app = build_app(settings, name, App)
    app.transport.Consumer = consumer  # type: ignore[misc]
    app.seen, app.lost = [], []
    app.on_passed_over = app.lost.append

    async def take(stream: Any) -> None:
        async for event in stream.events():
            app.seen.append(event.message.offset)

    app.agent(raw_topic(app, name), name="take", concurrency=1)(take)
    app.finalize()
    await app.start()
    try:
        yield app, name
    finally:
        await app.stop()


async def committed(broker: Kafka | Tansu, name: str) -> int | None:
    async with AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, group_id=name) as consumer:
        place = TopicPartition(name, 0)
        consumer.assign([place])
        return await consumer.committed(place)


async def say(broker: Kafka | Tansu, name: str, number: int) -> None:
    batch = {"max_batch_size": 1} if broker.kind == "tansu" else {}
    async with AIOKafkaProducer(bootstrap_servers=broker.bootstrap, **batch) as producer:
        for n in range(number):
            await producer.send_and_wait(name, b"%d" % n, partition=0)


@pytest.mark.stack
async def test_A04_events_that_faust_drops_are_not_committed_and_end_the_process(
    broker: Kafka | Tansu, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acks, "PATIENCE", 0.5)
    async with reading(broker, tmp_path, Dropping) as (app, name):
        await say(broker, name, 8)
        await until(lambda: app.seen == [0, 1, 2, 5, 6, 7], 30)
        await until(lambda: bool(app.lost), 30)
    assert [type(error) for error in app.lost] == [PassedOver]
    assert f"{name}[0]@3 was fetched" in str(app.lost[0])
    assert await committed(broker, name) == 3


@pytest.mark.stack
async def test_A04_a_seek_goes_back_to_the_beginning_where_nothing_was_committed(
    broker: Kafka | Tansu, tmp_path: Path
) -> None:
    """Three workers that start together rebalance before the first commit, and what was fetched by then is dropped."""

    class Never(Consumer):
        def _new_offset(self, tp: Any) -> None:
            return None

    async with reading(broker, tmp_path, Never) as (app, name):
        await say(broker, name, 3)
        await until(lambda: app.seen == [0, 1, 2], 30)
        await app.consumer.perform_seek()
        await until(lambda: app.seen == [0, 1, 2, 0, 1, 2], 30)


@pytest.mark.stack
async def test_all_that_was_dealt_with_is_committed(broker: Kafka | Tansu, tmp_path: Path) -> None:
    async with reading(broker, tmp_path, Consumer) as (app, name):
        await say(broker, name, 8)
        await until(lambda: len(app.seen) == 8, 30)
        await asyncio.sleep(1.5)  # one commit interval: that nothing was complained of in it is what is asked
    assert app.lost == []
    assert await committed(broker, name) == 8


@pytest.mark.stack
@pytest.mark.kafka
async def test_the_markers_of_other_people_s_transactions_do_not_stop_the_commits(
    kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acks, "PATIENCE", 0.5)
    async with reading(kafka, tmp_path, Consumer) as (app, name):
        async with AIOKafkaProducer(bootstrap_servers=kafka.bootstrap, transactional_id=name) as producer:
            for n in range(3):
                async with producer.transaction():
                    await producer.send_and_wait(name, b"%d" % n, partition=0)
        await until(lambda: app.seen == [0, 2, 4], 30)
        consumer = app.consumer
        await until(lambda: consumer._base.get(next(iter(consumer._base), None)) == 5, 30)
        assert app.lost == []
