"""Events that are dealt with, but for records on their way to the broker: acknowledged in the order they came.

So a kill loses none: what was not acknowledged is read again, and the same letter has the same key. What comes after
an event does not wait for its record: it may overtake it on its way, only its acknowledgement waits. Records of one
key keep their order.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agents.dead_letters import DeadLetter

log = logging.getLogger(__name__)

MOST_BYTES = 8 * 1024 * 1024
"""What is on its way may hold of memory, about: originals of letters are held until they are acknowledged."""
OVERHEAD = 1024
"""Bytes that an event costs besides its value, about; so at most 8,000 records are on their way."""
LINGER = 0.02
"""Seconds that a letter waits for others. The broker answers in less than 1 ms: two letters a batch (measured)."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between tries while the broker is away; doubling."""

Send = Callable[[Sequence[DeadLetter]], Awaitable[int]]
"""Sends as many of the first letters as fit into one batch; returns how many, when the broker has them."""


@dataclass(frozen=True, slots=True)
class Forward:
    """A record to be sent on; after all that went before it under the same key."""

    key: str
    send: Callable[[], Awaitable[Any]]


class Line:
    """One consumer's line, and the one task that sends its letters: whatever has come meanwhile is the next batch.

    A task for each letter, and a batch for few of them, cost 0.15 ms of CPU a letter (measured).
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: deque[tuple[Any, int, asyncio.Task[None] | None]] = deque()
        self._letters: deque[DeadLetter] = deque()
        self._last: dict[str, asyncio.Task[None]] = {}
        self._bytes = self._sent = 0
        self._wake, self._room = asyncio.Event(), asyncio.Event()
        self._sender = asyncio.create_task(self._run())

    async def join(self, event: Any, record: DeadLetter | Forward | None) -> None:
        """Queue up; with a record, once there is room for it."""
        if record is None:
            self._waiting.append((event, 0, None))
            self._advance()
            return
        size = _size(record)
        while self._bytes and self._bytes + size > MOST_BYTES:
            self._room.clear()
            await self._room.wait()
        self._bytes += size
        if isinstance(record, Forward):
            self._waiting.append((event, 0, self._forward(record)))
            return
        self._letters.append(record)
        self._waiting.append((event, 1, None))
        self._wake.set()

    def _forward(self, record: Forward) -> asyncio.Task[None]:
        task = asyncio.create_task(_follow(self._last.get(record.key), record))
        self._last[record.key] = task
        task.add_done_callback(partial(self._forwarded, record))
        return task

    def _forwarded(self, record: Forward, task: asyncio.Task[None]) -> None:
        if self._last.get(record.key) is task:
            del self._last[record.key]
        self._bytes -= _size(record)
        self._room.set()
        self._advance()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await asyncio.sleep(LINGER)
            here = len(self._letters)  # what comes meanwhile is the next round's, or its batches would be small
            while here > 0:
                count = await insisted(self._letters[0].key.decode, self._first)
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
        while self._waiting:
            event, letters, task = self._waiting[0]
            if letters > self._sent or (task is not None and not task.done()):
                break
            self._waiting.popleft()
            self._sent -= letters
            event.ack()

    def leave(self) -> None:
        """The agent ends: what is on its way is not waited for, and not acknowledged."""
        self._sender.cancel()
        tasks = [task for _, _, task in self._waiting if task is not None]
        self._waiting.clear()  # or a task that is cancelled would count as done
        for task in tasks:
            task.cancel()


async def _follow(before: asyncio.Task[None] | None, record: Forward) -> None:
    if before is not None:
        await asyncio.wait([before])
    await insisted(record.key.__str__, record.send)


async def insisted(where: Callable[[], str], work: Callable[[], Awaitable[Any]]) -> Any:
    """Do it until it works. What fails here is a broker that is away: nothing is acknowledged until it is back."""
    wait = FIRST_WAIT
    while True:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - whatever it is: an escape would lose the event
            log.warning("waiting for the broker (%s) with %s", type(error).__name__, where())
        await asyncio.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)


def _size(record: DeadLetter | Forward) -> int:
    return OVERHEAD + (len(record.raw or b"") if isinstance(record, DeadLetter) else 0)
