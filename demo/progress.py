"""Shows how a crawl is getting on: a live bar in a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

QUIET_SECONDS: Final = 5.0
"""Without a terminal, a line at most this often while the phase stays the same."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How far a crawl has come. `known` is the number of pages taken up so far; it grows as links are found.

    `next_in` is seconds until the next request may start, None when none is planned. `done` ends the display.
    """

    host: str
    phase: str
    pages: int = 0
    known: int = 0
    requests: int = 0
    next_in: float | None = None
    done: bool = False

    def line(self) -> str:
        """One line that says all of it."""
        pages = f"{self.pages} of {self.known} pages" if self.known else f"{self.pages} pages"
        return f"{self.host}: {self.phase}, {pages}, requests: {self.requests}{self._wait(', ')}"

    def counts(self) -> str:
        """The part beside the bar; fixed widths keep it from dancing."""
        return f"{self.pages:>3} pages  {self.requests:>3} requests{self._wait('  ')}"

    def _wait(self, before: str) -> str:
        return "" if self.next_in is None else f"{before}next request in {max(self.next_in, 0.0):.1f} s"


class Display:
    """Fed with snapshots by `show`, inside a `with` block; chooses bar or lines by what the console is."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock = clock
        self._bar = _bar(console) if console.is_terminal else None
        self._task = self._bar.add_task("", total=None, counts="") if self._bar else None
        self._last: Snapshot | None = None
        self._printed_at = float("-inf")

    def __enter__(self) -> Self:
        if self._bar:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, now: Snapshot) -> None:
        """The newest state; in a terminal it replaces the one before."""
        if self._bar and self._task is not None:
            about = f"{now.host}: {now.phase}"
            self._bar.update(
                self._task,
                description=about,
                completed=now.pages,
                total=_total(now),
                counts=now.counts(),
                refresh=True,
            )
        elif self._worth_a_line(now):
            self._console.print(now.line(), highlight=False, markup=False, soft_wrap=True)
            self._printed_at = self._clock()
            self._last = now

    def _worth_a_line(self, now: Snapshot) -> bool:
        if self._last is None or (now.phase, now.done) != (self._last.phase, self._last.done):
            return True
        return now != self._last and self._clock() - self._printed_at >= QUIET_SECONDS


def _total(now: Snapshot) -> int | None:
    if now.done:
        return max(now.pages, 1)
    return max(now.known, now.pages) or None


def _bar(console: Console) -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[counts]}", markup=False),
    )
    return Progress(*columns, console=console)
