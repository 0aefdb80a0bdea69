"""The sink whole: a real broker, a real database, Faust between them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

import aiohttp
import psutil
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from prometheus_client import CollectorRegistry
from sqlalchemy import Engine, create_engine, text

from agents.health import Health
from agents.sink import APP_ID, Sink
from agents.sink_metrics import SinkMetrics
from models import events, ids, topics
from models.events import Fact
from models.settings import Settings
from tests.sink.histories import SITE, apply, dump, history, topic_of

pytestmark = pytest.mark.stack
EVENTS = sum(topic_of(fact) == "site-events" for fact in history())


class Running:
    """One sink in this process's loop."""

    def __init__(self, settings: Settings) -> None:
        registry = CollectorRegistry()
        self.health = Health(registry=registry)
        self.sink = Sink(settings, self.health, SinkMetrics(registry))
        self.metrics = self.sink.metrics

    async def start(self) -> Running:
        await self.health.start()
        await self.sink.start()
        return self

    async def stop(self) -> None:
        await self.sink.stop()
        await self.health.stop()

    async def until(self, condition: Callable[[], object], seconds: float = 40) -> None:
        async with asyncio.timeout(seconds):
            while not condition():
                assert not self.sink.app.crashed
                await asyncio.sleep(0.05)


on_both = pytest.mark.parametrize(
    "settings", ["tansu", pytest.param("kafka", marks=pytest.mark.kafka)], indirect=True
)


async def publish(settings: Settings, facts: list[Fact], poison: list[bytes | None] | None = None) -> None:
    partition = ids.partition_of(SITE, topics.by_name()["site-events"].partitions)
    producer = AIOKafkaProducer(bootstrap_servers=settings.require_kafka(), max_batch_size=1)
    await producer.start()
    for fact in facts:
        topic = topic_of(fact)
        await producer.send_and_wait(topic, events.dump(fact), key=SITE.encode(), partition=partition)
        if poison:
            await producer.send_and_wait("site-events", poison.pop(), key=b"\xff", partition=partition)
    await producer.stop()


async def letters(settings: Settings) -> list[dict[str, bytes]]:
    found = []
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.require_kafka(), auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition("dead-letters", 0)])
    while batch := await consumer.getmany(timeout_ms=1000):
        found += [{**dict(record.headers), "value": record.value} for rows in batch.values() for record in rows]
    await consumer.stop()
    return found


async def committed(settings: Settings) -> int:
    """How many records the sink's group has left behind, over both topics."""
    partition = ids.partition_of(SITE, topics.by_name()["site-events"].partitions)
    pairs = [TopicPartition(name, partition) for name in ("site-events", "page-fetched", "pages-listed")]
    consumer = AIOKafkaConsumer(bootstrap_servers=settings.require_kafka(), group_id=APP_ID, enable_auto_commit=False)
    await consumer.start()
    consumer.assign(pairs)
    found = [await consumer.committed(pair) for pair in pairs]
    await consumer.stop()
    return sum(offset or 0 for offset in found)


@on_both
async def test_facts_become_rows_and_poison_becomes_letters(settings: Settings, engine: Engine) -> None:
    apply(engine, history())
    expected = dump(engine)
    with engine.begin() as connection:
        connection.execute(text("SET session_replication_role = replica"))
        for table in expected:
            connection.execute(text(f"DELETE FROM {table}"))
    sink = await Running(settings).start()
    await publish(settings, history(), poison=[b"", None, b"{", b"\xff\xff", b'{"type":"new"}', b"[" * 9999])
    await sink.until(lambda: dump(engine) == expected)
    await sink.until(lambda: sink.health.ready)
    told, answer = ['licet_sink_dead_letters_total{cause="json"} 3.0', 'licet_sink_lag{topic="site-events"} 0.0'], ""
    async with aiohttp.ClientSession(f"http://127.0.0.1:{sink.health.port}") as client, asyncio.timeout(30):
        while not all(line in answer for line in told):  # the lag is measured a moment later
            answer = await (await client.get("/metrics")).text()
    await sink.stop()
    found = await letters(settings)
    assert sorted(letter["cause"] for letter in found) == [
        b"empty", b"empty", b"json", b"json", b"json", b"unsupported_type",
    ]  # fmt: skip
    assert len({(letter["topic"], letter["partition"], letter["offset"]) for letter in found}) == 6
    assert await committed(settings) == len(history()) + 6


async def test_F21_the_database_is_away_then_back(settings: Settings, engine: Engine, database_url: str) -> None:
    """Away as PostgreSQL does it: the database takes no connection. Nothing is lost, nothing is set aside."""
    closed = _Door(database_url)
    closed.shut()
    sink = await Running(settings).start()
    await publish(settings, history())
    await sink.until(lambda: sink.metrics.retries._value.get() >= 2)
    assert not sink.health.ready
    assert await committed(settings) == 0
    closed.open()
    await sink.until(lambda: len(dump(engine)["events"]) == EVENTS and len(dump(engine)["pages"]) == 3)
    await sink.until(lambda: sink.health.ready)
    await sink.stop()
    assert await letters(settings) == []
    assert await committed(settings) == len(history())


@on_both
async def test_F35_a_sink_that_stops_while_the_database_is_away_acknowledges_nothing(
    settings: Settings, engine: Engine, database_url: str
) -> None:
    """Faust's own `take_events` would acknowledge the batch on the way out, and the consumer would commit it."""
    closed = _Door(database_url)
    closed.shut()
    sink = await Running(settings).start()
    await publish(settings, history())
    await sink.until(lambda: sink.metrics.retries._value.get() >= 2)
    began = asyncio.get_running_loop().time()
    await sink.stop()
    assert asyncio.get_running_loop().time() - began < 10
    assert await committed(settings) == 0
    closed.open()
    other = await Running(settings).start()
    await other.until(lambda: len(dump(engine)["events"]) == EVENTS and len(dump(engine)["pages"]) == 3)
    await other.stop()


async def test_0_9_nothing_listens_but_health_on_loopback(settings: Settings) -> None:
    before = _listening()
    sink = await Running(settings).start()
    await sink.until(lambda: sink.health.ready)
    opened = _listening() - before
    await sink.stop()
    assert opened == {("127.0.0.1", sink.health.port)}


def _listening() -> set[tuple[str, int]]:
    """Where this process listens; other tests may have left something open."""
    connections = psutil.Process(os.getpid()).net_connections("tcp")
    return {(one.laddr.ip, one.laddr.port) for one in connections if one.status == psutil.CONN_LISTEN}


class _Door:
    """Whether the database can be entered."""

    def __init__(self, url: str) -> None:
        self.base, self.name = url.rsplit("/", 1)

    def _execute(self, *statements: str) -> None:
        admin = create_engine(f"{self.base}/postgres", isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            for statement in statements:
                connection.execute(text(statement))
        admin.dispose()

    def shut(self) -> None:
        self._execute(
            f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{self.name}'",
        )

    def open(self) -> None:
        self._execute(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS true")
