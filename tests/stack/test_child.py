"""A child that is silent, complains, or lost its name: what its supervisor does about it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from models.lives import NAME_TAKEN
from models.settings import Settings
from stack.child import Child
from stack.errors import StackError
from stack.kafka import Kafka
from stack.keeper import keep
from stack.net import free_port
from stack.tansu import Tansu
from stack.topics_admin import apply
from tests.conftest import until

pytestmark = pytest.mark.stack
WORKER = (sys.executable, str(Path(__file__).with_name("worker.py")))


class Watched:
    """A child, what was said of it, and whose death was told."""

    def __init__(self, mode: str, silence: float = 2.0) -> None:
        self.said: list[str] = []
        self.gone: list[tuple[str, str]] = []
        port = free_port()
        env = {**os.environ, "TEST_WORKER": mode, "LICET_METRICS_PORT": str(port)}
        self.child = Child("worker-1", WORKER, env, port, lambda _n, line: self.said.append(line), silence=silence)
        self.child.gone = self._told

    async def _told(self, name: str, life: str) -> None:
        assert not self.child.process.alive, "told before it was reaped"
        self.gone.append((name, life))

    async def until(self, true: Callable[[], bool], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, self.said
            await self.child.step()
            await asyncio.sleep(0.05)


@asynccontextmanager
async def watched(mode: str = "") -> AsyncIterator[Watched]:
    found = Watched(mode)
    found.child.spawn()
    try:
        yield found
    finally:
        found.child.process.send(signal.SIGCONT)
        await found.child.process.kill()


async def test_F10_a_silent_worker_is_reaped_told_of_and_started_again_as_a_new_life() -> None:
    async with watched() as w:
        await w.until(lambda: w.child.ready)
        life, pid, began = w.child.life, w.child.process.pid, time.monotonic()
        w.child.process.send(signal.SIGSTOP)
        await w.until(lambda: w.child.process.pid != pid and w.child.ready)
        assert time.monotonic() - began < 10
        assert w.gone == [("worker-1", life)]
        assert w.child.life != life
        assert any("is ended: it has been silent" in line for line in w.said)


async def test_A03_a_spare_takes_the_place_of_the_dead_and_leaves_with_its_successor() -> None:
    async with watched("spare") as w:
        w.child.with_spare = True
        await w.until(lambda: w.child._spare is not None)
        spare, life = w.child._spare, w.child.life
        assert spare is not None
        assert sum("told " in line for line in w.said) == 1  # the spare has begun nothing
        await w.child.process.kill()
        await w.until(lambda: w.child.process is spare and w.child.ready)
        assert w.gone == [("worker-1", life)]
        lives = [json.loads(said.removeprefix("told "))["LICET_WORKER_LIFE"] for said in w.said if "told " in said]
        assert lives == [life, w.child.life]
        await w.until(lambda: w.child._spare not in {None, spare})
        second = w.child._spare
        assert second is not None
        await w.child.stop(5.0)
        assert not spare.alive
        assert not second.alive


async def test_F5_a_worker_that_stands_still_for_less_than_the_silence_is_left_alone() -> None:
    async with watched() as w:
        await w.until(lambda: w.child.ready)
        pid = w.child.process.pid
        w.child.process.send(signal.SIGSTOP)
        resume = time.monotonic() + 1.0
        await w.until(lambda: time.monotonic() > resume)
        w.child.process.send(signal.SIGCONT)
        heard = w.child.heard
        await w.until(lambda: w.child.heard is not None and w.child.heard != heard)
        assert (w.child.process.pid, w.gone) == (pid, [])


async def test_F11_a_worker_that_says_that_it_is_deaf_is_started_again() -> None:
    async with watched("complains") as w:
        await w.until(lambda: bool(w.gone))
        assert any("is ended: it says that it is out of the group for 50 s" in line for line in w.said)


async def test_F10_a_worker_that_never_says_anything_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stack.child.MUTE", 1.0)
    async with watched("mute") as w:
        await w.until(lambda: bool(w.gone))
        assert any("it has said nothing since it was started" in line for line in w.said)


async def test_one_kept_process_is_started_again_and_leaves_with_its_keeper(broker: Kafka | Tansu) -> None:
    await apply(broker.bootstrap)
    said: list[str] = []
    port = free_port()
    settings = Settings(kafka=(broker.bootstrap,), broker_kind=broker.kind, worker_name="kept", metrics_port=port)
    env = {**os.environ, "TEST_WORKER": "", "LICET_METRICS_PORT": str(port)}
    keeping = asyncio.create_task(
        keep("worker", settings, command=WORKER, environ=env, say=lambda _n, line: said.append(line))
    )
    lives: list[str] = []

    def told() -> list[str]:
        return [json.loads(line.removeprefix("told "))["LICET_WORKER_LIFE"] for line in said if "told " in line]

    try:
        await until(lambda: len(told()) == 1, 30)
        os.kill(next(p.pid for p in psutil.Process().children() if WORKER[1] in p.cmdline()), signal.SIGKILL)
        await until(lambda: len(told()) == 2, 30)
        lives = told()
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
    assert len(set(lives)) == 2
    assert "left in order" in said


async def test_a_worker_whose_name_was_taken_is_not_started_again() -> None:
    async with watched("taken") as w:
        with pytest.raises(StackError, match="worker-1 is the name of another process too"):
            await w.until(lambda: False)
        assert w.child.process.exit_code == NAME_TAKEN
