"""One chaos run: `python -m tests.chaos.run --profile short --seed 7`. Exit code 1 when a promise was broken.

Several runs are added up: `python -m tests.chaos.run --sum FOLDER ...` prints the table of docs/survival.md.
A failing run can be shrunk: `--shrink` plays ever shorter parts of its schedule and prints the shortest that fails.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bots
from tests.chaos.checkers import judge
from tests.chaos.figures import figures
from tests.chaos.history import load
from tests.chaos.load import Load
from tests.chaos.nemesis import PROCESS_FAULTS, TARGETS, Fault, Nemesis, schedule
from tests.chaos.rig import Rig
from tests.chaos.small_disk import why_not
from tests.chaos.summing import reports, table

EVENTS = {"poison": 3, "duplicates": 2, "misordered": 2, "misplaced": 2, "suspension": 3}
PROCESSES = {
    "kill": 6, "term": 3, "freeze_short": 3, "freeze_long": 2, "freeze_very_long": 1, "freeze_watched": 1, "stuck": 1,
    "absent": 1, "absent_certain": 2, "visit": 2, "rival": 1, "cut": 3, "half_open": 3, "slow": 2, "clock": 2,
    "database_kill": 1, "database_restart": 1, "database_terminate": 3, "database_lock": 1,
    "broker_restart": 1, "broker_kill": 1, "broker_freeze": 1,
}  # fmt: skip
ROUNDS = (("deaf", "database_down"), ("broker_down",), ("database_full",), ("broker_full",))
OUTAGES = {"broker_down": 1, "database_down": 1, "broker_full": 1, "database_full": 1, "deaf": 1}
KILLS = {"kill": 6, "absent_certain": 2, "term": 1}
BROKERS = {"broker_kill": 4, "broker_restart": 2, "broker_freeze": 1, "broker_down": 1, "kill": 2}


@dataclass(frozen=True, slots=True)
class Profile:
    """How long, how many sites, which faults, and how often one begins."""

    seconds: float
    sites: int
    weights: dict[str, int]
    every: float
    nodes: int = 1
    rounds: tuple[tuple[str, ...], ...] = ()
    """Instead of a drawn schedule: one after the other, each with a calm around it."""
    outage: float = 60.0


PROFILES = {
    "test": Profile(80, 16, {"kill": 3, "freeze_long": 1, "absent_certain": 1, "cut": 1, "database_terminate": 1,
                             "broker_kill": 1, "rival": 1, "poison": 1, "duplicates": 1, "suspension": 1}, 6.0),
    "short": Profile(540, 60, PROCESSES | OUTAGES | EVENTS, 6.0),
    "long": Profile(3540, 100, PROCESSES | OUTAGES | EVENTS | {"flood": 1}, 16.0),
    "utopia": Profile(120, 60, {"flood": 1}, 40.0),
    "figures": Profile(400, 40, KILLS | OUTAGES | {"stuck": 1, "rival": 1, "flood": 1}, 26.0),
    "outages": Profile(3600, 40, {}, 0.0, rounds=ROUNDS),
    "kills": Profile(300, 40, {"kill": 1}, 16.0),
    "deaths": Profile(300, 40, {"absent_certain": 1}, 38.0),
    "brokers": Profile(300, 40, BROKERS, 30.0, nodes=3),
}  # fmt: skip


async def play(folder: Path, profile: Profile, faults: list[Fault], seed: int) -> dict[str, Any]:
    """Bring the house up, let the nemesis loose, wait for quiet, write everything down."""
    full = any(fault.what.endswith("_full") for fault in faults)
    small = max(1.0, profile.seconds * profile.sites / 36_000) if full else 0.0
    rig = Rig(folder, profile.sites, profile.nodes, clocked="clock" in profile.weights, small=small)
    report: dict[str, Any] = {}
    try:
        await rig.begin()
        customers = Load(rig, seed)
        nemesis = Nemesis(rig, customers)
        nemesis.outage = profile.outage
        await customers.verify()
        asking = asyncio.create_task(customers.run())
        closing = asyncio.create_task(_close(customers, profile.seconds))
        if profile.rounds:
            await nemesis.in_turn(grouped(profile.rounds, faults))
            customers.closing = True
        else:
            await nemesis.play(faults)
        healed = time.monotonic()
        report["quiet_after"] = await _quiet(rig)
        if customers.closing:
            closing.cancel()
        else:
            await closing
        await asking
        report["ended"] = await _ended(rig)
        report["drained_at_the_end"] = await rig.drained(60)
        report["seconds_after_heal"] = round(time.monotonic() - healed, 1)
        report["memory"] = await rig.memories_agree()
        rig.clock()
        await rig.dump()
        rig.record.close()
        report["faults"] = dict(nemesis.done)
        report["process_faults"] = sum(n for what, n in nemesis.done.items() if what in PROCESS_FAULTS)
        report["event_faults"] = nemesis.events + customers.duplicates
        report["skipped"] = dict(nemesis.skipped)
        report["notes"] = nemesis.notes
    finally:
        await rig.stop()
    return report


def planned(profile: Profile, seed: int) -> list[Fault]:
    """The faults of a run; where disks cannot be made full, without those."""
    why = why_not()
    if not profile.rounds:
        weights = {what: n for what, n in profile.weights.items() if not (why and what.endswith("_full"))}
        return schedule(seed, profile.seconds - 15, weights, profile.every)
    names = [what for together in profile.rounds for what in together if not (why and what.endswith("_full"))]
    return [Fault(0.0, what, TARGETS[what][seed % len(TARGETS[what])], seed) for what in names]


def grouped(rounds: tuple[tuple[str, ...], ...], faults: list[Fault]) -> list[list[Fault]]:
    """The faults by round; a round of which none is left is left out."""
    found = [[fault for fault in faults if fault.what in together] for together in rounds]
    return [together for together in found if together]


async def _close(customers: Load, seconds: float) -> None:
    await asyncio.sleep(seconds)
    customers.closing = True


async def _quiet(rig: Rig) -> float | None:
    """Seconds from the heal until all are ready and what there was is stored; written down every second."""
    began = time.monotonic()
    ends = None
    while time.monotonic() - began < 120:
        lag, ready = 1, False
        with suppress(Exception):
            ends = ends or await rig.ends()
            lag = await rig.behind(ends)
            ready = await asyncio.to_thread(rig.all_ready)
        rig.record.write("final", event="quiet", at=time.monotonic_ns(), lag=lag, ready=ready)
        if ready and not lag:
            return round(time.monotonic() - began, 1)
        await asyncio.sleep(1.0)
    return None


async def _ended(rig: Rig) -> bool:
    """Whether every accepted crawl came to its end."""
    query = "SELECT count(*) AS n FROM crawls WHERE accepted AND terminal_kind IS NULL"
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        await rig.drained(30)
        with suppress(Exception):
            if not rig.rows(query)[0]["n"]:
                return True
        await asyncio.sleep(1.0)
    return False


def verdict(folder: Path, report: dict[str, Any]) -> bool:
    """Judge the history, write the figures beside it, say what was found; whether all is well."""
    history = load(folder)
    verdicts = judge(history, bots.load("ema"))
    report["figures"] = figures(history)
    report["verdicts"] = {name: one.verdict for name, one in verdicts.items()}
    report["unknown"] = {name: one.why for name, one in verdicts.items() if one.verdict == "unknown"}
    found = [str(anomaly) for one in verdicts.values() for anomaly in one.anomalies]
    report["anomalies"] = found
    good = not found and report["ended"] and not report["memory"] and report["quiet_after"] is not None
    report["ok"] = good
    (folder / "report.json").write_text(json.dumps(report, indent=1, default=str))
    return bool(good)


def once(
    folder: Path, profile: Profile, faults: list[Fault], seed: int, command: str = ""
) -> tuple[bool, dict[str, Any]]:
    """Play and judge; `command` is what the run is called in the tables."""
    folder.mkdir(parents=True, exist_ok=True)
    report = asyncio.run(play(folder, profile, faults, seed))
    report |= {"seed": seed, "folder": str(folder), "command": command}
    return verdict(folder, report), report


def shrink(folder: Path, profile: Profile, faults: list[Fault], seed: int) -> list[Fault]:
    """The faults of a failing run without which it does not fail; each part is played in a run of its own."""
    numbers = itertools.count(1)

    def fails(part: list[Fault]) -> bool:
        first = part[0].at - 5
        earlier = [replace(one, at=one.at - first) for one in part]
        number = next(numbers)
        good, _ = once(folder / f"shrink-{number}", profile, earlier, seed)
        print(f"shrink {number}: {len(part)} faults, {'well' if good else 'fails'}", flush=True)
        return not good

    return shortest(faults, fails)


def shortest(faults: list[Fault], fails: Callable[[list[Fault]], bool]) -> list[Fault]:
    """Leave out ever smaller parts of a failing list for as long as it fails (Zeller and Hildebrandt's ddmin)."""
    parts = 2
    while len(faults) > 1:
        size = -(-len(faults) // parts)
        for at in range(0, len(faults), size):
            rest = faults[:at] + faults[at + size :]
            if rest and fails(rest):
                faults, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(faults), parts * 2)
    return faults


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--profile", choices=PROFILES, default="short")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--sites", type=int, default=None)
    parser.add_argument("--outage", type=float, default=None, help="seconds of broker_down and database_down")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--sum", type=Path, nargs="+", help="folders of runs, or their reports: no run, a table")
    given = parser.parse_args()
    if given.sum:
        print("\n".join(table(found := reports(given.sum))))
        return int(not all(one["ok"] for one in found))
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # the driver's own clients in an outage are no news
    seed = given.seed if given.seed is not None else int(time.time())
    base = PROFILES[given.profile]
    profile = replace(base, seconds=given.seconds or base.seconds, sites=given.sites or base.sites)
    if given.outage is not None:
        profile = replace(profile, outage=given.outage)
    folder = given.folder or Path(tempfile.mkdtemp(prefix=f"chaos-{given.profile}-{seed}-"))
    faults = planned(profile, seed)
    if why_not():
        print(f"no full disks: {why_not()}")
    print(f"profile {given.profile}, seed {seed}, {len(faults)} faults planned, {profile.sites} sites, in {folder}")
    command = f"{given.profile} --seed {seed} --seconds {profile.seconds:g} --sites {profile.sites}"
    good, report = once(folder, profile, faults, seed, command)
    print(json.dumps({k: v for k, v in report.items() if k != "anomalies"}, indent=1, default=str))
    for line in report["anomalies"][:30]:
        print("ANOMALY", line)
    print(f"{'OK' if good else 'BROKEN'}: seed {seed}, profile {given.profile}, {len(report['anomalies'])} anomalies")
    if not good and given.shrink:
        for fault in shrink(folder, profile, faults, seed):
            print("NEEDED", fault)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
