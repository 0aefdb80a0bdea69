"""The nemesis: a seeded schedule of faults, each a short coroutine that does its harm, waits, and heals it.

Same seed and same profile, same schedule. A fault whose target is in the middle of another one is left out, and the
history says so. Every fault heals itself, so that any part of a schedule can be left out (shrinking).
"""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stack.process import Process
from tests.chaos.event_faults import EventFaults
from tests.chaos.load import Load
from tests.chaos.outage_faults import OutageFaults
from tests.chaos.rig import CLOCKED, FAKETIME, NAMES, Rig, waiting
from tests.house.house import SESSION

WORKERS = NAMES[:3]
DAY, HOUR = 86_400, 3_600
CALM = 6.0
"""Seconds around a round of faults."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One entry of a schedule: seconds from its beginning, what, to whom, and a number that is its own."""

    at: float
    what: str
    target: str
    dice: int


def schedule(seed: int, seconds: float, weights: dict[str, int], every: float) -> list[Fault]:
    """Faults until `seconds`, drawn from a bag that holds each by its weight and is refilled when it is empty."""
    rng = random.Random(seed)
    found: list[Fault] = []
    bag: list[str] = []
    at = every
    while at < seconds:
        if not bag:
            bag = [what for what, weight in weights.items() for _ in range(weight)]
            rng.shuffle(bag)
        what = bag.pop()
        found.append(Fault(at, what, rng.choice(TARGETS[what]), rng.randrange(1 << 30)))
        at += rng.uniform(0.5 * every, 1.5 * every)
    return found


