"""A coroutine that is begun without a task ends as it would with one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.eager import Ended, begin

Step = tuple[str, int]


async def work(steps: list[Step], heard: list[str]) -> int:
    """Waits, yields, fails or catches, as the steps say."""
    for what, number in steps:
        try:
            if what == "sleep":
                await asyncio.sleep(0)
            elif what == "wait":
                await asyncio.wait_for(asyncio.sleep(0, number), 5)
            elif what == "fail":
                _fail(number)
            elif what == "failing":
                await asyncio.create_task(work([("sleep", 0), ("fail", number)], heard))
        except ValueError as error:
            heard.append(f"{error}")
            if number % 2:
                raise
    return len(steps)


def _fail(number: int) -> None:
    raise ValueError(number)


async def outcome(steps: list[Step], *, eager: bool) -> tuple[Any, list[str]]:
    heard: list[str] = []
    try:
        begun = begin(work(steps, heard)) if eager else work(steps, heard)
        return (begun.value if isinstance(begun, Ended) else await begun), heard
    except ValueError as error:
        return repr(error), heard


@given(st.lists(st.tuples(st.sampled_from(("sleep", "wait", "fail", "failing")), st.integers(0, 9)), max_size=6))
def test_begun_at_once_or_in_a_task_it_ends_the_same(steps: list[Step]) -> None:
    assert asyncio.run(outcome(steps, eager=True)) == asyncio.run(outcome(steps, eager=False))


async def test_what_waits_for_nothing_has_ended() -> None:
    assert begin(work([], [])) == Ended(0)


async def test_a_cancellation_reaches_what_is_waited_for() -> None:
    waited: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    cleaned = []

    async def waiting() -> None:
        try:
            await waited
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            cleaned.append(1)
            raise

    begun = begin(waiting())
    assert not isinstance(begun, Ended)
    task = asyncio.create_task(begun)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert waited.cancelled()
    assert cleaned == [1]
