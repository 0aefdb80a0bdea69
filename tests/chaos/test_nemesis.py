"""Three minutes of chaos on Apache Kafka and PostgreSQL: one seeded run, judged by every checker."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.nemesis import FAULTS, TARGETS, schedule
from tests.chaos.proxy import Proxy
from tests.chaos.run import PROCESSES, PROFILES, once

SEED = int(os.environ.get("LICET_TEST_SEED", "1"))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    profile = PROFILES["test"]
    faults = schedule(SEED, profile.seconds - 15, profile.weights, profile.every)
    return once(tmp_path_factory.mktemp("chaos"), profile, faults, SEED)[1]


KAFKA = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.timeout(900)]


def marked(test: Any) -> Any:
    for mark in KAFKA:
        test = mark(test)
    return test


@marked
def test_E16_W04_chaos_makes_no_two_requests_at_once_and_none_too_early(report: dict[str, Any]) -> None:
    assert report["figures"]["requests"] > 200
    assert report["process_faults"] >= 6, (report["faults"], report["notes"])
    assert (report["figures"]["overlaps"], report["figures"]["gaps_below_1_s"]) == (0, 0)


@marked
def test_A03_A04_E23_no_checker_finds_anything_after_chaos(report: dict[str, Any]) -> None:
    assert report["anomalies"] == []
    broken = {name: verdict for name, verdict in report["verdicts"].items() if verdict == "violated"}
    assert broken == {}
    assert set(report["unknown"]) <= {"I7"}, report["unknown"]


@marked
def test_A03_after_chaos_all_is_quiet_every_crawl_has_ended_and_memory_is_the_log(report: dict[str, Any]) -> None:
    assert report["quiet_after"] is not None
    assert report["quiet_after"] <= 60
    assert report["ended"]
    assert report["memory"] == []


@marked
def test_two_workers_under_one_name_the_older_ends_with_its_own_exit_code(report: dict[str, Any]) -> None:
    assert set(report["figures"]["rivals"]) <= {"4"}


def test_a_schedule_follows_from_its_seed_and_has_every_fault() -> None:
    first, second = (schedule(7, 2000, PROCESSES, 4.0) for _ in range(2))
    assert first == second != schedule(8, 2000, PROCESSES, 4.0)
    assert {fault.what for fault in first} == set(PROCESSES)
    assert set(FAULTS) == set(TARGETS)
    assert all(fault.target in TARGETS[fault.what] for fault in first)


async def test_a_proxy_passes_on_slows_down_swallows_and_cuts(tmp_path: Path) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    proxy = await Proxy(server.sockets[0].getsockname()[1]).start()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)

        async def back(said: bytes) -> bytes:
            writer.write(said)
            return await asyncio.wait_for(reader.read(100), 1.0)

        assert await back(b"one") == b"one"
        proxy.set("slow", 0.1)
        began = asyncio.get_running_loop().time()
        assert await back(b"two") == b"two"
        assert asyncio.get_running_loop().time() - began >= 0.2
        proxy.set("half_open")
        with pytest.raises(TimeoutError):
            await back(b"three")
        proxy.set("cut")
        with pytest.raises(ConnectionError):
            await back(b"four") or (_ for _ in ()).throw(ConnectionResetError())
        writer.close()
    finally:
        await proxy.stop()
        server.close()
