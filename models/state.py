"""A site's memory: a small head that changes with each request, and parts that are written once.

Keys in the table are `site|h` (the head), `site|s` (messages seen), `site|r|JOB` (robots.txt of a job) and
`site|f|JOB|N` (the N-th chunk of a crawl's frontier). Everything is immutable: a change is a new head.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from models.events import ProofMethod, Requester
from models.wire import Model


class Proof(Model):
    """What was proved, when and how; kept until staff withdraw it (E13)."""

    method: ProofMethod
    host: str
    at: float
    weaker: bool = False
    by: str | None = None
    kept_at: str | None = None


class Account(Model):
    """One customer's authority and settings for this site; another account's open nothing (E05)."""

    host: str = ""
    start: str = ""
    note: str | None = None
    scope: tuple[str, ...] | None = None
    schedule: bool = True
    proof: Proof | None = None


class Suspension(Model):
    """Staff said stop (E25)."""

    at: float
    by: str
    reason: str


class Intent(Model):
    """A request that may be on the wire: written, and known to the broker, before it is sent.

    The request is counted here and not in its result, so the budget holds through every crash (E18).
    """

    number: int
    job: str
    kind: str
    method: str
    url_id: str
    attempt: int
    worker: str
    at: float
    timeout: float

    @property
    def id(self) -> str:
        """One request of one job."""
        return f"{self.job}|{self.number}"


class Ask(Model):
    """The URL that a job is busy with, through its retries and redirect hops."""

    kind: str
    url: str
    entry: int | None = None
    """Its place in the frontier; None for robots.txt, sitemaps and proof reads."""
    attempt: int = 1
    hops: int = 0


class Job(Model):
    """A crawl, a verification or an address check, as far as it has come."""

    id: str
    kind: Literal["crawl", "verification", "check"]
    account: str
    requester: Requester = "customer"
    host: str
    start: str
    method: str = ""
    accepted_at: float
    deadline: float
    phase: Literal["robots", "sitemaps", "pages"] = "pages"
    ask: Ask | None = None
    number: int = 0
    """Requests so far (intents written)."""
    requests: dict[str, int] = Field(default_factory=dict)
    outcomes: dict[str, int] = Field(default_factory=dict)
    sitemaps: tuple[str, ...] = ()
    """Sitemaps that wait to be read."""
    sitemaps_seen: tuple[str, ...] = ()
    chunks: int = 0
    found: int = 0
    done: str = ""
    """Which frontier entries have their outcome: a bitmap in hex, entry 0 the lowest bit."""
    pages: int = 0
    pairs: int = 0
    switched: bool = False
    """The authority was moved to the www twin once, at the start."""


class Head(Model):
    """All that must be known to take the next step at a site."""

    site: str
    partition: int
    accounts: dict[str, Account] = Field(default_factory=dict)
    suspended: Suspension | None = None
    jobs: tuple[Job, ...] = ()
    intents: tuple[Intent, ...] = ()
    starts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """UTC day -> ids of the crawls that count towards the cap; a set, since redelivery doubles counters."""
    last_end: float = 0.0
    """When the last request ended, wall clock."""
    wait: float = 0.0
    """Seconds from `last_end` to the next request."""
    pause_until: float = 0.0
    strikes: int = 0
    """Refusals in a row (W06, C10)."""
    slow: int = 0
    """How often the gap was doubled (C10)."""


class Entry(Model):
    """One URL of a frontier. Lower `rank` is asked for first."""

    url: str
    rank: float
    depth: int = 0
    hops: int = 0
    """Redirect hops that led here."""


class Chunk(Model):
    """What one page, or one sitemap, added to a job: frontier entries, the page's fingerprint. Never changed."""

    entries: tuple[Entry, ...] = ()
    fingerprint: str | None = None


class Seen(Model):
    """The last messages that were applied, oldest first: a redelivery is a no-op (F30)."""

    messages: tuple[str, ...] = ()


def head_key(site: str) -> str:
    """The table key of a site's head."""
    return f"{site}|h"


def seen_key(site: str) -> str:
    """The table key of the messages that a site has seen."""
    return f"{site}|s"


def robots_key(site: str, job: str) -> str:
    """The table key of the robots.txt that holds for a job."""
    return f"{site}|r|{job}"


def chunk_key(site: str, job: str, number: int) -> str:
    """The table key of a frontier chunk."""
    return f"{site}|f|{job}|{number}"
