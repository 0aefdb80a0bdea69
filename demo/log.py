"""What an origin saw: one JSON line for each request, and what can be read from them.

Times are `time.monotonic()`, which on Linux is one clock for all processes of a machine.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from models.web import Kind

PACED: Final = frozenset({Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE})
"""The kinds that make up a crawl. The address check and the proofs come before it (E07, E12)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One request as the origin saw it. `status` is 0 when the client went away before the answer was out.

    `arrived` is when its head had been read, `ended` when the last byte of the answer was with the kernel,
    `size` the length of the body that was to be sent.
    """

    host: str
    method: str
    path: str
    query: str
    status: int
    user_agent: str
    arrived: float
    ended: float
    size: int

    @property
    def kind(self) -> Kind:
        """Why it was made, as far as an origin can tell: a homepage proof looks like a page."""
        if self.method == "HEAD":
            return Kind.ADDRESS_CHECK
        if self.path.startswith("/.well-known/"):
            return Kind.TOKEN_FILE
        if self.path == "/robots.txt":
            return Kind.ROBOTS
        return Kind.SITEMAP if self.path.endswith(".xml") else Kind.PAGE

    @property
    def site(self) -> str:
        """The host without one leading `www.`, which is one domain for us (E06)."""
        return self.host.removeprefix("www.")


def write(log: Path, entry: Entry) -> None:
    """Adds one line; several processes may write to one file, as a line is one append."""
    with log.open("a") as file:
        file.write(json.dumps(asdict(entry)) + "\n")


def read(log: Path) -> list[Entry]:
    """All requests in the order of their arrival; none when there is no file yet."""
    if not log.exists():
        return []
    entries = [Entry(**json.loads(line)) for line in log.read_text().splitlines()]
    return sorted(entries, key=lambda entry: entry.arrived)


def smallest_gap(entries: Iterable[Entry], kinds: frozenset[Kind] = PACED) -> float | None:
    """The smallest time from the end of a request to the arrival of the next at the same site (E16).

    Negative when two were in flight at once. None with fewer than two requests at every site. The end is the
    latest of all requests before, so that a short request does not hide a long one that is still running.
    """
    gaps = [gap for times in _by_site(entries, kinds).values() for gap in _gaps(times)]
    return min(gaps, default=None)


def requests_by_kind(entries: Iterable[Entry]) -> dict[str, int]:
    """How many requests of each kind came, largest first."""
    return {kind.value: count for kind, count in Counter(entry.kind for entry in entries).most_common()}


def _by_site(entries: Iterable[Entry], kinds: frozenset[Kind]) -> dict[str, list[tuple[float, float]]]:
    sites: dict[str, list[tuple[float, float]]] = {}
    for entry in entries:
        if entry.kind in kinds:
            sites.setdefault(entry.site, []).append((entry.arrived, entry.ended))
    return sites


def _gaps(times: list[tuple[float, float]]) -> list[float]:
    gaps, latest = [], float("-inf")
    for (_, ended), (arrived, _) in pairwise(sorted(times)):
        latest = max(latest, ended)
        gaps.append(arrived - latest)
    return gaps
