"""Asked whether it was us, and asked to delete everything: on a running stack (E24, E25)."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from sqlalchemy import Engine, MetaData, inspect, select

from agents.storing import READERS
from models import events, ids, topics
from models.database import make_engine
from tests.commands.conftest import Town, town
from tests.conftest import until

__all__ = ["town"]
pytestmark = pytest.mark.stack
HOST, PAGES = "bottega.example", ("https://bottega.example/", "https://bottega.example/en/faq/")
WHO = ("--by", "ann", "--reason", "asked by mail", "--ticket", "T-7")
WINDOW = ("--zone", "Europe/Rome", "--from")


def test_E24_E25_asked_whether_it_was_us_then_to_delete_everything(town: Town) -> None:
    assert town.stack.stack is not None
    engine = make_engine(town.stack.stack.database_url, "tests", read_only=True)
    began = datetime.now(UTC) - timedelta(seconds=5)
    crawl = _read_the_site(town)
    _was_it_us(town, crawl, began)
    words = _words(engine)
    assert len(words) > 20
    assert {"pages", "pairs"} <= set(_tables_with(engine, words))
    _erased(town, engine)
    assert _tables_with(engine, words) == {}
    asyncio.run(_said_again(town.stack.stack.kafka, engine))
    assert _tables_with(engine, words) == {}
    _was_it_us(town, crawl, began)
    assert "suspended this site" in town.licet("crawl", HOST).stderr
    engine.dispose()


def _read_the_site(town: Town) -> str:
    scope = [word for page in PAGES for word in ("--page", page)]
    town.json("save", HOST, "--account", "anna", *scope)
    said: dict[str, Any] = town.json("token", HOST)
    town.shop.place_token(said["token"])
    town.json("verify", HOST)
    town.json("listing", HOST, "--account", "anna")
    return str(town.json("crawl", HOST)["crawl"])


def _was_it_us(town: Town, crawl: str, began: datetime) -> None:
    found: dict[str, Any] = town.json(
        "audit", HOST, *WINDOW, began.isoformat(), "--to", datetime.now(UTC).isoformat()
    )
    assert [row["kind"] for row in found["crawls"]] == ["listing", "crawl"]
    ran = found["crawls"][1]
    assert ran["crawl"] == crawl
    assert ran["authority"].startswith("a token file, on file since ")
    assert ran["in_window"]["page"] >= len(PAGES)
    assert [row["what"] for row in found["outside_crawls"]] == ["check of a saved address", "looking for a proof"]
    counted = sum(sum(row["in_window"].values()) for row in (*found["crawls"], *found["outside_crawls"]))
    assert counted == len(town.shop.entries())
    before = ("--to", (began - timedelta(hours=1)).isoformat())
    nothing = town.licet("audit", HOST, *WINDOW, (began - timedelta(hours=2)).isoformat(), *before)
    assert (nothing.exit_code, nothing.stdout.splitlines()[0][:3]) == (1, "No:")


def _words(engine: Engine) -> list[str]:
    """Every line of the pages' texts, and every answer, that is long enough to be nobody else's."""
    found = _all(engine)
    texts = [str(row["text"]) for row in found["pages"]] + [str(row["answer"]) for row in found["pairs"]]
    return [line for text in texts for line in text.splitlines() if len(line) > 30]


def _all(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table that there is, known to the models or not."""
    meta, names = MetaData(), inspect(engine).get_table_names()
    meta.reflect(engine, only=names)
    with engine.connect() as connection:
        return {
            name: [dict(row) for row in connection.execute(select(meta.tables[name])).mappings()] for name in names
        }


def _tables_with(engine: Engine, words: list[str]) -> dict[str, str]:
    """Where any of the words stand."""
    told = {name: repr(rows) for name, rows in _all(engine).items()}
    return {name: word for name, text in told.items() for word in words if word in text or repr(word)[1:-1] in text}


def _erased(town: Town, engine: Engine) -> None:
    held = {name: len(rows) for name, rows in _all(engine).items()}
    found: dict[str, Any] = town.json("erase", "www." + HOST, *WHO)
    assert (found["site"], found["by"], found["reason"], found["ticket"]) == (HOST, "ann", "asked by mail", "T-7")
    content = ("pages", "pairs", "urls", "listings")
    assert found["deleted"] == {name: held[name] for name in content}
    assert found["left"] == dict.fromkeys(content, 0)
    left = {name: len(rows) for name, rows in _all(engine).items()}
    for name in ("crawls", "fetches", "digests", "verifications", "address_checks"):
        assert left[name] >= held[name] > 0
    assert town.json("show", HOST)["suspended"] is True
    again = town.licet("erase", HOST, *WHO)
    assert (again.exit_code, "pages 0" in again.stdout) == (0, True)


async def _said_again(kafka: str, engine: Engine) -> None:
    """All that the sink ever read of this site, published again, and then URLs that are newer than the erasure."""
    partition = ids.partition_of(HOST, topics.by_name()["site-events"].partitions)
    consumer = AIOKafkaConsumer(bootstrap_servers=kafka, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(topic, partition) for topic in READERS])
    told = []
    while batch := await consumer.getmany(timeout_ms=2000):
        told += [record for records in batch.values() for record in records]
    await consumer.stop()
    assert {record.topic for record in told} == set(READERS)
    contents = [topic for topic in READERS if topic != "site-events"]
    later = {topic: events.named(HOST, f"https://{HOST}/{topic}", time.time() + 60) for topic in contents}
    producer = AIOKafkaProducer(bootstrap_servers=kafka, max_batch_size=1)
    await producer.start()
    for record in told:
        await producer.send_and_wait(record.topic, record.value, key=record.key, partition=partition)
    for topic, fact in later.items():
        await producer.send_and_wait(topic, events.dump(fact), key=HOST.encode(), partition=partition)
    await producer.stop()
    urls = {fact.url for fact in later.values()}
    await until(lambda: {row["url"] for row in _all(engine)["urls"]} == urls, 30)
