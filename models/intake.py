"""What other people's programs may say: the events of the intake topics.

An event is an envelope `{id, type, version, occurred_at, producer, data}`. Its topic, never a field of it,
decides who speaks: staff commands are heard on `operator-commands` alone. A field that is not listed here is
ignored and so can never widen anything.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field, StringConstraints, ValidationError

from models.allowed import allowed
from models.wire import MAX_EVENT_BYTES, Said, Unreadable, read_json

When = Annotated[float, Field(ge=0, le=32_503_680_000)]
"""Seconds since the epoch, up to the year 3000."""

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
"""An account, a person, a place where a paper is kept: 1-200 characters."""
Address = Annotated[str, StringConstraints(max_length=MAX_EVENT_BYTES)]
"""A website's address as a person types it: `shop.example`, `https://www.shop.example/home`. What is wrong with it,
even that it is empty or too long, is for `crawler.rules.urls` to say by name: a schema has no sentence for a
customer."""
Listed = Annotated[str, StringConstraints(min_length=1, max_length=2048)]
"""A page of a hand-listed scope; an empty one would be the start page."""


class Envelope(Said):
    """What every event carries. `id` makes a redelivery recognisable; `occurred_at` is the producer's clock."""

    id: UUID
    type: Name
    version: int = 1
    occurred_at: datetime | None = None
    producer: str = Field(default="", max_length=200)
    data: dict[str, Any]


class AddressSaved(Said):
    """A customer saved or changed a website's address and settings (E07, E02, E22)."""

    account: Name
    address: Address
    note: str | None = Field(default=None, max_length=500)
    scope: tuple[Listed, ...] | None = Field(default=None, max_length=500)
    schedule: bool = True


class SiteConfirmed(Said):
    """A customer confirms that they own the site or may index it: who, mandatory; when is the broker's time (C01)."""

    account: Name
    address: Address
    by: Name


class VerificationRequested(Said):
    """A customer asks that a proof be looked for (E08-E10)."""

    account: Name
    address: Address
    method: Literal["token_file", "dns", "homepage"] = "token_file"


class CrawlRequested(Said):
    """The console's button or the nightly schedule asks for a crawl (E05). Both are capped (E21)."""

    account: Name
    address: Address
    requester: Literal["customer", "schedule"] = "customer"
    by: str = Field(default="", max_length=200)
    plan: str = Field(default="", max_length=50)
    """The account's plan (C02). One that is not known, or none, counts as the narrowest."""


class ListingRequested(Said):
    """A customer asks which pages a site has (E05, E16)."""

    account: Name
    address: Address
    by: str = Field(default="", max_length=200)


class StartCrawl(Said):
    """Staff start a crawl: the same gate, without the daily cap (E21)."""

    account: Name
    address: Address
    by: Name
    plan: str = Field(default="", max_length=50)


class _ByStaff(Said):
    """A site, and who of the staff decided what about it, and why."""

    address: Address
    by: Name
    reason: Name


class SuspendSite(_ByStaff):
    """Staff suspend a site: running jobs stop before their next request, new ones are refused (E25)."""

    stop_request: str = Field(default="", max_length=100)
    """The stop request from outside that this answers, if one does."""


class ResumeSite(_ByStaff):
    """Staff end a suspension (E25)."""


class BlockSite(_ByStaff):
    """Staff put a site on the blocklist: effective at once, whatever is or will be on file for it (W13)."""

    stop_request: str = Field(default="", max_length=100)


class EraseSite(_ByStaff):
    """Staff delete everything that is held from a site, and suspend it (E25)."""

    ticket: str = Field(default="", max_length=200)
    """Where the request to do so is kept."""


class UnblockSite(_ByStaff):
    """Staff take a site off the blocklist (W13)."""


class ListSite(_ByStaff):
    """Staff put a site on the operator's list of sites that may be read (W01)."""


class UnlistSite(_ByStaff):
    """Staff take a site off the operator's list; what runs ends (W01)."""


class RecordStop(Said):
    """A stop request came from outside, by mail say: received when, from whom, due when (E25, W13)."""

    address: Address
    by: Name
    stop_request: Name
    """Its name, unique in the deployment."""
    received_at: When
    due_at: When
    from_whom: Name
    channel: Name = "mail"


class ConfirmStop(Said):
    """Whoever asked us to stop was told that it is done (W13)."""

    address: Address
    by: Name
    stop_request: Name


class AttestSite(Said):
    """Staff attest an authorisation that they hold: who attests and where it is kept, both mandatory (E11)."""

    account: Name
    address: Address
    by: Name
    kept_at: Name


class WithdrawVerification(Said):
    """Staff withdraw a proof; nobody and nothing else can (E13)."""

    account: Name
    address: Address
    by: Name
    reason: Name


type_of_topic: dict[str, dict[str, type[Said]]] = {
    "address-saved": {"address-saved": AddressSaved, "site-confirmed": SiteConfirmed},
    "verification-requested": {"verification-requested": VerificationRequested},
    "crawl-requested": {"crawl-requested": CrawlRequested},
    "listing-requested": {"listing-requested": ListingRequested},
    "operator-commands": {
        "start-crawl": StartCrawl,
        "suspend-site": SuspendSite,
        "resume-site": ResumeSite,
        "attest-site": AttestSite,
        "withdraw-verification": WithdrawVerification,
        "block-site": BlockSite,
        "unblock-site": UnblockSite,
        "list-site": ListSite,
        "unlist-site": UnlistSite,
        "record-stop": RecordStop,
        "confirm-stop": ConfirmStop,
        "erase-site": EraseSite,
    },
}
"""Topic -> event type -> schema of its data. Who may say what follows the topic."""

STAFF_TOPIC = "operator-commands"
"""Whoever may write here is staff; nobody else is, whatever an event says of itself."""
SUPPORTED_VERSION = 1


def read(topic: str, raw: bytes | None) -> tuple[Envelope, Said]:
    """The event in `raw`, checked against what `topic` may carry.

    Raises `Unreadable` with cause empty, oversized, encoding, json, depth, schema, unsupported_type or
    unsupported_version (F40-F44).
    """
    found = read_json(raw)
    try:
        envelope = Envelope.model_validate(found)
    except ValidationError as error:
        raise Unreadable("schema", _first(error, "")) from None
    known = type_of_topic[topic]
    if envelope.type not in known:
        raise Unreadable("unsupported_type", f"{envelope.type!r} on {topic}; known: {', '.join(known)}")
    if envelope.version != SUPPORTED_VERSION:
        raise Unreadable("unsupported_version", f"version {envelope.version}; known: {SUPPORTED_VERSION}")
    try:
        return envelope, known[envelope.type].model_validate(envelope.data)
    except ValidationError as error:
        raise Unreadable("schema", _first(error, "data.")) from None


def _first(error: ValidationError, prefix: str) -> str:
    """The first thing that is wrong, as `field: what is expected`."""
    first = error.errors(include_url=False)[0]
    return f"{prefix}{'.'.join(str(part) for part in first['loc'])}: allowed is {allowed(first)}"
