"""A bot's policy as one value: every number and choice of the published promises, and nothing else.

A rule that differs between bots is a field here, never a branch on a bot's name. `bots/*.yaml` hold the
values with the promise beside each. How a value may be changed stands in its annotation (models.ceilings).
"""

from __future__ import annotations

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from models.ceilings import (
    Ceiling,
    CeilingSeconds,
    Change,
    Fewer,
    FloorSeconds,
    Free,
    MayBeSwitchedOff,
    MayBeSwitchedOn,
    Section,
)
from models.web import Kind


class Phase(StrEnum):
    """What a request serves: its pace and its timeout follow from this (E16, E17)."""

    CRAWL = "crawl"
    LISTING = "listing"
    PROOF = "proof"
    ADDRESS_CHECK = "address_check"


class Identity(Section):
    """Who we are, in every request of any kind (E01, E02)."""

    token: str = Field(pattern=r"^[A-Za-z_-]+$")  # RFC 9309 2.2.1: the product token
    version: str = Field(pattern=r"^\d+\.\d+$")
    page: str = Field(pattern=r"^https://[!-~]+$")  # the link in the User-Agent
    page_set_by: Literal["product", "operator"]  # E01: Ema's link can never be replaced
    note_max: Ceiling = Field(ge=0)  # characters of a customer's note; 0: no notes

    def rule(self, name: str) -> Change:
        """The link is the operator's to set where the policy leaves it open."""
        open_link = name == "page" and self.page_set_by == "operator"
        return Change.FREE if open_link else super().rule(name)


class Gate(Section):
    """On what authority a job may start (E05, W01, C01)."""

    kind: Literal["verified_account", "operator_list", "confirmation"]
    schedule: MayBeSwitchedOff  # whether anything but a person may start a job
    listing: MayBeSwitchedOff  # whether the bot's policy knows page listings
    platforms: MayBeSwitchedOff  # whether a customer may save a page of a site of many people (C04)
    customer_starts_per_day: Annotated[int | None, Change.LOWER]  # E21: per site and UTC day
    recheck_proof: bool  # C06: at every start; E13: never
    stop_due: Literal["business_day", "hours_24"]  # E25, W13: when a stop request from outside is due


class DnsProof(Section):
    """A TXT record at one of `names`, through DNS-over-HTTPS (E08, C03)."""

    names: tuple[str, ...]  # with {domain}
    value: str  # with {token}
    timeout: CeilingSeconds  # per resolver


class FileProof(Section):
    """A token file (E09, C05)."""

    path: str
    value: str  # the line that may stand in place of the bare token
    max_bytes: Ceiling
    max_redirects: Ceiling
    timeout: CeilingSeconds


class PageProof(Section):
    """A mark on a page: a meta in its head, a line of its text, or a response header (E10, C04)."""

    page: Literal["homepage", "start_page"]
    meta: str
    text: str  # the whole visible line, with {token}; empty: text is no proof
    header: str  # the response header; empty: headers are no proof
    max_bytes: Ceiling
    max_redirects: Ceiling
    timeout: CeilingSeconds


class Proofs(Section):
    """The ways to prove a site. None: this bot knows no such proof."""

    dns: DnsProof | None
    file: FileProof | None
    page: PageProof | None
    attestation: MayBeSwitchedOff  # E11: by staff only, the weaker proof
    exact_host: bool  # C03: `www.example.com` is a name of its own
    obey_robots: MayBeSwitchedOn  # E12: false


class AddressCheck(Section):
    """One HEAD when an address is saved or changed (E07)."""

    enabled: MayBeSwitchedOff
    timeout: CeilingSeconds
    per_site_day: Ceiling = Field(ge=0)  # stricter: HEADs to a site in a UTC day, all accounts together
    per_account_day: Ceiling = Field(ge=0)  # stricter: sites that an account has checked in a day, in each worker


class PaceRule(Section):
    """The gap from the end of a request to the start of the next: the largest of three."""

    delay: FloorSeconds = Field(gt=0)
    response_factor: FloorSeconds = Field(ge=0)  # W05: times the last response time
    crawl_delay_cap: Annotated[float | None, Change.HIGHER]  # C08, E15; None: honoured whatever it says


class Pace(Section):
    """E16, W04, W05, C08, C11."""

    scope: Literal["job", "site"]
    max_in_flight: Ceiling = Field(ge=1)
    crawl: PaceRule
    listing: PaceRule
    own_sites: PaceRule | None  # W05: the operator's own


class Timeouts(Section):
    """Seconds for a whole request; robots.txt and sitemaps take that of their phase (E17)."""

    crawl: CeilingSeconds
    listing: CeilingSeconds


class PlanPages(Section):
    """Pages kept under a plan, without and with a proof (C02)."""

    standard: Ceiling
    proved: Ceiling


class Plans(Section):
    """The plans that an event may name (C02)."""

    trial: PlanPages
    paid: PlanPages


class Budget(Section):
    """What one job may ask for and keep (E18, W10, C02). Retries and redirect hops of pages count too."""

    pages: Ceiling  # kept
    page_requests: Ceiling
    requests_per_page: Ceiling  # under a smaller page limit, requests shrink with it
    listed_pages: Ceiling  # a hand-listed scope
    pairs_only_pages: Ceiling  # and these more, for their question-answer pairs
    sitemap_requests: Ceiling  # hops included
    llms_txt_requests: Ceiling  # W08
    listing_pages: Ceiling  # a listing reads the homepage only
    plans: Plans | None


