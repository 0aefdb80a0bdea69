"""From facts to rows: which table a fact belongs in, and under which key. Pure; no database.

A row names only what its fact says. Several facts may fill one row (`crawls`), one fact may give several rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from models import events, ids, tables
from models.events import Fact


class Rule(StrEnum):
    """What happens when the key is already there."""

    FIRST = "first"  # the first copy stands; a late one changes nothing
    FILL = "fill"  # a part of the row that is written once: `mark` is its first column
    LATEST = "latest"  # the first copy stands, and `mark` is the latest of all
    NEWEST = "newest"  # the newest fact stands, by (time, id)
    WIDEN = "widen"  # the span between the earliest and the latest


@dataclass(frozen=True, slots=True)
class Target:
    """Where rows go. Targets are written in the order of `TARGETS`, so that two sinks never deadlock."""

    table: type[tables.Base]
    keys: tuple[str, ...]
    rule: Rule = Rule.FIRST
    mark: str = ""


SITES = Target(tables.Site, ("site",), Rule.WIDEN)
EVENTS = Target(tables.Event, ("id",))
SETTINGS = Target(tables.Settings, ("account", "site"), Rule.NEWEST, "saved_at")
ADDRESS_CHECKS = Target(tables.AddressCheck, ("id",))
VERIFICATIONS = Target(tables.Verification, ("id",))
SUSPENSIONS = Target(tables.Suspension, ("id",))
CONFIRMATIONS = Target(tables.Confirmation, ("id",))
STOPS = Target(tables.StopRequest, ("stop_request",), Rule.FILL, "recorded_at")
STOPS_DONE = Target(tables.StopRequest, ("stop_request",), Rule.FILL, "done_at")
STOPS_CONFIRMED = Target(tables.StopRequest, ("stop_request",), Rule.FILL, "confirmed_at")
PAUSES = Target(tables.Pause, ("site",), Rule.NEWEST, "paused_at")
DECISIONS = Target(tables.Crawl, ("crawl",), Rule.FILL, "decided_at")
ROBOTS = Target(tables.Crawl, ("crawl",), Rule.FILL, "robots_at")
ENDS = Target(tables.Crawl, ("crawl",), Rule.FILL, "terminal_at")
FETCHES = Target(tables.Fetch, ("id",))
DIGESTS = Target(tables.Digest, ("crawl", "url_id"))
SIGHTINGS = Target(tables.Sighting, ("crawl", "page_id"))
URLS = Target(tables.Url, ("url_id",), Rule.LATEST, "named_at")
"""Not the earliest: an erasure would take a URL that was named again since, when it comes after both (I12)."""
PAGES = Target(tables.Page, ("page_id",))
LISTINGS = Target(tables.Listing, ("job",))
ERASURES = Target(tables.Erasure, ("id",))
"""Written before all others, so that what else is in the batch meets the ledger."""

CONTENT = {URLS: "named_at", PAGES: "fetched_at", LISTINGS: "listed_at"}
"""What an erasure deletes, and the column that says how old it is (E25)."""

TARGETS = (
    SITES,
    EVENTS,
    SETTINGS,
    ADDRESS_CHECKS,
    VERIFICATIONS,
    SUSPENSIONS,
    CONFIRMATIONS,
    STOPS,
    STOPS_DONE,
    STOPS_CONFIRMED,
    PAUSES,
    DECISIONS,
    ROBOTS,
    ENDS,
    FETCHES,
    DIGESTS,
    SIGHTINGS,
    URLS,
    PAGES,
    LISTINGS,
)

Row = dict[str, Any]
Rows = Iterator[tuple[Target, Row]]


def when(seconds: float) -> datetime:
    """A fact's time as PostgreSQL keeps it: UTC, microseconds."""
    return datetime.fromtimestamp(seconds, UTC)


def rows(fact: Fact) -> Rows:
    """All rows of one fact. Raises ValueError or OverflowError when a value fits no column."""
    at = when(fact.at)
    yield SITES, {"site": fact.site, "first_at": at, "last_at": at}
    if not isinstance(fact, events.PageFetched | events.UrlNamed | events.PagesListed):
        kind = str(fact.type)  # type: ignore[attr-defined] # every member of the union has one
        yield EVENTS, {"id": fact.id, "type": kind, "site": fact.site, "at": at}
    yield from _BY_TYPE[type(fact)](fact)


