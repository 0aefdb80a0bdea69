"""Notices that the process stood still: SIGSTOP, a long collection, a paused virtual machine.

Whoever stood still longer than a session may have lost its sites without knowing. What it then knows of them is old:
a request that it had planned must not be sent, and a result that it holds must not be written over the new owner's,
until the broker had time to say whose the sites are.
"""

from __future__ import annotations

import asyncio
import logging
import time

log = logging.getLogger(__name__)

STALL = 3.0
"""Seconds between two looks, of which there are four a second, that mean a standstill."""


def boottime() -> float:
    """Seconds of a clock that no wall-clock change moves and that goes on while the machine is suspended."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Standstill:
    """One for each process. Whoever is about to act looks first; the first look after a standstill counts it."""

    def __init__(self, wait: float) -> None:
        self.wait = wait
        """Seconds after a standstill in which nothing is sent or written."""
        self._last = boottime()
        self._until = 0.0
        self.count = 0
        """Standstills so far. Who planned something under another count plans again."""

    def begin(self) -> None:
        """From now on somebody looks four times a second; what was before is no standstill."""
        self._last = boottime()

    def look(self) -> int:
        """The count, after a look at the clock."""
        now = boottime()
        gap, self._last = now - self._last, now
        if gap > STALL:
            self.count += 1
            self._until = now + self.wait
            log.warning("stood still for %.1f s; nothing is sent or written for %.1f s", gap, self.wait)
        return self.count

    @property
    def over(self) -> bool:
        """Whether the wait after the last standstill is over."""
        self.look()
        return boottime() >= self._until

    async def settled(self) -> None:
        """Wait until it is. A revocation that comes meanwhile cancels whoever waits here."""
        while not self.over:  # noqa: ASYNC110 - a clock has no event
            await asyncio.sleep(max(0.05, self._until - boottime()))
