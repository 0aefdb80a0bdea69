"""`licet up` on an embedded broker, which keeps nothing: it puts the memory back before any worker starts (A03)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.projection import project
from models import events, mailbox, topics
from models.database import make_engine
from models.ids import partition_of
from models.settings import Settings
from stack.supervisor import Supervisor
from tests.audit.test_removing import FILE, NUMBER, STANDARD, everything, played
from tests.conftest import until
from tests.jobs.driver import not_found
from tests.sink.histories import apply, dump

pytestmark = pytest.mark.stack
SITE = "shop.example"
PARTITIONS = topics.by_name()["site-mailbox"].partitions


def stack(folder: Path, lines: list[str]) -> Supervisor:
    return Supervisor(
        folder, settings=Settings(data=folder), worker_command=(), sink_command=(),
        say=lambda name, line: lines.append(line),
    )  # fmt: skip


async def heard(bootstrap: str) -> list[mailbox.Message]:
    """Everything in the mailbox of the site's partition."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition("site-mailbox", partition_of(SITE, PARTITIONS))])
        batch = await consumer.getmany(timeout_ms=3000)
        return [mailbox.read(record.value) for records in batch.values() for record in records]
    finally:
        await consumer.stop()


async def test_A03_C06_what_a_lost_crawl_had_to_remove_is_removed_after_the_next_start(tmp_path: Path) -> None:
    """Real broker, database, worker and sink; the facts are those of a crawl that found the proof absent."""
    play = played(not_found(FILE), lost=True, now=time.time() - 10 * 86_400)
    async with stack(tmp_path, []) as first:
        assert first.stack is not None
        engine = make_engine(first.stack.database_url, "tests")
        apply(engine, everything(play))
        engine.dispose()
    lines: list[str] = []
    settings = Settings(data=tmp_path, bot="certant", session_timeout=6, heartbeat_interval=1)
    async with Supervisor(tmp_path, settings=settings, say=lambda name, line: lines.append(line)) as second:
        assert second.stack is not None
        engine = make_engine(second.stack.database_url, "tests")
        try:
            await until(lambda: bool(dump(engine)["removals"]), 90)
            found = dump(engine)
        finally:
            engine.dispose()
    assert len(found["pages"]) == STANDARD
    assert len(found["removals"]) == NUMBER + 2 + 3 - STANDARD


async def test_A03_E25_a_second_start_puts_the_suspension_back_and_the_marker_last(tmp_path: Path) -> None:
    lines: list[str] = []
    async with stack(tmp_path, lines) as first:
        assert first.stack is not None
        assert [message.data["marker"] for message in await heard(first.stack.kafka)] == [True]
        engine = make_engine(first.stack.database_url, "tests")
        fact = events.Suspended(id="x1", at=1_800_000_000.0, site=SITE, by="ann", reason="asked by mail")
        with engine.begin() as connection:
            project(connection, [fact])
        engine.dispose()
    async with stack(tmp_path, lines) as second:
        assert second.stack is not None
        found = await heard(second.stack.kafka)
    assert [message.data["marker"] for message in found] == [False, True]
    assert found[0].site == SITE
    assert found[0].data["suspended"]["by"] == "ann"
    assert "memory: 1 sites put back from the database" in lines
