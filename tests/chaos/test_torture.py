"""Every fallible call of one crawl fails once, and is killed at once: each time all promises hold (A03)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.chaos.torture import torture

UNTROUBLED = torture(0, "")


def test_a_crawl_without_trouble_makes_a_hundred_fallible_calls() -> None:
    assert UNTROUBLED.wrong() == []
    assert len(UNTROUBLED.calls) >= 100
    assert set(UNTROUBLED.calls) == {"put", "tell", "fetch", "read", "commit"}


@pytest.mark.parametrize("mode", ["fail", "kill", "kill-after"])
def test_A03_whichever_call_fails_or_is_the_last_the_crawl_ends_once_and_every_promise_holds(mode: str) -> None:
    wrong = {}
    for number in range(1, len(UNTROUBLED.calls) + 1):
        run = torture(number, mode)
        if found := run.wrong():
            wrong[number, run.calls[number - 1]] = found
    assert wrong == {}


IN_HAND = {"put", "tell", "fetch"}
"""A process that is frozen with a record in its producer's buffer, or between the last look and the send, does what
it had in hand when it wakes: no look of its own can prevent that (a Kafka producer is not fenced; at somebody else's
web server nothing is). These are the injected cases that docs/survival.md counts."""


def test_E16_a_worker_frozen_at_any_call_never_makes_two_requests_at_once() -> None:
    wrong: Counter[str] = Counter()
    for number in range(1, len(UNTROUBLED.calls) + 1):
        run = torture(number, "freeze")
        found = run.wrong()
        assert not [one for one in found if one.startswith("I1:")], (number, found)
        if found:
            wrong[run.calls[number - 1]] += 1
    assert set(wrong) <= IN_HAND, wrong
    assert wrong.total() <= 0.2 * len(UNTROUBLED.calls), wrong
