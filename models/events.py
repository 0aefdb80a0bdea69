"""What happened: the facts of `site-events`, and the contents of `page-fetched`.

Facts are kept long and are replayed by auditors; so they name pages by `url_id` and hold no page text. What the
pages say, and their URLs in clear, goes to `page-fetched` and is gone from the broker after 72 h. Ids are
deterministic (`models.ids`): a redelivery repeats a fact, it never adds one. Times are seconds since the epoch.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import Field, TypeAdapter

from models import ids
from models.wire import Model

ProofMethod = Literal[
    "dns", "token_file", "homepage_meta", "homepage_text", "start_page_meta", "start_page_header", "attestation"
]

Requester = Literal["customer", "schedule", "staff"]

Refusal = Literal[
    "unverified",
    "unconfirmed",
    "unlisted",
    "by_hand",
    "suspended",
    "blocked",
    "cap",
    "running",
    "scope",
    "no_listing",
]
"""Why the gate refused a job; docs/gate.md has a sentence for each."""

CrawlEnd = Literal["completed", "completed_partial", "refused_robots", "suspended", "failed", "aborted_deadline"]


class Fact(Model):
    """What all facts share. `id` is the primary key everywhere."""

    id: str
    at: float
    site: str


class AddressChecked(Fact):
    """The HEAD of a saved address came back, or did not (E07). Any status is an answer."""

    type: Literal["address-checked"] = "address-checked"
    job: str
    account: str
    host: str
    answers: bool
    status: int | None
    outcome: str
    """Of the request; or why none was made (`crawler.rules.checks.NotMade`)."""
    reason: str = ""
    """The customer's sentence for a check that was not made."""
    redirects_to: str | None = None
    """The host that the answer points to, when it is the www twin."""


class SettingsSaved(Fact):
    """A customer's settings of a site, as they are now in force, and what was refused of them."""

    type: Literal["settings-saved"] = "settings-saved"
    account: str
    host: str
    start: str
    note: str | None
    scope: tuple[str, ...] | None
    schedule: bool
    refused: dict[str, str] = Field(default_factory=dict)
    """Setting -> the sentence that says why it was refused; the one before it stays in force."""


class Verified(Fact):
    """A proof is on file for (account, site) (E13)."""

    type: Literal["verified"] = "verified"
    job: str = ""
    """The verification that found the proof; empty for an attestation."""
    account: str
    host: str
    method: ProofMethod
    weaker: bool
    by: str | None = None
    kept_at: str | None = None
    path: str = ""
    """All that the proof covers (C04); empty: the site."""
    token: str = ""
    """The token that was found; public as the record or page that shows it, and needed to look again (C06)."""


class VerificationFailed(Fact):
    """A proof was looked for and not found; nothing that stood before is removed (E13)."""

    type: Literal["verification-failed"] = "verification-failed"
    job: str
    account: str
    host: str
    method: str
    result: Literal["absent", "undetermined", "refused"]
    reason: str
    cause: str = ""
    """One word of a closed list (docs/authority.md); `reason` is the sentence for it."""


class ProofRechecked(Fact):
    """The proof on file was looked for again at the start of a crawl (C06). Absent: it is no longer on file."""

    type: Literal["proof-rechecked"] = "proof-rechecked"
    crawl: str
    account: str
    host: str
    method: ProofMethod
    result: Literal["found", "absent", "undetermined"]
    reason: str
    page_limit: int
    """Pages that this crawl may keep, as it follows from the result."""


class SiteConfirmed(Fact):
    """A customer confirmed that they own the site or may index it (C01)."""

    type: Literal["site-confirmed"] = "site-confirmed"
    account: str
    by: str


class VerificationWithdrawn(Fact):
    """Staff withdrew a proof (E13)."""

    type: Literal["verification-withdrawn"] = "verification-withdrawn"
    account: str
    by: str
    reason: str


