"""Broker and database away, and with a full disk, each alone: what stops, how soon it goes on, that nothing is lost.

The outages last 15 s here and a minute in `python -m tests.chaos.run --profile outages`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.run import PROFILES, once, planned
from tests.chaos.small_disk import BALLAST, SmallDisk, why_not

pytestmark = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.long, pytest.mark.timeout(900)]
FULL_DISKS = pytest.mark.skipif(bool(why_not()), reason=why_not() or "a tmpfs can be mounted")
GOES_ON = 30.0
"""Seconds, as promised."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    rounds = (("database_down",), ("broker_down",), ("database_full",), ("broker_full",))
    profile = replace(PROFILES["outages"], sites=16, outage=15.0, rounds=rounds)
    folder = tmp_path_factory.mktemp("outages")
    for above in (folder, folder.parent, folder.parent.parent):
        above.chmod(0o755)  # PostgreSQL runs as nobody, and on a small disk
    return once(folder, profile, planned(profile, 1), 1)[1]


def outage(report: dict[str, Any], fault: str) -> dict[str, Any]:
    return next(one for one in report["figures"]["outages"] if one["fault"] == fault)


def test_A03_A04_outages_and_full_disks_lose_nothing_and_break_no_promise(report: dict[str, Any]) -> None:
    assert report["anomalies"] == []
    assert report["notes"] == []
    assert report["ended"]
    assert report["memory"] == []


def test_F21_the_database_is_back_and_all_is_stored_within_30_s(report: dict[str, Any]) -> None:
    assert report["figures"]["drained"]["database_down"]["max"] <= GOES_ON


def test_F13_F14_no_request_while_the_broker_is_away_and_every_crawl_goes_on_within_30_s(
    report: dict[str, Any],
) -> None:
    found = outage(report, "broker_down")
    assert found["asked_while_away"] == 0
    assert found["sites"]["n"] > 0
    assert found["sites"]["max"] <= GOES_ON


@FULL_DISKS
def test_F16_a_broker_with_a_full_disk_stops_all_requests_until_there_is_space(report: dict[str, Any]) -> None:
    found = outage(report, "broker_full")
    assert found["ended_itself"]
    assert found["asked_while_away"] == 0
    assert found["sites"]["max"] <= GOES_ON


@FULL_DISKS
def test_F25_with_the_database_s_disk_full_the_sink_waits_and_drains_afterwards(report: dict[str, Any]) -> None:
    assert report["figures"]["drained"]["database_full"]["max"] <= GOES_ON


@FULL_DISKS
def test_a_small_disk_can_be_filled_to_the_last_byte_and_freed(tmp_path: Path) -> None:
    disk = SmallDisk(tmp_path / "disk", 2)
    try:
        assert 0 < disk.fill() <= 2 << 20
        with pytest.raises(OSError, match="No space left"):
            (disk.folder / "more").write_bytes(b"more")
        disk.free()
        (disk.folder / "more").write_bytes(b"more")
        assert not (disk.folder / BALLAST).exists()
    finally:
        disk.unmount()
    assert not (disk.folder / "more").exists()