class Nemesis(EventFaults, OutageFaults):
    """Plays a schedule against a rig."""

    def __init__(self, rig: Rig, load: Load) -> None:
        self._rig, self._load = rig, load
        self._busy: set[str] = set()
        self.done: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.events = 0
        """Faults in events: each poisonous, duplicate, misplaced or misordered one."""
        self.notes: list[dict[str, Any]] = []

    async def play(self, faults: list[Fault]) -> None:
        """Each at its time; returns when the last has been healed."""
        began = time.monotonic()
        tasks = []
        for fault in faults:
            await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
            tasks.append(asyncio.create_task(self._one(fault)))
        await asyncio.gather(*tasks)
        await self._whole()
        self._write("heal", "all", "all")

    async def in_turn(self, rounds: Sequence[Sequence[Fault]]) -> None:
        """Each round by itself, with a calm after it: so its figure is its own. A round's faults begin together."""
        for together in rounds:
            await asyncio.sleep(CALM)
            await asyncio.gather(*(self._one(fault) for fault in together))
        await asyncio.sleep(CALM)
        await self._whole()
        self._write("heal", "all", "all")

    async def _one(self, fault: Fault) -> None:
        if fault.target in self._busy:
            self.skipped[fault.what] += 1
            return
        self._busy.add(fault.target)
        self._write("start", fault.what, fault.target)
        try:
            more = await FAULTS[fault.what](self, fault.target, random.Random(fault.dice))
        except Exception as error:  # noqa: BLE001 - a fault that could not be made is no fault, and is reported
            self.notes.append({"fault": fault.what, "target": fault.target, "failed": repr(error)})
            self._write("stop", fault.what, fault.target, failed=repr(error))
        else:
            self.done[fault.what] += 1
            self._write("stop", fault.what, fault.target, **(more or {}))
        finally:
            self._busy.discard(fault.target)

    def _write(self, event: str, fault: str, target: str, **more: Any) -> None:
        self._rig.record.write("nemesis", at=time.monotonic_ns(), event=event, fault=fault, target=target, **more)

    async def _whole(self) -> None:
        """Everything open, awake and watched: what is wrong after this is wrong by itself."""
        rig = self._rig
        for proxy in rig.proxies.values():
            proxy.set("open")
        for name, child in rig.children.items():
            child.process.send(signal.SIGCONT)
            child.watched = True
            if name != NAMES[3]:
                rig.away.discard(name)

    # processes

    def _process(self, name: str) -> Process:
        return self._rig.children[name].process

    async def kill(self, name: str, rng: random.Random) -> None:
        """Kill -9; the supervisor starts it again."""
        self._process(name).send(signal.SIGKILL)
        await self._back(name)

    async def term(self, name: str, rng: random.Random) -> None:
        """SIGTERM; the supervisor starts it again."""
        self._process(name).send(signal.SIGTERM)
        await self._back(name)

    async def _back(self, name: str) -> None:
        pid = self._process(name).pid
        await waiting(lambda: self._process(name).pid != pid and self._rig.ready(name), 40)

    async def _freeze(self, name: str, seconds: float, *, watched: bool) -> None:
        child = self._rig.children[name]
        pid = child.process.pid
        child.watched = watched
        child.process.send(signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            if child.process.pid == pid:
                child.process.send(signal.SIGCONT)
            await asyncio.sleep(1.0)
            child.watched = True

    async def freeze_short(self, name: str, rng: random.Random) -> None:
        """SIGSTOP for 0.3 sessions."""
        await self._freeze(name, 0.3 * SESSION, watched=True)

    async def freeze_long(self, name: str, rng: random.Random) -> None:
        """SIGSTOP for 1.5 sessions, and nobody kills it: a zombie wakes."""
        await self._freeze(name, 1.5 * SESSION, watched=False)

    async def freeze_very_long(self, name: str, rng: random.Random) -> None:
        """SIGSTOP for 4 sessions, and nobody kills it."""
        await self._freeze(name, 4 * SESSION, watched=False)

    async def freeze_watched(self, name: str, rng: random.Random) -> None:
        """SIGSTOP for good: the supervisor has to notice."""
        await self._freeze(name, 4 * SESSION, watched=True)

    async def stuck(self, name: str, rng: random.Random) -> dict[str, Any]:
        """The event loop stands still for a minute; the supervisor has to notice (F10)."""
        pid, began = self._process(name).pid, time.monotonic()
        self._process(name).send(signal.SIGUSR2)
        await waiting(lambda: self._process(name).pid != pid and self._rig.ready(name), 75)
        return {"restarted": time.monotonic() - began}

    async def deaf(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Alive, and not in the group: only its own word, and the broker's, can tell (F11)."""
        pid, began = self._process(name).pid, time.monotonic()
        self._process(name).send(signal.SIGHUP)
        await waiting(lambda: self._process(name).pid != pid and self._rig.ready(name), 90)
        return {"restarted": time.monotonic() - began}

    async def _absent(self, name: str, seconds: float, *, certain: bool) -> None:
        rig, child = self._rig, self._rig.children[name]
        gone = child.gone
        rig.away.add(name)
        await child.process.kill()
        if certain:
            await gone(name, child.life)
        await asyncio.sleep(seconds)
        if not certain:
            child.gone = _nobody
        await child.step()
        await child.step()
        child.gone = gone
        rig.away.discard(name)
        await waiting(lambda: rig.ready(name), 40)

    async def absent_certain(self, name: str, rng: random.Random) -> None:
        """Kill -9, reaped and published, and back after 3 sessions: others take over."""
        await self._absent(name, 3 * SESSION, certain=True)

    async def absent(self, name: str, rng: random.Random) -> None:
        """Kill -9, and nobody says that it is dead."""
        await self._absent(name, 3 * SESSION, certain=False)

    async def visit(self, name: str, rng: random.Random) -> None:
        """A worker joins, and leaves again by SIGTERM: two rebalances."""
        rig = self._rig
        rig.spawn(name)
        await waiting(lambda: rig.ready(name), 40)
        await asyncio.sleep(rng.uniform(5, 15))
        rig.away.add(name)
        await rig.children[name].stop(12.0)

    async def rival(self, name: str, rng: random.Random) -> dict[str, Any]:
        """A second process under a worker's name: the older has to end with a sentence."""
        rig = self._rig
        rival = rig.rival(name)
        rival.spawn()
        try:
            left = await waiting(lambda: name in rig.away, 25)
            code = self._process(name).exit_code
            await asyncio.sleep(8.0)
        finally:
            await rival.stop(12.0)
            child = rig.children[name]
            if not child.process.alive:
                child.spawn()
            rig.away.discard(name)
        await waiting(lambda: rig.ready(name), 40)
        return {"older_left": left, "exit_code": code}

    # doors

    async def _door(self, name: str, mode: str, seconds: float, delay: float = 0.5) -> None:
        proxy = self._rig.proxies.get(name)
        if proxy is None:
            raise RuntimeError("no proxy in this run")
        proxy.set(mode, delay)
        try:
            await asyncio.sleep(seconds)
        finally:
            proxy.set("open")

    async def cut(self, name: str, rng: random.Random) -> None:
        """Cut off: every connection is reset, for half a session to three."""
        await self._door(name, "cut", SESSION * rng.choice((0.5, 1.5, 3.0)))

    async def half_open(self, name: str, rng: random.Random) -> None:
        """Half-open: nothing comes, nothing is closed."""
        await self._door(name, "half_open", SESSION * rng.choice((0.5, 1.5, 3.0)))

    async def slow(self, name: str, rng: random.Random) -> None:
        """Slow: half a second or two for each piece, each way."""
        await self._door(name, "slow", 12.0, rng.choice((0.5, 2.0)))

    # clock

    async def clock(self, name: str, rng: random.Random) -> dict[str, Any]:
        """The wall clock of one worker jumps, and back again; the history says how far, for what it dates meanwhile."""
        if not FAKETIME.exists():
            raise RuntimeError("libfaketime is not installed")
        file = self._rig.folder / f"{name}.clock"
        jump = rng.choice((DAY, -HOUR, 61, -61))
        began = time.monotonic_ns()
        file.write_text(f"{jump:+d}")
        await asyncio.sleep(12.0)
        file.write_text("+0")
        return {"jump": jump, "began": began}


async def _nobody(_name: str, _life: str) -> None:
    return


def _targets() -> Iterator[tuple[str, tuple[str, ...]]]:
    for what in ("kill", "freeze_short", "term"):
        yield what, (*WORKERS, *WORKERS, "sink")
    for what in (
        "freeze_long",
        "freeze_very_long",
        "freeze_watched",
        "stuck",
        "deaf",
        "absent",
        "absent_certain",
        "rival",
    ):
        yield what, WORKERS
    for what in ("cut", "half_open", "slow"):
        yield what, (*WORKERS, "database")
    for what in ("broker_restart", "broker_kill", "broker_freeze", "broker_down", "broker_full"):
        yield what, ("broker",)
    for what in (
        "database_down",
        "database_kill",
        "database_restart",
        "database_terminate",
        "database_lock",
        "database_full",
    ):
        yield what, ("postgres",)
    yield "visit", (NAMES[3],)
    yield "clock", (CLOCKED,)
    for what in ("poison", "flood", "duplicates", "misordered", "misplaced", "suspension"):
        yield what, (f"events:{what}",)


TARGETS = dict(_targets())
FAULTS: dict[str, Callable[..., Awaitable[dict[str, Any] | None]]] = {
    name: getattr(Nemesis, name) for name in TARGETS
}
PROCESS_FAULTS = tuple(name for name, target in TARGETS.items() if not target[0].startswith("events:"))
