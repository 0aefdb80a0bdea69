"""kill -9 of a worker, another one that joins, one that is frozen beyond its session: one history, many questions."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from stack.kafka import Kafka
from stack.postgres import Postgres
from stack.tansu import Tansu
from tests.conftest import complete
from tests.house import shops
from tests.house.house import SESSION, House
from tests.support.origin import Asked, gaps, overlaps

SHOPS = [f"shop{number}.example" for number in range(8)]
CHANGELOG = "licet-worker-sites-changelog"
pytestmark = [pytest.mark.stack, pytest.mark.timeout(600)]

Told = dict[str, dict[str, str]]
"""Partition -> key -> hash of the value."""


@dataclass
class History:
    asked: list[Asked]
    crawls: list[dict[str, Any]]
    pages: list[dict[str, Any]]
    fetches: list[dict[str, Any]]
    told: list[Told]
    log: Told
    faults: int


@pytest.fixture(scope="module")
def history(fresh_broker: Kafka | Tansu, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> History:
    house = House(tmp_path_factory.mktemp("house"), fresh_broker, postgres, SHOPS)
    house.worker_module = "tests.house.telling_worker"
    return complete(_troubled(house))


async def _troubled(house: House) -> History:
    async with house:
        await house.start(2, "tests.house.shops:small")
        for name in SHOPS:
            await house.verify(name)
        crawls = [await house.crawl(name) for name in SHOPS]
        await _seen(house, 30)
        await house.workers.pop("worker-1").kill()
        house.add_worker("worker-3")
        await house.until_ready("worker-3")
        await _seen(house, 70)
        frozen = house.workers["worker-2"]
        frozen.send(signal.SIGSTOP)
        await asyncio.sleep(SESSION * 1.5)  # the fault itself: its length is what is tested
        frozen.send(signal.SIGCONT)
        rows = await house.ended(*crawls, seconds=200)
        await house.until_ready(*house.workers)
        told = [await _told(house, name) for name in house.workers]
        return History(
            house.asked(), rows, house.rows("SELECT * FROM pages"), house.rows("SELECT * FROM fetches"), told,
            await _log(house), faults=2,
        )  # fmt: skip


async def _seen(house: House, requests: int) -> None:
    await house.until(lambda: len(house.asked()) >= requests, 120, f"{requests} requests at the origin")


async def _told(house: House, name: str) -> Told:
    file = house.folder / f"{name}.memory"
    house.workers[name].send(signal.SIGUSR1)
    await house.until(file.exists, 10, f"{name} has told what it remembers")
    return json.loads(file.read_text())  # type: ignore[no-any-return]


async def _log(house: House) -> Told:
    """A fresh read of the changelog, record by record, apart from the code under test."""
    log: Told = {}
    for record in sorted(await house.topic(CHANGELOG), key=lambda r: (r.partition, r.offset)):
        keys = log.setdefault(str(record.partition), {})
        if record.value is None:
            keys.pop(record.key.decode(), None)
        else:
            keys[record.key.decode()] = hashlib.sha256(record.value).hexdigest()
    return {partition: keys for partition, keys in log.items() if keys}


def test_E16_no_overlap_and_no_short_gap_over_a_kill_a_join_and_a_freeze(history: History) -> None:
    assert overlaps(history.asked) == []
    assert min(min(found) for found in gaps(history.asked).values()) >= 1.000


def test_A03_every_crawl_is_finished_by_whoever_is_left(history: History) -> None:
    assert {(row["terminal_kind"], row["pages"]) for row in history.crawls} == {("completed", shops.FEW)}


def test_A03_at_most_the_requests_in_flight_are_made_again(history: History) -> None:
    asked = Counter((asked.site, asked.target) for asked in history.asked if asked.target != shops.TOKEN_FILE)
    again = sum(count - 1 for count in asked.values())
    assert again <= len(SHOPS) * history.faults
    assert max(asked.values()) <= 1 + history.faults


def test_A04_no_page_is_stored_twice_and_every_request_is_counted(history: History) -> None:
    assert len({(page["crawl"], page["url"]) for page in history.pages}) == len(history.pages)
    assert len(history.pages) == len(SHOPS) * shops.FEW
    sent = sum(fetch["sent"] for fetch in history.fetches)
    assert sent >= len(history.asked)
    assert sent - len(history.asked) <= len(SHOPS) * history.faults


def test_A03_memory_equals_a_fresh_read_of_the_changelog(history: History) -> None:
    remembered: Told = {}
    for told in history.told:
        for partition, keys in told.items():
            assert partition not in remembered, "two workers hold one partition"
            remembered[partition] = keys
    assert {partition: keys for partition, keys in remembered.items() if keys} == history.log