class Refusal(Section):
    """What follows a 429 or a 503 (E19, W06, C10)."""

    retries: Ceiling  # the same page, at most so many times more
    wait_cap: CeilingSeconds  # a wait inside the crawl is never longer
    long_retry_after: Literal["fail", "pause"]  # a Retry-After above `wait_cap`
    slow_after: Annotated[int | None, Change.LOWER]  # C10: so many refusals in a row double the gap
    pause_after: Annotated[int | None, Change.LOWER]  # so many refusals in a row pause; None: never
    pause_first: float  # the first pause without a Retry-After; each further one doubles
    pause_cap: float
    pause_scope: Literal["none", "job", "site"]


class Robots(Section):
    """E14, E15, W03, C07."""

    policy: Literal["strict", "rfc9309"]
    html_is_unreadable: MayBeSwitchedOn
    max_hops: Ceiling
    offsite_hops: MayBeSwitchedOff
    max_bytes: int = Field(ge=512_000)  # RFC 9309 2.5: at least 500 KiB are read
    lifetime: CeilingSeconds  # W03: seconds in the cache across jobs; 0: read for each job, holds for it (E15)
    lifetime_floor: CeilingSeconds  # a shorter max-age is not followed below this


class Discovery(Section):
    """How pages are found (W07, E18) and what a page's own directives do (C09, E28)."""

    links: Literal["always", "sitemap_then_unlisted"]
    sitemap_formats: Fewer  # of xml, text, rss, atom
    obey_nofollow: MayBeSwitchedOn
    noindex: Literal["record", "skip"]
    conditional_get: MayBeSwitchedOff  # W09


class Scope(Section):
    """Which URLs may be asked for (E20, C12)."""

    query: Literal["drop", "strip_tracking"]  # drop: a URL with a query is never fetched
    tracking: tuple[str, ...]  # parameters that are removed; a trailing * is a prefix
    max_url: Ceiling
    max_depth: Ceiling  # hops of links from the start; deeper is a trap
    max_hops: Ceiling  # redirect hops of one page


class Media(Section):
    """Content types whose body is read (E04, W02); anything else is refused on its header."""

    page: Fewer
    sitemap: Fewer
    llms_txt: Fewer


class Bodies(Section):
    """Bytes, decoded, past which a body is abandoned (E20)."""

    page: Ceiling
    sitemap: Ceiling
    llms_txt: Ceiling


class Signature(Section):
    """Web Bot Auth on every request (W12; RFC 9421)."""

    agent_form: Annotated[Literal["string", "dictionary"], Change.FREE]
    agent_value: Annotated[Literal["origin", "jwks_url"], Change.FREE]
    components: tuple[str, ...]
    lifetime: CeilingSeconds


class Egress(Section):
    """The static addresses that requests leave from; empty: the machine's own (W11)."""

    ipv4: Free
    ipv6: Free


class ChangelogLine(Section):
    """One dated line of a public changelog (W14)."""

    day: date
    text: str


class Publication(Section):
    """What the public pages are rendered from, besides the numbers (E27, W14, C14)."""

    languages: tuple[str, ...]
    contact: Free
    changelog: Annotated[tuple[ChangelogLine, ...], Change.FREE]


class Profile(Section):
    """One bot, whole."""

    name: str
    identity: Identity
    gate: Gate
    proofs: Proofs
    address_check: AddressCheck
    pace: Pace
    timeouts: Timeouts
    budget: Budget
    refusal: Refusal
    robots: Robots
    discovery: Discovery
    scope: Scope
    media: Media
    bodies: Bodies
    signature: Signature | None
    egress: Egress
    publication: Publication

    def timeout(self, kind: Kind, phase: Phase = Phase.CRAWL) -> float:
        """Seconds for a whole request (E17)."""
        if kind is Kind.ADDRESS_CHECK:
            return self.address_check.timeout
        if kind is Kind.TOKEN_FILE and self.proofs.file is not None:
            return self.proofs.file.timeout
        if kind is Kind.HOMEPAGE_PROOF and self.proofs.page is not None:
            return self.proofs.page.timeout
        return self.timeouts.listing if phase is Phase.LISTING else self.timeouts.crawl

    def max_bytes(self, kind: Kind) -> int:
        """Bytes of a body that are read (E09, E10, E20)."""
        caps = {
            Kind.ROBOTS: self.robots.max_bytes + 1,  # one more tells a cut file from a whole one
            Kind.SITEMAP: self.bodies.sitemap,
            Kind.LLMS_TXT: self.bodies.llms_txt,
            Kind.TOKEN_FILE: self.proofs.file.max_bytes if self.proofs.file else 0,
            Kind.HOMEPAGE_PROOF: self.proofs.page.max_bytes if self.proofs.page else 0,
            Kind.ADDRESS_CHECK: 0,
        }
        return caps.get(kind, self.bodies.page)

    def media_types(self, kind: Kind) -> frozenset[str] | None:
        """Types whose body is read (E04); None: the kind is judged by its own rules (robots, proofs)."""
        types = {
            Kind.PAGE: self.media.page,
            Kind.SITEMAP: self.media.sitemap,
            Kind.LLMS_TXT: self.media.llms_txt,
            Kind.HOMEPAGE_PROOF: self.media.page,
        }
        return frozenset(types[kind]) if kind in types else None

    @model_validator(mode="after")
    def _consistent(self) -> Profile:
        if self.pace.max_in_flight > 1 and self.pace.scope == "site":
            raise ValueError("pace: one request at a time per site excludes more than one in flight")
        if self.robots.policy == "strict" and self.robots.offsite_hops:
            raise ValueError("robots: the strict table knows no hops to other sites (E14)")
        return self
