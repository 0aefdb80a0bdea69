"""Several runs in one table: `python -m tests.chaos.run --sum FOLDER ...` (or their report.json files)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

HEAD = (
    "| run | requests | faults (processes, brokers, database + in events) | overlaps | gaps under the pace"
    " | made again | anomalies | verdicts |"
)


def reports(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The reports of these runs."""
    return [json.loads((path / "report.json" if path.is_dir() else path).read_text()) for path in paths]


def table(found: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each run, their sum, the faults by kind, and whether the sum is what was promised."""
    lines = [HEAD, "|" + "---|" * 8, *(_line(_name(one), [one]) for one in found), _line("**sum**", found)]
    kinds: Counter[str] = Counter()
    for one in found:
        kinds.update(one["faults"])
    by_kind = ", ".join(f"{what} {n}" for what, n in sorted(kinds.items(), key=lambda pair: (-pair[1], pair[0])))
    failed = sorted({f"{_name(one)}: {what}" for one in found for what in _violated(one)})
    return [*lines, "", f"Faults by kind: {by_kind}.", *(f"VIOLATED {line}" for line in failed)]


def _name(one: dict[str, Any]) -> str:
    return f"`{one.get('command') or 'seed ' + str(one['seed'])}`"


def _violated(one: dict[str, Any]) -> list[str]:
    return [name for name, verdict in one["verdicts"].items() if verdict == "violated"]


def _line(name: str, some: Sequence[dict[str, Any]]) -> str:
    def total(key: str) -> int:
        return sum(int(one["figures"][key]) for one in some)

    processes, events = (sum(one[key] for one in some) for key in ("process_faults", "event_faults"))
    sent, again = total("recorded_as_sent"), total("made_again")
    verdicts = Counter(verdict for one in some for verdict in one["verdicts"].values())
    said = ", ".join(f"{n} {verdict}" for verdict, n in sorted(verdicts.items()))
    cells = (
        name, f"{total('requests'):,}", f"{processes:,} + {events:,}", str(total("overlaps")),
        str(total("gaps_below_1_s")), f"{100 * again / max(1, sent):.2f} %",
        str(sum(len(one["anomalies"]) for one in some)), said,
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"
