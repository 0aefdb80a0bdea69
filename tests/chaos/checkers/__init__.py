"""The checkers: one pure function for each invariant, from a history to the anomalies in it.

    verdicts = judge(load(folder), bots.load("ema"))

An invariant is `violated` when an anomaly was found (each names the lines that it rests on), `unknown` when a file
that it needs is missing or not whole, else `ok`. Nothing here reads production code's judgements: origin log, topics
and rows are compared with each other and with the profile's numbers.
"""

from __future__ import annotations

from models.profile import Profile
from tests.chaos.checkers import authority, content, crawls, pace
from tests.chaos.checkers.verdicts import Anomaly, Checker, Verdict
from tests.chaos.history import History

CHECKERS: dict[str, Checker] = {
    checker.invariant: checker
    for checker in sorted(
        (*pace.CHECKERS, *authority.CHECKERS, *crawls.CHECKERS, *content.CHECKERS),
        key=lambda checker: int(checker.invariant[1:]),
    )
}

__all__ = ["CHECKERS", "Anomaly", "Checker", "Verdict", "judge", "violations"]


def judge(history: History, profile: Profile) -> dict[str, Verdict]:
    """The verdict on every invariant."""
    return {name: checker.judge(history, profile) for name, checker in CHECKERS.items()}


def violations(history: History, profile: Profile) -> list[Anomaly]:
    """All that was found, in the order of the invariants."""
    return [found for verdict in judge(history, profile).values() for found in verdict.anomalies]