def _settings(fact: events.SettingsSaved) -> Rows:
    scope = None if fact.scope is None else list(fact.scope)
    own = fact.model_dump(include={"account", "site", "host", "start", "note", "schedule", "refused"})
    yield SETTINGS, {**own, "scope": scope, "fact": fact.id, "saved_at": when(fact.at)}


def _address_checked(fact: events.AddressChecked) -> Rows:
    own = {name: value for name, value in _own(fact).items() if name != "reason"}  # it follows from the outcome
    yield ADDRESS_CHECKS, {**own, "job": UUID(fact.job), "at": when(fact.at)}


def _verified(fact: events.Verified) -> Rows:
    yield VERIFICATIONS, _verification(fact, "verified", _job(fact.job))


def _verification_failed(fact: events.VerificationFailed) -> Rows:
    yield VERIFICATIONS, _verification(fact, "failed", _job(fact.job))


def _withdrawn(fact: events.VerificationWithdrawn) -> Rows:
    yield VERIFICATIONS, _verification(fact, "withdrawn", None)


def _rechecked(fact: events.ProofRechecked) -> Rows:
    own = _verification(fact, "rechecked", _job(fact.crawl))
    yield VERIFICATIONS, {name: value for name, value in own.items() if name not in ("crawl", "page_limit")}


_VERIFICATION = ("host", "method", "weaker", "by", "kept_at", "result", "reason", "cause", "path", "token")


def _verification(fact: Fact, kind: str, job: UUID | None) -> Row:
    blank = dict.fromkeys(_VERIFICATION)
    return {**blank, **_own(fact), "kind": kind, "job": job, "at": when(fact.at)}


def _job(job: str) -> UUID | None:
    """Staff attest without a job."""
    return UUID(job) if job else None


def _decided(fact: events.CrawlDecided) -> Rows:
    own = fact.model_dump(exclude={"id", "type", "at", "crawl", "requested_at", "verified_at", "confirmed_at"})
    times: Row = {"decided_at": when(fact.at), "requested_at": when(fact.requested_at)}
    maybe = {"verified_at": fact.verified_at, "confirmed_at": fact.confirmed_at}
    times |= {name: None if at is None else when(at) for name, at in maybe.items()}
    yield DECISIONS, {**own, **times, "crawl": UUID(fact.crawl)}
    if not fact.accepted:
        # a refused request has its terminal row as well, and it is its decision (E23, F47)
        yield ENDS, _end(fact, fact.crawl, f"refused_{fact.refusal}", "")


def _robots(fact: events.RobotsDecided) -> Rows:
    yield (
        ROBOTS,
        {
            "crawl": UUID(fact.crawl),
            "site": fact.site,
            "robots_at": when(fact.at),
            "robots": fact.verdict,
            "robots_reason": fact.reason,
            "robots_sha256": fact.sha256,
            "crawl_delay": fact.crawl_delay,
            "sitemaps": fact.sitemaps,
        },
    )


def _ended(fact: events.CrawlEnded) -> Rows:
    counts = fact.model_dump(include={"pages", "pairs", "requests", "outcomes"})
    more = {"left_over": fact.left, "remove_above": fact.remove_above}
    yield ENDS, {**_end(fact, fact.crawl, fact.end, fact.reason), **counts, **more}


def _end(fact: Fact, crawl: str, kind: str, reason: str) -> Row:
    counts = {"pages": 0, "pairs": 0, "requests": {}, "outcomes": {}, "left_over": 0, "remove_above": None}
    own = {"crawl": UUID(crawl), "site": fact.site}
    return {**own, "terminal_at": when(fact.at), "terminal_kind": kind, "terminal_reason": reason, **counts}


def _request(fact: events.RequestEnded) -> Rows:
    times = {"started_at": when(fact.started_at), "ended_at": when(fact.ended_at)}
    yield FETCHES, {**_own(fact), **times, "job": UUID(fact.job)}


def _page_kept(fact: events.PageKept) -> Rows:
    own = fact.model_dump(exclude={"id", "type", "at", "crawl"})
    yield DIGESTS, {**own, "crawl": UUID(fact.crawl), "at": when(fact.at)}


def _page_unchanged(fact: events.PageUnchanged) -> Rows:
    own = fact.model_dump(include={"site", "page_id", "url_id"})
    yield SIGHTINGS, {**own, "crawl": UUID(fact.crawl), "at": when(fact.at)}


def _confirmed(fact: events.SiteConfirmed) -> Rows:
    yield CONFIRMATIONS, {**_own(fact), "at": when(fact.at)}


