"""The checkers are right: they condemn every planted anomaly, and nothing that is in order."""

from __future__ import annotations

from pathlib import Path

import pytest

import bots
from tests.chaos import checkers
from tests.chaos.checkers.verdicts import wall
from tests.chaos.history import SECOND, Recorder, history, load
from tests.chaos.mutators import MUTATORS, NotHere
from tests.chaos.synthetic import Lines, synthetic
from tests.support.origin import Asked

PROFILE = bots.load("ema")
HISTORIES = 1000
EACH = 3
"""Histories in which each anomaly is planted."""


def test_a_thousand_valid_histories_are_found_in_order() -> None:
    for seed in range(HISTORIES):
        verdicts = checkers.judge(history(synthetic(seed)), PROFILE)
        assert {name: v for name, v in verdicts.items() if v.verdict != "ok"} == {}, f"seed {seed}"


@pytest.mark.parametrize("name", MUTATORS)
def test_every_planted_anomaly_is_found(name: str) -> None:
    invariant, mutate = MUTATORS[name]
    planted = 0
    for seed in range(10_000, 10_200):
        lines = synthetic(seed)
        try:
            mutate(lines)
        except NotHere:
            continue
        verdict = checkers.CHECKERS[invariant].judge(history(lines), PROFILE)
        assert verdict.verdict == "violated", f"{name}, seed {seed}: {verdict}"
        assert all(anomaly.lines or "stored" in anomaly.what for anomaly in verdict.anomalies)
        planted += 1
        if planted == EACH:
            return
    raise AssertionError(f"{name} found nothing to break")


def test_there_are_enough_mutators_and_every_invariant_has_one() -> None:
    assert len(MUTATORS) >= 40
    assert {invariant for invariant, _ in MUTATORS.values()} == set(checkers.CHECKERS)


def judged(lines: Lines) -> dict[str, str]:
    return {name: verdict.verdict for name, verdict in checkers.judge(history(lines), PROFILE).items()}


def test_a_gap_in_the_origins_log_is_unknown_and_never_ok() -> None:
    lines = synthetic(1)
    lines["origin"] = [line for line in lines["origin"] if line["id"] != 2]
    found = judged(lines)
    assert {name for name, verdict in found.items() if verdict == "unknown"} >= {"I1", "I2", "I9", "I10"}
    assert "violated" not in found.values()


def test_what_is_seen_in_a_log_with_a_gap_is_believed_all_the_same() -> None:
    lines = synthetic(1)
    MUTATORS["two_at_once"][1](lines)
    lines["origin"] = [line for line in lines["origin"] if line["id"] != max(one["id"] for one in lines["origin"])]
    lines["final"].append({"event": "files", "lines": {"origin": 10_000}})
    assert judged(lines)["I1"] == "violated"


@pytest.mark.parametrize("file", ["topics", "database", "replay", "egress", "nemesis", "commands"])
def test_a_file_that_is_missing_or_short_makes_its_checkers_say_unknown(file: str) -> None:
    needing = {name for name, checker in checkers.CHECKERS.items() if file in checker.needs}
    missing = synthetic(2)
    del missing[file]
    short = synthetic(2)
    short["final"].append({"event": "files", "lines": {file: len(short[file]) + 1}})
    for lines in (missing, short):
        assert {name for name, verdict in judged(lines).items() if verdict == "unknown"} == needing


def test_an_event_of_which_nobody_knows_whether_it_was_sent_may_or_may_not_have_a_row() -> None:
    for seed in range(20):
        lines = synthetic(seed)
        for line in lines["client"]:
            if line["op"] == "ok":
                line["op"] = "info"
        assert judged(lines)["I9"] == "ok"
        gone = next(line["row"]["crawl"] for line in lines["database"] if line["table"] == "crawls")
        refused = [line for line in lines["database"] if line["table"] == "crawls" and not line["row"]["accepted"]]
        lines["database"] = [line for line in lines["database"] if line is not refused[0]]
        assert judged(lines)["I9"] == "ok", gone


def test_a_page_that_a_wrong_clock_dated_early_was_served_all_the_same() -> None:
    """Said by two runs: sixty-five pages of a worker an hour behind were "not served before they were stored"."""
    lines = synthetic(4)
    page = next(line["row"] for line in lines["database"] if line["table"] == "pages")
    dated = wall(page["fetched_at"])
    page["fetched_at"] = dated - 3600.0
    assert judged(lines)["I10"] == "violated"
    real = int((dated - lines["clock"][0]["wall"]) * SECOND)
    fault = {"event": "stop", "fault": "clock", "target": "worker-3", "jump": -3600}
    for began, verdict in ((real - SECOND, "ok"), (real + SECOND, "violated")):
        jumped = {**lines, "nemesis": [{**fault, "began": began, "at": began + 12 * SECOND}, *lines["nemesis"]]}
        assert judged(jumped)["I10"] == verdict


def test_a_history_survives_its_files(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    lines = synthetic(3)
    for file, items in lines.items():
        for item in items:
            recorder.write(file, **item)
    recorder.close()
    found = load(tmp_path)
    assert not found.gaps
    assert len(found.requests) == len(history(lines).requests)
    assert [told.fact for told in found.facts] == [told.fact for told in history(lines).facts]
    topics = tmp_path / "topics.jsonl"
    topics.write_text("".join(topics.read_text().splitlines(keepends=True)[:-1]))
    assert "topics" in load(tmp_path).gaps


def test_the_origins_own_log_is_read_as_it_is_written(tmp_path: Path) -> None:
    asked = Asked(1, 1, "www.shop.example", "GET", "/", "GET / HTTP/1.1\r\nHost: www.shop.example", SECOND)
    still_open = Asked(2, 1, "shop.example", "HEAD", "/", "HEAD / HTTP/1.1", 5 * SECOND)
    asked.ended = 2 * SECOND
    Recorder(tmp_path).asked([asked, still_open])
    found = load(tmp_path)
    assert [request.asked for request in found.requests] == [asked, still_open]
    assert {request.site for request in found.requests} == {"shop.example"}
    assert [str(request.line) for request in found.requests] == ["origin:1", "origin:3"]
    assert not found.gaps
