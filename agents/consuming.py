"""The one way in which our agents consume: in order, one event at a time, acknowledged only when it is dealt with.

Faust acknowledges in `finally`, so on an exception and on a cancellation as well, and then commits: the event is
lost for good (measured). So each event is held with one reference more, which is given back when it is done, and no
exception leaves the loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from aiokafka.errors import KafkaError

from agents.sites import NotOurs
from models.wire import Unreadable

log = logging.getLogger(__name__)

FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0
"""Seconds between tries while the broker is away; doubling."""


async def consume(stream: Any, handle: Callable[[Any], Awaitable[None]], refuse: Refuse) -> None:
    """Give every event of `stream` to `handle`; what it cannot read goes to `refuse`.

    A broker that is away is waited for. Any other error is a defect of ours or of the event: the event goes to the
    dead letters, with the traceback in the log, and the next one runs at once.
    """
    async for event in _held(stream):
        wait = FIRST_WAIT
        while not await _dealt_with(event, handle, refuse):
            await asyncio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)


Refuse = Callable[[Any, Unreadable], Awaitable[None]]


async def _held(stream: Any) -> AsyncIterator[Any]:
    async for event in stream.events():
        event.message.incref()
        yield event
        event.ack()


async def _dealt_with(event: Any, handle: Callable[[Any], Awaitable[None]], refuse: Refuse) -> bool:
    where = f"{event.message.topic}[{event.message.partition}]@{event.message.offset}"
    try:
        try:
            await handle(event)
        except Unreadable as error:
            log.warning("dead letter: %s: %s: %s", where, error.cause, error)
            await refuse(event, error)
        except KafkaError:
            raise
        except NotOurs as error:
            log.warning("left to its new owner: %s: %s", where, error)
            event.message.incref()  # a reference that nobody gives back: we never acknowledge it
        except Exception as error:
            log.exception("dead letter: %s", where)
            await refuse(event, Unreadable("error", f"{type(error).__name__}: {error}"))
    except Exception as error:  # noqa: BLE001 - the broker is away: nothing is acknowledged until it is back
        log.warning("waiting for the broker (%s) with %s", type(error).__name__, where)
        return False
    return True
