"""A site's memory: a small head that changes with each request, and parts that are written once.

Keys in the table are `site|h` (the head), `site|s` (messages seen), `site|r|JOB` (robots.txt of a job) and
`site|f|JOB|N` (the N-th chunk of a crawl's frontier), and `site|v|N` (the validators of one page). Everything is
immutable: a change is a new head.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from models.events import ProofMethod, Requester
from models.wire import Model

PAIRS_ONLY = "page_for_pairs"
"""Under this name a job counts its requests for pages that are read for their pairs alone (E18)."""


class Proof(Model):
    """What was proved, when and how; kept until staff withdraw it (E13)."""

    method: ProofMethod
    host: str
    at: float
    weaker: bool = False
    by: str | None = None
    kept_at: str | None = None
    path: str = ""
    """The proof covers nothing but this path and what is under it (C04); empty: the whole site."""
    token: str = ""
    """The token that was found: a check at a later start looks for the same one (C06)."""


class Confirmation(Model):
    """The customer's word that they own the site or may index it: who and when (C01)."""

    at: float
    by: str


class Account(Model):
    """One customer's authority and settings for this site; another account's open nothing (E05)."""

    host: str = ""
    start: str = ""
    note: str | None = None
    scope: tuple[str, ...] | None = None
    schedule: bool = True
    proof: Proof | None = None
    confirmed: Confirmation | None = None
    saved_at: float = 0.0
    """When the settings were last saved; the newer ones hold when memory is put back (A03)."""
    lost_at: float = 0.0
    """When a proof was last withdrawn or found absent; an older one cannot be put back (A03)."""


class Suspension(Model):
    """Staff said so, when, who and why: stop (E25, W13); or the site is on the operator's list (W01)."""

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
    pairs_only: bool = False
    """Read for its question-answer pairs alone (E18)."""


class Limits(Model):
    """The ceilings of one job (E18, C02): pages kept, requests for pages, pages that are read for pairs alone."""

    pages: int
    page_requests: int
    pairs_requests: int = 0


class Job(Model):
    """A crawl, a listing, a verification or an address check, as far as it has come."""

    id: str
    kind: Literal["crawl", "listing", "verification", "check"]
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
    sitemap_found: bool = False
    """A sitemap named pages; what follows for links is the profile's to say (W07)."""
    llms_txt: bool = False
    """The one request for /llms.txt was made, or may not be (W08)."""
    chunks: int = 0
    found: int = 0
    done: str = ""
    """Which frontier entries have their outcome: a bitmap in hex, entry 0 the lowest bit."""
    pages: int = 0
    pairs: int = 0
    limits: Limits | None = None
    """What this job may ask for and keep, decided at the gate; None: the profile's own budget."""
    plan: str = ""
    hand_listed: bool = False
    """The customer's list of pages is all that is read, as it stood at the start (E22)."""
    recheck: bool = False
    """The proof on file is still to be looked at again before the first page (C06)."""
    remove_above: int | None = None
    """The proof was found absent at the start: at the end, the account's pages above so many are removed (C06)."""
    under: str = ""
    """Only this path and what is under it is read (C04)."""
    switched: bool = False
    """The authority was moved to the www twin once, at the start."""


class Head(Model):
    """All that must be known to take the next step at a site."""

    site: str
    partition: int
    accounts: dict[str, Account] = Field(default_factory=dict)
    suspended: Suspension | None = None
    blocked: Suspension | None = None
    """On the blocklist (W13)."""
    listed: Suspension | None = None
    """On the operator's list (W01)."""
    marker: bool = False
    """Not a site: the memory of this partition is whole (A03)."""
    jobs: tuple[Job, ...] = ()
    intents: tuple[Intent, ...] = ()
    starts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """UTC day -> ids of the crawls that count towards the cap; a set, since redelivery doubles counters."""
    checks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """UTC day -> ids of the address checks that were let through (E07)."""
    last_end: float = 0.0
    """When the last request ended, wall clock."""
    wait: float = 0.0
    """Seconds from `last_end` to the next request."""
    pause_until: float = 0.0
    strikes: int = 0
    """Refusals in a row (W06, C10)."""
    slow: int = 0
    """How often the gap was doubled (C10)."""
    validators: int = 0
    """Slots of `Validator` records that may be in use: numbers below this one (W09)."""
    erased_at: float = 0.0
    """Content up to then was erased: nothing that is known of it can be put back (E25)."""

    @property
    def stopped(self) -> bool:
        """Whether staff said that nothing is to be asked of this site: suspended (E25) or blocked (W13)."""
        return self.suspended is not None or self.blocked is not None


class Entry(Model):
    """One URL of a frontier. Lower `rank` is asked for first."""

    url: str
    rank: float
    depth: int = 0
    hops: int = 0
    """Redirect hops that led here."""
    wave: int = 0
    """1: linked from a page of the sitemap, but missing from it (W07)."""
    title: str = ""
    """What a link or the page itself calls it; for a listing."""
    pairs_only: bool = False
    """Linked from a hand-listed page: read for its pairs alone (E18)."""


class Chunk(Model):
    """What one page, or one sitemap, added to a job: frontier entries, the page's fingerprint. Never changed."""

    entries: tuple[Entry, ...] = ()
    fingerprint: str | None = None


class Validator(Model):
    """How a page whose text is held is asked for again (W09): a record of its own, replaced whole, never changed.

    `links` are the page's own, without the host: an unchanged page is not sent, and what it leads to stays known.
    """

    account: str
    """Another account's pages are not this one's to build on (E05)."""
    url: str
    etag: str | None = None
    modified: str | None = None
    crawl: str
    """The crawl that read the text."""
    at: float
    """When the page was last read, or last said to be unchanged."""
    pairs: int = 0
    fingerprint: str = ""
    links: tuple[str, ...] = ()


class Seen(Model):
    """The last messages that were applied, oldest first: a redelivery is a no-op (F30)."""

    messages: tuple[str, ...] = ()


def head_key(site: str) -> str:
    """The table key of a site's head."""
    return f"{site}|h"


def seen_key(site: str) -> str:
    """The table key of the messages that a site has seen."""
    return f"{site}|s"


def cache_key(site: str) -> str:
    """The table key of the robots.txt that outlives its crawl (W03)."""
    return f"{site}|c"


def validator_key(site: str, slot: int) -> str:
    """The table key of the validators of one page (W09)."""
    return f"{site}|v|{slot}"


def robots_key(site: str, job: str) -> str:
    """The table key of the robots.txt that holds for a job."""
    return f"{site}|r|{job}"


def chunk_key(site: str, job: str, number: int) -> str:
    """The table key of a frontier chunk."""
    return f"{site}|f|{job}|{number}"
