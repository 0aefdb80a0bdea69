"""A window of time in a zone that whoever asks has named, and what it holds, in words (E24). Pure.

The answer covers the window, never a single log line: we do not know the address that a request left from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

Row = Mapping[str, Any]

COVERS = (
    "This answer covers the window, never a single line of a log:"
    " we do not know the address that a request left from."
)
PROOFS = {
    "dns": "a DNS record",
    "token_file": "a token file",
    "homepage_meta": "a meta tag on the homepage",
    "homepage_text": "a line of text on the homepage",
    "start_page_meta": "a meta tag on the start page",
    "start_page_header": "a response header of the start page",
    "attestation": "an attested authorisation",
}
RESOLVERS_ONLY = ("dns_proof",)
"""Kinds that ask resolvers and nothing of the site (E08)."""


class WindowError(ValueError):
    """A zone or a time that cannot be taken; the text says what to write."""


@dataclass(frozen=True, slots=True)
class Window:
    """From `begin` until just before `end`, both in UTC, told in `zone`."""

    begin: datetime
    end: datetime
    zone: ZoneInfo

    def shown(self, at: datetime) -> datetime:
        """The same moment by the clocks of the zone."""
        return at.astimezone(self.zone)

    def said(self, at: datetime | None) -> str:
        """A moment in words, with the zone's own name for its time: 02:30 comes twice in an autumn night."""
        return "-" if at is None else f"{self.shown(at):%Y-%m-%d %H:%M:%S %Z}"

    def __str__(self) -> str:
        return f"{self.said(self.begin)} until {self.said(self.end)} ({self.zone.key})"


def window(begin: str, end: str, zone: str) -> Window:
    """The window that was asked for. Where the clock shows a time twice, the window is the longer one."""
    where = zone_of(zone)
    first, last = _moment(begin, where, fold=0), _moment(end, where, fold=1)
    if first >= last:
        raise WindowError(f"The window ends ({end}) before it begins ({begin}).")
    return Window(first, last, where)


def zone_of(name: str) -> ZoneInfo:
    """The time zone of that name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # unknown, no name at all, or the folder of a continent
        raise WindowError(f"{name!r} is no time zone such as Europe/Rome or UTC.") from None


def _moment(text: str, zone: ZoneInfo, fold: int) -> datetime:
    """A time of that zone's clocks, in UTC. A day alone means its beginning, or, for the end, its last moment."""
    try:
        return _midnight(date.fromisoformat(text) + timedelta(days=fold), zone)
    except (ValueError, OverflowError):
        pass
    try:
        at = datetime.fromisoformat(text)
        found = at.replace(tzinfo=zone, fold=fold).astimezone(UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise WindowError(f"{text!r} is no time such as 2026-03-02T09:30, or a day such as 2026-03-02.") from None
    if at.tzinfo is None and found.astimezone(zone).replace(tzinfo=None) != at:
        raise WindowError(f"The clocks of {zone.key} never showed {text}: they were put forward over it.")
    return found


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def authority(crawl: Row, proof: Row | None, again: Row | None, at: Window, entry: Row | None = None) -> str:
    """On what authority a crawl was started or refused (E23).

    `proof` is the fact it rests on, `again` its second look (C06), `entry` what staff last said of the site and the
    operator's list where the policy has one (W01).
    """
    parts = [_proof(crawl, proof, at)]
    if entry is not None:
        parts = [_listed(entry, at), *([parts[0]] if crawl["verified"] else [])]
    if again is not None:
        parts.append(f"looked for again at the start: {again['result']}")
    if crawl["confirmed_at"] is not None:
        parts.append(f"the right to it confirmed by {crawl['confirmed_by']} on {at.said(crawl['confirmed_at'])}")
    return "; ".join(parts)


def _proof(crawl: Row, proof: Row | None, at: Window) -> str:
    if not crawl["verified"]:
        return "no proof on file"
    what = f"{PROOFS.get(crawl['proof'], crawl['proof'])}, on file since {at.said(crawl['verified_at'])}"
    if proof is not None and proof["kept_at"]:
        what += f" (attested by {proof['by']}, kept at {proof['kept_at']})"
    return what


def _listed(entry: Row, at: Window) -> str:
    """W01: the operator's hand is the authority, so it says whose hand it was."""
    if entry["kind"] not in ("listed", "unlisted"):
        return "never on the operator's list"
    hand = f"by {entry['by']} ({entry['reason']})"
    if entry["kind"] == "listed":
        return f"on the operator's list since {at.said(entry['at'])}, put there {hand}"
    return f"off the operator's list since {at.said(entry['at'])}, taken off {hand}"


def counts(fetches: Sequence[Row], job: object) -> dict[str, int]:
    """How many requests of a job were made, by kind."""
    return {row["kind"]: row["requests"] for row in fetches if row["job"] == job}


def to_the_site(kinds: Mapping[str, int]) -> int:
    """How many of them reached for the site itself."""
    return sum(count for kind, count in kinds.items() if kind not in RESOLVERS_ONLY)


def verdict(site: str, crawls: Sequence[Row], outside: Sequence[Row], at: Window) -> str:
    """The answer in a sentence."""
    if not crawls and not outside:
        return f"No: nothing was asked of {site}, nor a crawl of it asked for, from {at}."
    total = sum(to_the_site(row["in_window"]) for row in (*crawls, *outside))
    refused = sum(row["accepted"] is False for row in crawls)
    ran = _many(len(crawls) - refused, "crawl or listing", "crawls or listings")
    return (
        f"{'Yes' if total else 'No'}: {_many(total, 'request')} to {site}, from {at}; {ran}, and {refused} refused."
    )


def _many(count: int, one: str, more: str = "") -> str:
    return f"{count} {one if count == 1 else more or one + 's'}"
