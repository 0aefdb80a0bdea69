"""The pump: a heap of (due, site), and one short task for each site that is due.

No coroutine lives for minutes and no event is held while a crawl runs. Pace is measured from the end of one request
to the start of the next and checked again on the monotonic clock, since event loops wake up to 1.4 ms early
(measured). The pump runs only between an assignment that is complete and the next revocation.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import logging
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agents.metrics import LATENESS, OPEN_SITES, REQUESTS
from agents.sites import NotOurs
from agents.standstill import Standstill
from agents.step import Stepped, Stepper
from models.state import Head

log = logging.getLogger(__name__)

TICK = 0.25
"""Longest sleep of the pump's loop; also how it notices that the process stood still."""
MARGIN = 2.0
"""Beyond a request's own timeout, before it is certain that nothing of it is on the wire."""
SLACK = 0.05
"""Seconds on top of every gap. An origin notes the end of its answer after its last byte is with us (2.6 ms later on
a busy machine, measured), and the pace is promised by the origin's clock, not by ours."""
HEARING = 2.0
"""Seconds after a standstill in which the mailbox is dealt with first: a suspension may wait in it (E25)."""
MAX_FLYING = 1000


@dataclass(slots=True)
class Slot:
    """What the pump knows of a site; `ready` is the earliest start of its next request, monotonic."""

    ready: float
    due: float
    busy: bool = False
    called: bool = False
    """A message came while a step was under way."""