def _stop_requested(fact: events.StopRequested) -> Rows:
    own = {"stop_request": fact.stop_request, "site": fact.site, "from_whom": fact.from_whom, "channel": fact.channel}
    times = {"recorded_at": when(fact.at), "received_at": when(fact.received_at), "due_at": when(fact.due_at)}
    yield STOPS, {**own, **times, "recorded_by": fact.by}


def _stop_done(fact: events.StopDone) -> Rows:
    own = {"stop_request": fact.stop_request, "site": fact.site}
    yield STOPS_DONE, {**own, "done_at": when(fact.at), "done_by": fact.by}


def _stop_confirmed(fact: events.StopConfirmed) -> Rows:
    own = {"stop_request": fact.stop_request, "site": fact.site}
    yield STOPS_CONFIRMED, {**own, "confirmed_at": when(fact.at), "confirmed_by": fact.by}


def _paused(fact: events.SitePaused) -> Rows:
    own = {"site": fact.site, "fact": fact.id, "strikes": fact.strikes}
    yield PAUSES, {**own, "until": when(fact.until), "paused_at": when(fact.at)}


def _pages_listed(fact: events.PagesListed) -> Rows:
    own = fact.model_dump(mode="json", include={"site", "account", "host", "end", "reason", "pages", "cut"})
    yield LISTINGS, {**own, "job": UUID(fact.job), "listed_at": when(fact.at)}


def _staff(fact: Any) -> Rows:
    yield SUSPENSIONS, {**_own(fact), "kind": fact.type, "at": when(fact.at)}


def _erased(fact: events.Erased) -> Rows:
    own = fact.model_dump(include={"site", "by", "reason", "ticket"})
    yield ERASURES, {**own, "id": UUID(fact.id), "erased_at": when(fact.until)}


def _named(fact: events.UrlNamed) -> Rows:
    yield URLS, {"url_id": ids.url_id(fact.url), "site": fact.site, "url": fact.url, "named_at": when(fact.at)}


def _page(fact: events.PageFetched) -> Rows:
    url_id, at = ids.url_id(fact.url), when(fact.at)
    own = fact.model_dump(exclude={"id", "type", "at", "crawl", "pairs", "facts", "frame", "menu"})
    page_id = ids.page_id(fact.crawl, fact.url)
    keys = {"page_id": page_id, "crawl": UUID(fact.crawl), "url_id": url_id, "fetched_at": at}
    # the pairs go with their page: a late copy of the page must not add its own to the first one's
    lists: Row = {"facts": list(fact.facts), "frame": list(fact.frame), "menu": list(fact.menu)}
    lists["links"] = None if fact.links is None else list(fact.links)
    yield PAGES, {**own, **keys, **lists, PAIRS: pairs(page_id, fact.pairs)}
    yield URLS, {"url_id": url_id, "site": fact.site, "url": fact.url, "named_at": at}


PAIRS = "_pairs"
"""In a row of `pages`: the rows of `pairs` that belong to it."""


def pairs(page_id: str, found: tuple[dict[str, str], ...]) -> list[Row]:
    """The question-answer pairs of a page, in their order."""
    names = {"pair_id": "id", "question": "question", "answer": "answer", "source": "source"}
    return [
        {"page_id": page_id, "position": place, **{column: pair.get(key, "") for column, key in names.items()}}
        for place, pair in enumerate(found)
    ]


def _own(fact: Fact) -> Row:
    """The fields of the fact that are columns under the same name."""
    return fact.model_dump(exclude={"type", "at", "job"})


_BY_TYPE: dict[type[Fact], Callable[[Any], Rows]] = {
    events.SettingsSaved: _settings,
    events.AddressChecked: _address_checked,
    events.Verified: _verified,
    events.VerificationFailed: _verification_failed,
    events.VerificationWithdrawn: _withdrawn,
    events.CrawlDecided: _decided,
    events.RobotsDecided: _robots,
    events.CrawlEnded: _ended,
    events.RequestEnded: _request,
    events.PageKept: _page_kept,
    events.PageUnchanged: _page_unchanged,
    **dict.fromkeys(
        (events.Suspended, events.Resumed, events.Blocked, events.Unblocked, events.Listed, events.Unlisted), _staff
    ),
    events.ProofRechecked: _rechecked,
    events.SiteConfirmed: _confirmed,
    events.StopRequested: _stop_requested,
    events.StopDone: _stop_done,
    events.StopConfirmed: _stop_confirmed,
    events.SitePaused: _paused,
    events.Erased: _erased,
    events.PagesListed: _pages_listed,
    events.UrlNamed: _named,
    events.PageFetched: _page,
}