class CrawlDecided(Fact):
    """The gate's answer to one request for a crawl, refusals too: the audit row (E23)."""

    type: Literal["crawl-decided"] = "crawl-decided"
    crawl: str
    account: str
    host: str
    requester: Requester
    requested_by: str
    requested_at: float
    accepted: bool
    refusal: Refusal | None = None
    verified: bool
    proof: ProofMethod | None = None
    verified_at: float | None = None
    bot: str
    kind: Literal["crawl", "listing"] = "crawl"
    plan: str = ""
    page_limit: int | None = None
    """Pages that this crawl may keep (C02)."""
    confirmed_by: str | None = None
    confirmed_at: float | None = None


class RobotsDecided(Fact):
    """What robots.txt says for this crawl (E14, E15)."""

    type: Literal["robots-decided"] = "robots-decided"
    crawl: str
    verdict: Literal["allow_all", "disallow_all", "rules"]
    reason: str
    sha256: str | None
    crawl_delay: float | None
    sitemaps: int


class RequestEnded(Fact):
    """One request, or one URL that was taken up without a request, and its outcome (A04)."""

    type: Literal["request-ended"] = "request-ended"
    job: str
    number: int
    kind: str
    method: str
    url_id: str
    attempt: int
    sent: bool
    outcome: str
    final: bool = True
    """The URL's one outcome; False when the same URL will be asked for again (E19, a takeover)."""
    status: int | None = None
    bytes: int = 0
    wire_bytes: int = 0
    started_at: float
    ended_at: float
    worker: str = ""
    detail: str = ""


class PageKept(Fact):
    """A page's text was handed on: its digest, for the audit."""

    type: Literal["page-kept"] = "page-kept"
    crawl: str
    url_id: str
    sha256: str
    characters: int
    pairs: int
    noindex: bool


class PageUnchanged(Fact):
    """A page that an earlier crawl had read was said to be unchanged: its stored text stays (W09)."""

    type: Literal["page-unchanged"] = "page-unchanged"
    crawl: str
    """The crawl that asked."""
    url_id: str
    page_id: str
    """The page as it was read, by the crawl that read it."""


class CrawlEnded(Fact):
    """The one terminal state of a crawl (A04). `requests` counts by kind, `outcomes` by outcome."""

    type: Literal["crawl-ended"] = "crawl-ended"
    crawl: str
    end: CrawlEnd
    reason: str = ""
    pages: int
    pairs: int
    requests: dict[str, int]
    outcomes: dict[str, int]
    left: int = 0
    """URLs that were found and never taken up, because the budget was spent."""
    remove_above: int | None = None
    """The proof was found absent: what the account holds of the site above so many pages is removed (C06)."""


class Suspended(Fact):
    """Staff suspended the site (E25)."""

    type: Literal["suspended"] = "suspended"
    by: str
    reason: str


class Resumed(Fact):
    """Staff ended the suspension (E25)."""

    type: Literal["resumed"] = "resumed"
    by: str
    reason: str


class Erased(Fact):
    """Staff had everything deleted that is held from the site (E25). The id is that of the ledger's row."""

    type: Literal["erased"] = "erased"
    until: float
    """Content up to then is gone, whatever clock it was stamped by, and a late copy of it stays out."""
    by: str
    reason: str
    ticket: str = ""


class Blocked(Fact):
    """Staff put the site on the blocklist (W13)."""

    type: Literal["blocked"] = "blocked"
    by: str
    reason: str


class Unblocked(Fact):
    """Staff took the site off the blocklist (W13)."""

    type: Literal["unblocked"] = "unblocked"
    by: str
    reason: str


class Listed(Fact):
    """Staff put the site on the operator's list (W01)."""

    type: Literal["listed"] = "listed"
    by: str
    reason: str


class Unlisted(Fact):
    """Staff took the site off the operator's list (W01)."""

    type: Literal["unlisted"] = "unlisted"
    by: str
    reason: str


class StopRequested(Fact):
    """A stop request from outside was recorded (E25, W13)."""

    type: Literal["stop-requested"] = "stop-requested"
    stop_request: str
    received_at: float
    due_at: float
    from_whom: str
    channel: str
    by: str


