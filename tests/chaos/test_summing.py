"""Runs are added up: what docs/survival.md says of all of them together is counted, not typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.chaos.summing import reports, table


def report(seed: int, requests: int, again: int, kills: int, verdict: str = "ok") -> dict[str, Any]:
    figures = {
        "requests": requests, "overlaps": 0, "gaps_below_1_s": int(verdict == "violated"),
        "recorded_as_sent": requests, "made_again": again,
    }  # fmt: skip
    return {
        "seed": seed, "command": f"--profile short --seed {seed}", "figures": figures, "faults": {"kill": kills, "cut": 1},
        "process_faults": kills + 1, "event_faults": 10, "anomalies": [], "verdicts": {"I1": "ok", "I2": verdict},
    }  # fmt: skip


def test_runs_are_added_up_with_their_seeds_and_faults(tmp_path: Path) -> None:
    for seed, one in enumerate((report(1, 900, 9, 3), report(2, 1100, 1, 5))):
        (tmp_path / f"run-{seed}").mkdir()
        (tmp_path / f"run-{seed}" / "report.json").write_text(json.dumps(one))
    lines = table(reports([tmp_path / "run-0", tmp_path / "run-1" / "report.json"]))
    assert lines[2] == "| `--profile short --seed 1` | 900 | 4 + 10 | 0 | 0 | 1.00 % | 0 | 2 ok |"
    assert lines[4] == "| **sum** | 2,000 | 10 + 20 | 0 | 0 | 0.50 % | 0 | 4 ok |"
    assert lines[-1] == "Faults by kind: kill 8, cut 2."


def test_a_run_that_broke_a_promise_is_named() -> None:
    lines = table([report(1, 900, 9, 3), report(2, 100, 1, 5, "violated")])
    assert lines[-1] == "VIOLATED `--profile short --seed 2`: I2"
