"""kill -9 of the sink while facts flow: nothing twice, nothing lost (F4, I11, I12)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from models import events
from models.events import Fact
from models.settings import Settings
from models.tables import Event
from stack.net import free_port
from stack.process import Process
from tests.conftest import until
from tests.sink.histories import START, apply, dump, history, page, request
from tests.sink.test_sink import publish

pytestmark = pytest.mark.stack
MANY = 1500


def flow() -> list[Fact]:
    """A history, then many requests, and a page for every third."""
    found = history()
    for number in range(100, 100 + MANY):
        url = f"https://shop.test/{number}"
        found.append(request(number, url))
        if number % 3 == 0:
            found += [events.UrlNamed(id=str(number), at=START, site="shop.test", url=url), page(url)]
    return found


def sink(settings: Settings, folder: Path) -> Process:
    environ = {
        **os.environ,
        "PYTHONPATH": str(Path.cwd()),
        "LICET_KAFKA": settings.require_kafka(),
        "LICET_BROKER_KIND": settings.broker_kind,
        "LICET_DATABASE_URL": settings.require_database().replace("+psycopg2", ""),
        "LICET_DATA": str(folder / "data"),
        "LICET_SESSION_TIMEOUT": "6",
        "LICET_HEARTBEAT_INTERVAL": "1",
        "LICET_METRICS_PORT": str(free_port()),
    }
    process = Process("sink", [sys.executable, "-m", "app", "sink"], folder / "sink.log", env=environ)
    process.spawn()
    return process


def stored(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(Event)).scalar_one()


async def test_F4_killed_twice_in_mid_flow_it_stores_everything_once(
    settings: Settings,
    engine: Engine,
    tmp_path: Path,
) -> None:
    facts = flow()
    whole = sum(not isinstance(fact, events.PageFetched | events.UrlNamed | events.PagesListed) for fact in facts)
    publishing = asyncio.create_task(publish(settings, facts))
    for part in (0.1, 0.5):
        process = sink(settings, tmp_path)
        await _until(engine, int(whole * part), process)
        os.kill(process.pid, signal.SIGKILL)
        await process.stop(1)
        assert stored(engine) < whole
    await publishing
    process = sink(settings, tmp_path)
    await _until(engine, whole, process)
    pages = sum(isinstance(fact, events.PageFetched) for fact in facts)
    await until(lambda: len(dump(engine)["pages"]) == pages, 30)
    began = asyncio.get_running_loop().time()
    await process.stop(10)
    assert process.exit_code == 0
    assert asyncio.get_running_loop().time() - began < 5  # F35
    found = dump(engine)
    apply(engine, facts)
    assert dump(engine) == found


async def _until(engine: Engine, wanted: int, process: Process) -> None:
    await until(lambda: stored(engine) >= wanted or not process.alive, 150)
    assert process.alive, process.tail()