class Pump:
    """Makes the requests of the sites that this worker owns."""

    def __init__(self, stepper: Stepper, standstill: Standstill, may_run: Callable[[str], bool]) -> None:
        self._stepper = stepper
        self._standstill = standstill
        self._may_run = may_run
        self._heap: list[tuple[float, int, str]] = []
        self._order = itertools.count()
        self._slots: dict[str, Slot] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.epoch = 0
        """Counts ownerships: a step that began in another epoch sends nothing more."""
        self.paused = True
        self.sure: Callable[[], bool] = lambda: True
        """Whether the broker said not long ago that this worker is a member: only then is anything sent or told."""
        self._hold_until = 0.0

    def start(self, heads: Iterable[Head], delay: float, dead: Callable[[str], bool] = lambda _worker: False) -> None:
        """After an assignment: everything that is open, none of it at once (a takeover waits one delay).

        `dead` says of a worker whether its death is certain.
        """
        self.epoch += 1
        self._heap.clear()
        self._slots.clear()
        now, wall = time.monotonic(), time.time()
        for head in heads:
            ready = now + takeover_wait(head, wall, delay, dead) + random.random() * delay / 2  # noqa: S311 - no burst at a takeover
            self._slots[head.site] = Slot(ready, ready)
            self._push(head.site, ready)
        self.paused = False
        OPEN_SITES.set(len(self._slots))
        if self._loop is None:
            self._standstill.begin()
            self._loop = asyncio.create_task(self._run(), name="pump")
        self._wake.set()

    async def stop(self, grace: float = 3.0) -> None:
        """Before a revocation and before shutdown: no new requests; steps under way may finish for a moment."""
        self.paused = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        self.epoch += 1
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=2.0)

    async def close(self) -> None:
        """End for good."""
        await self.stop()
        if self._loop is not None:
            self._loop.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop
            self._loop = None

    def hold(self, seconds: float) -> None:
        """No request anywhere for so long: suspensions that wait in the mailbox come first (E25)."""
        self._hold_until = max(self._hold_until, time.monotonic() + seconds)

    def add(self, site: str, head: Head) -> None:
        """A message came: the site may have something to do. A quiet site starts at once."""
        slot = self._slots.get(site)
        now = time.monotonic()
        if slot is None:
            since = max(0.0, time.time() - head.last_end)
            ready = now + max(0.0, min(head.wait, head.wait - since) + SLACK) if head.last_end else now
            slot = self._slots[site] = Slot(ready, ready)
            OPEN_SITES.set(len(self._slots))
        slot.called = slot.busy
        if not slot.busy:
            slot.due = max(slot.ready, now)
            self._push(site, slot.due)
            self._wake.set()

    def _push(self, site: str, due: float) -> None:
        heapq.heappush(self._heap, (due, next(self._order), site))

    async def _run(self) -> None:
        """Start what is due, unless the process stood still a moment ago."""
        standstills = self._standstill.count
        while True:
            if self._standstill.over:
                if self._standstill.count != standstills:
                    standstills = self._standstill.count
                    self.hold(HEARING)
                self._start_due()
            # Not `wait_for`: on Python 3.11 it loses a cancellation that comes as the event does, and `close` waits
            # for ever (found in virtual time: a worker that fails right after a step).
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._sleep()):
                    await self._wake.wait()
            self._wake.clear()

    def _sleep(self) -> float:
        if not self._heap or self.paused:
            return TICK  # what is due waits for the rebalance; looking 2,000 times a second would not help it
        due = max(self._heap[0][0], self._hold_until)
        return min(TICK, max(0.0005, due - time.monotonic()))

    def _start_due(self) -> None:
        now = time.monotonic()
        while (
            self._heap
            and self._heap[0][0] <= now
            and now >= self._hold_until
            and not self.paused
            and self.sure()
            and len(self._tasks) < MAX_FLYING
        ):
            _, _, site = heapq.heappop(self._heap)
            slot = self._slots.get(site)
            if slot is None or slot.busy or slot.due > now:
                continue  # an older push of the same site
            if not self._may_run(site):
                slot.due = now + TICK
                self._push(site, slot.due)
                continue
            self._spawn(site, slot, now)

    def _spawn(self, site: str, slot: Slot, now: float) -> None:
        LATENESS.observe(now - slot.due)
        slot.busy = True
        task = asyncio.create_task(self._step(site, slot, self.epoch), name=f"step {site}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _step(self, site: str, slot: Slot, epoch: int) -> None:
        standstills = self._standstill.look()

        def still_ours() -> bool:
            here = epoch == self.epoch and not self.paused and self.sure() and time.monotonic() >= slot.ready
            return here and self._may_run(site) and self._standstill.look() == standstills

        try:
            done = await self._stepper.step(site, still_ours)
        except NotOurs as error:
            log.warning("a step at %s is left to its new owner: %s", site, error)
            done = Stepped(None, 60.0)
        except Exception:
            log.exception("a step at %s failed; it is taken again in a minute", site)
            done = Stepped(None, 60.0)
            slot.ready = time.monotonic() + 60.0  # it may have asked: not even a message makes the next one earlier
        slot.busy = False
        if self._slots.get(site) is not slot:
            return  # a rebalance came in between
        self._again(site, slot, done)

    def _again(self, site: str, slot: Slot, done: Stepped) -> None:
        """Back on the heap, or away when nothing is left to do."""
        now = time.monotonic()
        if done.ended is not None:
            REQUESTS.labels(done.kind, done.outcome).inc()
            slot.ready = done.ended + (done.wait or 0.0) + SLACK
            slot.due = slot.ready
        elif done.wait is not None or slot.called:
            slot.due = max(slot.ready, now + (0.0 if slot.called else done.wait or 0.0))
        elif slot.ready > now:
            slot.due = slot.ready  # nothing to do, but the pace of the last request is remembered until it is over
        else:
            del self._slots[site]
            OPEN_SITES.set(len(self._slots))
            return
        slot.called = False
        self._push(site, slot.due)
        self._wake.set()


def takeover_wait(head: Head, wall: float, delay: float, dead: Callable[[str], bool]) -> float:
    """Seconds that a new owner waits at a site (faults: a request of the old one may still be on the wire).

    At least one delay and any stored pause; with an open intent, until its own timeout and a margin are over, unless
    whoever wrote it is certainly dead. What depends on another machine's clock is clamped, so that a wrong clock
    cannot shorten it or stretch it for a day.
    """
    wait = max(delay, head.wait, head.pause_until - wall)
    for intent in head.intents:
        if dead(intent.worker):
            continue
        longest = intent.timeout + MARGIN + delay
        wait = max(wait, min(longest, max(delay, intent.at + longest - wall)))
    return wait
