"""The one way in which our agents consume: in order, one event at a time, acknowledged in order.

Faust acknowledges in `finally`, so on an exception and on a cancellation as well, and then commits: the event is
lost for good (measured). So each event is held with one reference more, which is given back when it is done, and no
exception leaves the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from aiokafka.errors import KafkaError

from agents.sites import NotOurs
from models.wire import Unreadable

log = logging.getLogger(__name__)
Result = TypeVar("Result")

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between tries while the broker is away; doubling."""


Handle = Callable[[Any], Awaitable[None]]
Refuse = Callable[[Any, Unreadable], Awaitable[None]]


async def consume(stream: Any, handle: Handle, refuse: Refuse, *, letters: int = 1) -> None:
    """Give every event of `stream` to `handle`; what it cannot read goes to `refuse`.

    A broker that is away is waited for. Any other error is a defect of ours or of the event: the event goes to the
    dead letters, with the traceback in the log, and the next one runs at once. So many `letters` may be on their
    way to the broker at a time: one by one they were 300 a second, and all behind a flood waited (measured).
    """
    line = Line(letters)
    try:
        async for event in stream.events():
            event.message.incref()
            error = await _insisted(event, partial(_handled, event, handle))
            await line.join(
                event, None if error is None else partial(_insisted, event, partial(refuse, event, error))
            )
    finally:
        line.leave()


class Line:
    """Events that are dealt with, but for dead letters on their way: acknowledged in the order in which they came.

    So a kill loses none: what was not acknowledged is read again, and the same letter has the same key.
    """

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)
        self._waiting: deque[tuple[Any, asyncio.Task[None] | None]] = deque()
        self._flying: set[asyncio.Task[None]] = set()

    async def join(self, event: Any, letter: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        """Queue up; with a letter, once there is room for it."""
        task = None
        if letter is not None:
            await self._room.acquire()
            task = asyncio.create_task(letter())
            self._flying.add(task)
            task.add_done_callback(self._arrived)
        self._waiting.append((event, task))
        self._advance()

    def _arrived(self, task: asyncio.Task[None]) -> None:
        self._flying.discard(task)
        self._room.release()
        self._advance()

    def _advance(self) -> None:
        while self._waiting:
            event, task = self._waiting[0]
            if task is not None and (not task.done() or task.cancelled()):
                return
            self._waiting.popleft()
            event.ack()

    def leave(self) -> None:
        """The agent ends: what is on its way is not waited for, and not acknowledged."""
        for task in self._flying:
            task.cancel()


async def _insisted(event: Any, work: Callable[[], Awaitable[Result]]) -> Result:
    """Do it until it works. What fails here is a broker that is away: nothing is acknowledged until it is back."""
    wait = FIRST_WAIT
    while True:
        try:
            return await work()
        except Exception as error:  # noqa: BLE001 - whatever it is: an escape would lose the event
            log.warning("waiting for the broker (%s) with %s", type(error).__name__, _where(event))
        await asyncio.sleep(wait)
        wait = min(wait * 2, LONGEST_WAIT)


async def _handled(event: Any, handle: Handle) -> Unreadable | None:
    """What is wrong with an event; None when it was dealt with. Raises only what the broker answers."""
    try:
        await handle(event)
    except Unreadable as error:
        log.warning("dead letter: %s: %s: %s", _where(event), error.cause, error)
        return error
    except KafkaError:
        raise
    except NotOurs as error:
        log.warning("left to its new owner: %s: %s", _where(event), error)
        event.message.incref()  # a reference that nobody gives back: we never acknowledge it
    except Exception as error:
        log.exception("dead letter: %s", _where(event))
        return Unreadable("error", f"{type(error).__name__}: {error}")
    return None


def _where(event: Any) -> str:
    return f"{event.message.topic}[{event.message.partition}]@{event.message.offset}"
