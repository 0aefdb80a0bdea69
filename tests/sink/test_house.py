"""Dead letters, health, pins and Faust's settings."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import orjson
import pytest
from prometheus_client import CollectorRegistry, Counter

from agents import versions
from agents.dead_letters import MAX_BYTES, DeadLetter
from agents.health import Health
from agents.runtime import MAX_BATCH, faust_settings
from models.settings import Settings


def _letter(raw: bytes | None, message: str = "why") -> DeadLetter:
    return DeadLetter("site-events", 2, 40, "json", message, raw, 1_700_000_000.5)


def test_F40_a_letter_carries_the_original_bytes_and_where_they_came_from() -> None:
    letter = _letter(b"\xff{")
    assert letter.value == b"\xff{"
    headers = dict(letter.headers)
    assert (headers["topic"], headers["partition"], headers["offset"]) == (b"site-events", b"2", b"40")
    assert (headers["cause"], headers["message"], headers["null"]) == (b"json", b"why", b"0")
    assert dict(_letter(None).headers)["null"] == b"1"


def test_F44_a_large_original_becomes_a_stub_with_its_hash_and_size() -> None:
    stub = orjson.loads(_letter(b"x" * (MAX_BYTES + 1)).value)
    assert (stub["bytes"], len(stub["sha256"])) == (MAX_BYTES + 1, 64)


def test_a_message_is_cut_and_half_a_surrogate_does_not_break_it() -> None:
    headers = dict(_letter(b"", "\ud800" + "x" * 5000).headers)
    assert len(headers["message"]) < 1100


async def test_health_says_live_ready_and_why_not() -> None:
    registry = CollectorRegistry()
    Counter("things", "Things.", registry=registry).inc()
    health = Health(registry=registry)
    await health.start()
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{health.port}") as client:
            async with client.get("/live") as answer:
                assert answer.status == 200
            async with client.get("/ready") as answer:
                assert (answer.status, (await answer.json())["reason"]) == (503, "starting")
            health.set_ready(True)
            async with client.get("/ready") as answer:
                assert answer.status == 200
            async with client.get("/metrics") as answer:
                assert "things_total 1.0" in await answer.text()
            async with client.get("/") as answer:
                assert answer.status == 404
    finally:
        await health.stop()


def test_the_pins_are_the_installed_versions_and_pyproject_s() -> None:
    versions.check()
    project = Path("pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{name}=={version}"' in project for name, version in versions.PINNED.items())


def test_another_version_refuses_the_start_in_one_sentence() -> None:
    with pytest.raises(versions.WrongVersionError, match=r"aiokafka 0\.14\.0 only, found 0\.15\.0"):
        versions.check({**versions.PINNED, "aiokafka": "0.15.0"})


def test_faust_s_settings_on_kafka_and_on_tansu(tmp_path: Path) -> None:
    kafka = Settings(kafka="a:1,b:2", data=tmp_path, worker_name="w1")
    found = faust_settings(kafka, "app")
    assert found["broker"] == ["kafka://a:1", "kafka://b:2"]
    assert found["consumer_group_instance_id"] == "app-w1"
    assert found["producer_max_batch_size"] == MAX_BATCH
    assert found["web_enabled"] is False
    tansu = faust_settings(Settings(kafka="a:1", data=tmp_path, worker_name="w1", broker_kind="tansu"), "app")
    assert tansu["producer_max_batch_size"] == 1
    assert "consumer_group_instance_id" not in tansu
