"""`licet replay`: the topics into an empty database, as an auditor does it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, RecordsToDelete
from click.testing import CliRunner
from faust.types import TP
from sqlalchemy import Engine, text

from agents import replay
from agents.partitions import Partitions
from agents.replay import Replayed, ReplayError, run
from commands.line import licet
from models import ids, topics
from models.settings import Settings
from models.tables import Base
from tests.sink.histories import SITE, apply, dump, history, topic_of
from tests.sink.test_sink import publish

pytestmark = pytest.mark.stack


async def replayed(settings: Settings, *, add: bool = False) -> tuple[Replayed, list[str]]:
    said: list[str] = []
    return await asyncio.to_thread(run, settings, said.append, add=add), said


def empty(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for table in Base.metadata.sorted_tables:
            connection.execute(text(f"DELETE FROM {table.name}"))


@pytest.mark.parametrize("settings", ["tansu", pytest.param("kafka", marks=pytest.mark.kafka)], indirect=True)
async def test_I12_a_replay_gives_the_rows_of_the_sink_once_or_twice_and_disturbs_nobody(
    settings: Settings, engine: Engine
) -> None:
    await publish(settings, history())
    done, said = await replayed(settings)
    first = dump(engine)
    assert done.records == len(history())
    assert done.letters == []
    assert said[-1].startswith(f"{done.records:,} of {done.records:,} records")
    again, _ = await replayed(settings, add=True)
    assert again.records == done.records
    assert dump(engine) == first
    empty(engine)
    apply(engine, history())
    assert first == dump(engine)
    assert await groups(settings) == set()


async def groups(settings: Settings) -> set[str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.require_kafka())
    await admin.start()
    try:
        return {name for name, _ in await admin.list_consumer_groups()}
    finally:
        await admin.close()


async def test_an_unreadable_record_is_named_and_the_rest_is_there_and_nothing_is_written_to_the_broker(
    settings: Settings, engine: Engine
) -> None:
    poison: list[bytes | None] = [b"{", None, b'{"type":"no-such"}']
    await publish(settings, history(), poison)
    done, _ = await replayed(settings)
    assert sorted(letter.cause for letter in done.letters) == ["empty", "json", "unsupported_type"]
    assert {letter.topic for letter in done.letters} == {"site-events"}
    found = dump(engine)
    empty(engine)
    apply(engine, history())
    assert found == dump(engine)
    assert await ends(settings, "dead-letters") == 0


async def ends(settings: Settings, topic: str) -> int:
    async with AIOKafkaConsumer(topic, bootstrap_servers=settings.require_kafka()) as consumer:
        places: Any = consumer.assignment()
        return sum((await consumer.end_offsets(places)).values())


async def test_a_database_that_has_rows_is_refused_unless_it_is_meant(settings: Settings, engine: Engine) -> None:
    apply(engine, history()[:5])
    before = dump(engine)
    with pytest.raises(ReplayError, match="--add"):
        await replayed(settings)
    assert dump(engine) == before


def test_a_database_of_another_version_and_a_broker_that_is_away_are_a_sentence_and_exit_code_2(
    engine: Engine, database_url: str
) -> None:
    environment = {"LICET_KAFKA": "127.0.0.1:1", "LICET_DATABASE_URL": database_url}
    said = CliRunner().invoke(licet, ["replay"], env=environment)
    assert (said.exit_code, "127.0.0.1:1" in said.stderr) == (2, True)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
    said = CliRunner().invoke(licet, ["replay"], env=environment)
    assert (said.exit_code, "licet migrate" in said.stderr) == (2, True)


PLACE = TP("site-events", ids.partition_of(SITE, topics.by_name()["site-events"].partitions))


async def read(settings: Settings, engine: Engine, begin: int, end: int) -> Replayed:
    """One partition alone, as if it had begun and ended there when the replay started."""
    async with Partitions(settings.require_kafka(), [PLACE]) as facts:
        return await replay._stored(facts, {PLACE: begin}, {PLACE: end}, engine, lambda _line: None)


@pytest.mark.kafka
@pytest.mark.parametrize("settings", ["kafka"], indirect=True)
async def test_what_retention_takes_away_meanwhile_is_all_that_is_missing(settings: Settings, engine: Engine) -> None:
    facts = [fact for fact in history() if topic_of(fact) == "site-events"]
    await publish(settings, facts)
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.require_kafka())
    await admin.start()
    try:
        await admin.delete_records({TopicPartition(*PLACE): RecordsToDelete(before_offset=5)})
    finally:
        await admin.close()
    assert (await read(settings, engine, 0, len(facts))).records == len(facts) - 5


async def test_a_broker_that_falls_silent_is_a_sentence_and_no_replay_for_ever(
    settings: Settings, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "PATIENCE", 1.0)
    facts = [fact for fact in history() if topic_of(fact) == "site-events"]
    await publish(settings, facts)
    with pytest.raises(ReplayError, match="sent nothing"):
        await read(settings, engine, 0, len(facts) + 1)
    assert len(dump(engine)["events"]) == len(facts)
