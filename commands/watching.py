"""A crawl as it happens, from the rows that come of it."""

from __future__ import annotations

import time
from uuid import UUID

from commands import lookups
from commands.desk import BEAT, Desk, Row
from commands.options import Sentence

WANTED = ("completed", "completed_partial")
"""Partial: the site had more than the ceilings let in, or some of its pages could not be read."""
PAGES = 10.0
"""Seconds for the pages to follow the audit row: they come by another topic."""


def ended(row: Row) -> bool:
    """Whether the crawl ended as one wants it to."""
    return row["terminal_kind"] in WANTED


def watch(at: Desk, host: str, job: UUID, answer: float, seconds: float) -> Row:
    """The audit row once the crawl has ended and its pages are there. Ctrl-C leaves the crawl alone."""
    row = at.wait(lambda: _decided(at, job), lambda: f"Asking for a crawl of {host} ...", answer)
    if row["terminal_kind"] is None:
        try:
            row = at.wait(lambda: _over(at, job), lambda: _state(at, host, job), seconds)
        except KeyboardInterrupt:
            raise Sentence(f"The crawl goes on. `licet show {job}` tells how it is.", 130) from None
    _pages(at, job, row["pages"])
    return row


def _decided(at: Desk, job: UUID) -> Row | None:
    row = at.row(lookups.crawl(job))
    return row if row is not None and row["decided_at"] is not None else None


def _over(at: Desk, job: UUID) -> Row | None:
    row = at.row(lookups.crawl(job))
    return row if row is not None and row["terminal_kind"] is not None else None


def _state(at: Desk, host: str, job: UUID) -> str:
    found = at.row(lookups.progress(job)) or {"pages": 0, "requests": 0, "last": None}
    quiet = (
        "" if found["last"] is None else f", the last {max(0.0, time.time() - found['last'].timestamp()):.0f} s ago"
    )
    return f"{host}: {found['pages']} pages, {found['requests']} requests{quiet}"


def _pages(at: Desk, job: UUID, wanted: int) -> None:
    """Wait until the pages are there too; not for ever, since they may have been erased."""
    deadline = time.monotonic() + PAGES
    while time.monotonic() < deadline:
        found = at.row(lookups.progress(job))
        if found is None or found["pages"] >= wanted:
            return
        time.sleep(BEAT)
