"""Ownership begins with the last rebalance alone, and nothing is said or sent while it is in doubt."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import bots
from agents.health import Health
from agents.worker import Worker
from crawler.fetch.network import Network
from crawler.rules.site import Policy
from models.settings import Settings


@pytest.fixture
async def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    settings = Settings(kafka=("127.0.0.1:1",), data=tmp_path, session_timeout=6, heartbeat_interval=1)
    found = Worker(settings, Policy(bots.load("ema"), b"k" * 32), Network(), Health())
    monkeypatch.setattr(found, "_owned", lambda: {0, 1})
    monkeypatch.setattr(found.sites, "open", lambda _owned: iter(()))
    monkeypatch.setattr(found.sites, "whole", lambda _number: True)
    monkeypatch.setattr(found, "_find_ends", _nothing)
    monkeypatch.setattr(found.reader, "start", lambda: None)  # no child processes here
    return found


async def _nothing(*_: Any) -> None:
    return


async def test_E16_a_rebalance_that_ends_after_the_next_has_begun_starts_nothing(worker: Worker) -> None:
    worker.rebalances += 1  # on_rebalance_start, in the consumer's thread
    await worker._given()
    worker.rebalances += 1  # the next one begins while the first one recovers
    worker.assigned()  # ... and Faust ends the first one all the same
    assert worker.pump.paused
    await worker._given()
    worker.assigned()
    assert not worker.pump.paused
    await worker.pump.close()


async def test_E16_one_that_begins_in_the_moment_of_the_start_stops_it(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = worker.pump.start

    def meanwhile(*args: Any) -> None:
        start(*args)
        worker.rebalances += 1

    monkeypatch.setattr(worker.pump, "start", meanwhile)
    worker.rebalances += 1
    await worker._given()
    worker.assigned()
    assert worker.pump.paused
    await worker.pump.close()


async def test_F6_what_is_written_waits_for_the_broker_s_word_that_the_worker_is_a_member(worker: Worker) -> None:
    worker.vitals.pulse.member -= 4.0  # cut off for more than half a session
    waiting = asyncio.create_task(worker._settled())
    await asyncio.sleep(0.3)
    assert not waiting.done()
    assert not worker.pump.sure()
    worker.vitals.pulse.member += 4.0
    await asyncio.wait_for(waiting, 2.0)
    assert worker.pump.sure()
