"""The one way in which our agents consume: in order, one event at a time, acknowledged in order.

Faust acknowledges in `finally`, so on an exception and on a cancellation as well, and then commits: the event is
lost for good (measured). So each event is held with one reference more, which is given back when it is done, and no
exception leaves the loop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from aiokafka.errors import KafkaError

from agents.dead_letters import DeadLetter
from agents.line import Forward, Line, Send, insisted
from agents.sites import NotOurs
from models.wire import Unreadable

log = logging.getLogger(__name__)

SAY = 1.0
"""Seconds between two lines about dead letters of one cause; a line for each was a tenth of their cost (measured)."""

Handle = Callable[[Any], Awaitable[Forward | None]]
"""Deals with an event; what it returns is still to be sent, and the next event does not wait for that."""
Refused = Callable[[Any], None]


async def consume(stream: Any, handle: Handle, send: Send, *, refused: Refused = lambda _event: None) -> None:
    """Give every event of `stream` to `handle`; what it cannot read goes to the dead letters by `send`.

    A broker that is away is waited for. Any other error is a defect of ours or of the event: the event goes to the
    dead letters, with the traceback in the log, and the next one runs at once, without waiting for the letter:
    one by one they were 300 a second, and all behind a flood waited (measured). `refused` hears of each.
    """
    line = Line(send)
    try:
        async for event in stream.events():
            event.message.incref()
            done = await insisted(partial(_where, event), partial(_handled, event, handle))
            if isinstance(done, Unreadable):
                await line.join(event, _letter(event, done))
                refused(event)
            else:
                await line.join(event, done)
    finally:
        line.leave()


def _letter(event: Any, error: Unreadable) -> DeadLetter:
    """What could not be read, with its cause and where it came from."""
    of = event.message
    return DeadLetter(of.topic, of.partition, of.offset, error.cause, str(error), of.value, of.timestamp)


class Said:
    """What is said of dead letters: of each cause a line a second, with the number of those that were left out."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def say(self, cause: str, text: str, event: Any, *values: Any, exc_info: bool = False) -> None:
        """Say it of this event, or count it."""
        now = time.monotonic()
        if now - self._last.get(cause, -SAY) < SAY:
            self._left_out[cause] = self._left_out.get(cause, 0) + 1
            return
        self._last[cause] = now
        values = (_where(event), *values)
        more = self._left_out.pop(cause, 0)
        if more:
            text, values = "%s (and %d more since the last line)", (text % values, more)
        log.warning(text, *values, exc_info=exc_info)


_said = Said()


async def _handled(event: Any, handle: Handle) -> Forward | Unreadable | None:
    """What is to be sent on for an event, or what is wrong with it. Raises only what the broker answers."""
    try:
        return await handle(event)
    except Unreadable as error:
        _said.say(error.cause, "dead letter: %s: %s: %s", event, error.cause, error)
        return error
    except KafkaError:
        raise
    except NotOurs as error:
        log.warning("left to its new owner: %s: %s", _where(event), error)
        event.message.incref()  # a reference that nobody gives back: we never acknowledge it
    except Exception as error:  # noqa: BLE001 - a defect must not stop what comes after
        _said.say(type(error).__name__, "dead letter: %s", event, exc_info=True)
        return Unreadable("error", f"{type(error).__name__}: {error}")
    return None


def _where(event: Any) -> str:
    return f"{event.message.topic}[{event.message.partition}]@{event.message.offset}"
