"""Events that are dealt with, but for dead letters on their way to the broker: acknowledged in the order they came.

So a kill loses none: what was not acknowledged is read again, and the same letter has the same key. What comes after
a letter does not wait for it: it may overtake it on its way, only its acknowledgement waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents.dead_letters import DeadLetter

log = logging.getLogger(__name__)

MOST_BYTES = 8 * 1024 * 1024
"""What letters on their way may hold of memory, about: their originals are held until they are acknowledged."""
OVERHEAD = 1024
"""Bytes that an event costs besides its value, about; so at most 8,000 letters are on their way."""
LINGER = 0.02
"""Seconds that a letter waits for others. The broker answers in less than 1 ms: two letters a batch (measured)."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between tries while the broker is away; doubling."""

Send = Callable[[Sequence[DeadLetter]], Awaitable[int]]
"""Sends as many of the first letters as fit into one batch; returns how many, when the broker has them."""


class Line:
    """One consumer's line, and the one task that sends its letters: whatever has come meanwhile is the next batch.

    A task for each letter, and a batch for few of them, cost 0.15 ms of CPU a letter (measured).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[tuple[Any, int]] = deque()
        self._letters: deque[DeadLetter] = deque()
        self._bytes = self._sent = 0
        self._wake, self._room = asyncio.Event(), asyncio.Event()
        self._sender = asyncio.create_task(self._run())

    async def join(self, event: Any, letter: DeadLetter | None) -> None:
        """Queue up; with a letter, once there is room for it."""
        if letter is None:
            self._waiting.append((event, 0))
            self._advance()
            return
        size = _size(letter)
        while self._bytes and self._bytes + size > MOST_BYTES:
            self._room.clear()
            await self._room.wait()
        self._bytes += size
        self._letters.append(letter)
        self._waiting.append((event, 1))
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(LINGER)
            here = len(self._letters)  # what comes meanwhile is the next round's, or its batches would be small
            while here > 0:
                count = await insisted(self._letters[0].key.decode(), self._first)
                self._arrived(count)
                here -= count

    async def _first(self) -> int:
        return await self._send(self._letters)

    def _arrived(self, count: int) -> None:
        """So many of the first letters are on the broker."""
        for _ in range(count):
            self._bytes -= _size(self._letters.popleft())
        self._sent += count
        self._room.set()
        self._advance()

    def _advance(self) -> None:
        while self._waiting and self._waiting[0][1] <= self._sent:
            event, letters = self._waiting.popleft()
            self._sent -= letters
            event.ack()

    def leave(self) -> None:
        """The agent ends: what is on its way is not waited for, and not acknowledged."""
        self._sender.cancel()


async def insisted(where: str, work: Callable[[], Awaitable[Any]]) -> Any:
    """Do it until it works. What fails here is a broker that is away: nothing is acknowledged until it is back."""
    wait = FIRST_WAIT
    while True:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - whatever it is: an escape would lose the event
            log.warning("waiting for the broker (%s) with %s", type(error).__name__, where)
        await asyncio.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)


def _size(letter: DeadLetter) -> int:
    return OVERHEAD + len(letter.raw or b"")