class StopDone(Fact):
    """The site was suspended or blocked as a stop request asked (E25, W13)."""

    type: Literal["stop-done"] = "stop-done"
    stop_request: str
    by: str


class StopConfirmed(Fact):
    """Whoever asked was told that it is done (W13)."""

    type: Literal["stop-confirmed"] = "stop-confirmed"
    stop_request: str
    by: str


class SitePaused(Fact):
    """The site's refusals paused it (W06, C10): a fact, so that the pause outlives the broker's data (A03)."""

    type: Literal["site-paused"] = "site-paused"
    until: float
    strikes: int


SiteEvent = Annotated[
    AddressChecked
    | SettingsSaved
    | Verified
    | VerificationFailed
    | VerificationWithdrawn
    | CrawlDecided
    | RobotsDecided
    | RequestEnded
    | PageKept
    | PageUnchanged
    | CrawlEnded
    | Suspended
    | Resumed
    | ProofRechecked
    | SiteConfirmed
    | Blocked
    | Unblocked
    | Listed
    | Unlisted
    | StopRequested
    | StopDone
    | StopConfirmed
    | SitePaused
    | Erased,
    Field(discriminator="type"),
]


class PageFetched(Fact):
    """A page's text and pairs (E28): what the assistant answers from."""

    type: Literal["page-fetched"] = "page-fetched"
    crawl: str
    url: str
    title: str
    description: str
    language: str
    text: str
    text_cut: bool = False
    pairs: tuple[dict[str, str], ...]
    facts: tuple[dict[str, Any], ...]
    frame: tuple[str, ...] = ()
    """Visible lines around the text that may hold facts (footer, hours); the site's text keeps each once."""
    menu: tuple[str, ...] = ()
    """Lines that are links alone; the site's text leaves them out."""
    signals: dict[str, str] = Field(default_factory=dict)
    noindex: bool = False
    etag: str | None = None
    last_modified: str | None = None
    sha256: str
    encoding: str = ""
    rank: float = 0.0
    """Its priority in the crawl that read it, small first: the last are removed first (C06)."""
    pairs_only: bool = False
    """Read for its pairs alone: it has no text here and takes no place among the kept (E18)."""
    fingerprint: str = ""
    links: tuple[str, ...] | None = None
    """The page's links, without the host, where it will be asked for conditionally (W09); None: it will not."""


class ListedPage(Model):
    """One page of a listing; `title` where it is known."""

    url: str
    title: str = ""


class PagesListed(Fact):
    """The answer to a request for a site's pages: what a customer can choose a scope from (E22)."""

    type: Literal["pages-listed"] = "pages-listed"
    job: str
    account: str
    host: str
    end: str
    reason: str
    pages: tuple[ListedPage, ...]
    cut: bool = False
    """There were more than fit into one event."""


class UrlNamed(Fact):
    """The clear URL of a request, apart from the facts so that it can be erased."""

    type: Literal["url-named"] = "url-named"
    url: str


Content = Annotated[PageFetched | PagesListed | UrlNamed, Field(discriminator="type")]

_site_event: TypeAdapter[SiteEvent] = TypeAdapter(SiteEvent)
_content: TypeAdapter[Content] = TypeAdapter(Content)


def read_event(raw: bytes) -> SiteEvent:
    """A fact of `site-events`. Raises pydantic's ValidationError when it is none.

    Fields that a newer version added are ignored: during an upgrade old and new programs read one log (F36).
    """
    return _site_event.validate_json(raw, extra="ignore")


def read_content(raw: bytes) -> Content:
    """A record of `page-fetched` or `pages-listed`. Raises pydantic's ValidationError when it is none."""
    return _content.validate_json(raw, extra="ignore")


def dump(fact: Fact) -> bytes:
    """The bytes that go to Kafka."""
    return orjson.dumps(fact.model_dump(mode="json"))


def named(site: str, url: str, at: float) -> UrlNamed:
    """The record that ties a `url_id` to its URL."""
    return UrlNamed(id=ids.url_id(url), at=at, site=site, url=url)
