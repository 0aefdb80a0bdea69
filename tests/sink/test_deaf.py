"""A sink that only a new process can help says so; one that waits for its database does not (F11)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents import vitals
from models.settings import Settings
from tests.sink.histories import history
from tests.sink.test_sink import Running, publish

pytestmark = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.parametrize("settings", ["kafka"], indirect=True)]
PATIENCE = 3.0
"""Instead of 30 and 45 s; the session is 6 s."""


@pytest.fixture
async def running(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(vitals, "LOST", PATIENCE)
    monkeypatch.setattr(vitals, "DEAF", PATIENCE)
    found = await Running(settings).start()
    await found.until(lambda: found.health.ready and not found.health.unready())
    assert not found.health.deaf()
    yield found
    await found.stop()


async def never(_batch: object) -> None:
    await asyncio.Event().wait()


async def test_F11_a_sink_out_of_its_group_is_deaf(running: Running) -> None:
    thread = running.sink.app.consumer._thread

    async def leave() -> None:
        coordinator = thread._consumer._coordinator
        coordinator._coordination_task.cancel()
        await coordinator._stop_heartbeat_task()
        await coordinator._maybe_leave_group()

    asyncio.run_coroutine_threadsafe(leave(), thread.thread_loop)
    await running.until(lambda: "out of the group" in running.health.deaf(), 60)
    assert running.health.unready()


async def test_F11_a_sink_that_takes_nothing_is_deaf(running: Running, settings: Settings) -> None:
    running.sink._batches.take = never  # type: ignore[method-assign]
    await publish(settings, history())
    await running.until(lambda: "taking no messages" in running.health.deaf(), 60)


async def test_F23_a_sink_that_waits_for_its_database_is_not_deaf(running: Running, settings: Settings) -> None:
    running.sink._batches.take = never  # type: ignore[method-assign]
    running.sink._batches._away("the database is away")
    await publish(settings, history())
    for _ in range(int(20 / 0.2)):  # longer than the 12 s after which it would be
        assert not running.health.deaf()
        await asyncio.sleep(0.2)  # nothing to wait for: it is that nothing happens
