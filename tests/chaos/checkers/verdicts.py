"""What a checker answers: anomalies that name the lines they rest on, and a verdict never better than known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from models.profile import Profile
from tests.chaos.history import SECOND, History, Line


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One thing that must not be."""

    invariant: str
    what: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.invariant}: {self.what} [{', '.join(self.lines)}]"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`violated` when something was found; `unknown`, with the reason, when too little was written down; else ok."""

    invariant: str
    verdict: Literal["ok", "violated", "unknown"]
    anomalies: tuple[Anomaly, ...] = ()
    why: str = ""


Check = Callable[[History, Profile], list[Anomaly]]


@dataclass(frozen=True, slots=True)
class Checker:
    """One invariant, the files that it needs, and its function.

    With `positive` an anomaly rests on lines that are there, so it is believed although a file is not whole.
    """

    invariant: str
    needs: tuple[str, ...]
    check: Check
    positive: bool = False

    def judge(self, history: History, profile: Profile) -> Verdict:
        """The verdict on one history."""
        missing = history.missing(*self.needs)
        if missing and not (self.positive and all(file in history.lines for file in self.needs)):
            return Verdict(self.invariant, "unknown", why=missing)
        found = tuple(self.check(history, profile))
        if found:
            return Verdict(self.invariant, "violated", found)
        return Verdict(self.invariant, "unknown", why=missing) if missing else Verdict(self.invariant, "ok")


def anomaly(invariant: str, what: str, *lines: Line | None) -> Anomaly:
    """An anomaly that rests on these lines."""
    return Anomaly(invariant, what, tuple(str(line) for line in lines if line is not None))


def wall(value: Any) -> float:
    """Seconds since the epoch of a fact's number or a row's date."""
    return float(value) if isinstance(value, int | float) else datetime.fromisoformat(str(value)).timestamp()


def seconds(nanoseconds: int) -> float:
    """For sentences and comparisons of spans."""
    return nanoseconds / SECOND
