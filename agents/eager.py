"""A coroutine run at once up to its first wait: what waits for nothing needs no task (eager tasks come with 3.12)."""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any


@dataclass(frozen=True, slots=True)
class Ended:
    """It waited for nothing."""

    value: Any


def begin(work: Coroutine[Any, Any, Any]) -> Ended | Coroutine[Any, Any, Any]:
    """Run `work`: its value if it ends without waiting, else the rest of it, to be awaited. Raises what it raises."""
    try:
        waits_for = work.send(None)
    except StopIteration as end:
        return Ended(end.value)
    return _rest(work, waits_for)


async def _rest(work: Coroutine[Any, Any, Any], waits_for: Any) -> Any:
    return await _resumed(work, waits_for)


@types.coroutine
def _resumed(work: Coroutine[Any, Any, Any], waits_for: Any) -> Generator[Any, Any, Any]:
    """`yield from`, for a coroutine that has already said what it waits for."""
    while True:
        try:
            step = partial(work.send, (yield waits_for))
        except BaseException as error:  # noqa: BLE001 - a cancellation is the coroutine's to answer
            step = partial(work.throw, error)
        try:
            waits_for = step()
        except StopIteration as end:
            return end.value
