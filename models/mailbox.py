"""What a site is told: the messages of `site-mailbox`, written by Licet's own workers alone.

One site's messages have one partition and so one order. `at` of the broker's record is the `now` of `decide`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationError

from models import intake
from models.state import Account, Suspension, Validator
from models.wire import Model, Said, Unreadable, read_json

Type = Literal[
    "address-saved",
    "verification-requested",
    "crawl-requested",
    "start-crawl",
    "suspend-site",
    "resume-site",
    "attest-site",
    "withdraw-verification",
    "site-confirmed",
    "listing-requested",
    "block-site",
    "unblock-site",
    "list-site",
    "unlist-site",
    "record-stop",
    "confirm-stop",
    "erase-site",
    "restore-site",
]

RESTORE = "restore-site"
"""Puts a site's memory back (A03). Sent from the database by staff's `licet restore`; no intake topic carries it."""


class OpenCrawl(Said):
    """A crawl or listing that the database has as running, and how far it came."""

    crawl: str
    pages: int = 0
    pairs: int = 0
    requests: dict[str, int] = Field(default_factory=dict)
    plan: str = ""
    proof_absent: bool = False
    """At its start the proof was found absent, so pages are still to be removed at its end (C06)."""


class RestoreSite(Said):
    """What the database knows of a site. `marker`: everything of this partition has been said before."""

    marker: bool = False
    accounts: dict[str, Account] = Field(default_factory=dict)
    suspended: Suspension | None = None
    blocked: Suspension | None = None
    listed: Suspension | None = None
    starts: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    checks: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    pause_until: float = 0.0
    strikes: int = 0
    open: tuple[OpenCrawl, ...] = ()
    """What was running when the memory was lost; it ends here, once (A04)."""
    validators: tuple[Validator, ...] = ()


SCHEMAS: dict[str, type[Said]] = {
    name: schema for types in intake.type_of_topic.values() for name, schema in types.items()
} | {RESTORE: RestoreSite}


class Origin(Model):
    """Where an event came from: enough to find it again in its topic."""

    topic: str
    partition: int
    offset: int


class Message(Model):
    """One message to one site. `host` is the canonical host as it was named (`www.` kept), `site` the key."""

    id: str
    type: Type
    version: int = 1
    site: str
    host: str
    start: str
    """The canonical URL of the address that was named."""
    origin: Origin
    said_at: float
    """Broker time of the intake event, seconds: when the command was accepted."""
    account_spent: bool = False
    """The account has had its address checks of the day, as far as the worker knew that heard it (E07)."""
    data: dict[str, Any]

    @property
    def said(self) -> Said:
        """The event's own data, in the schema of its type."""
        return SCHEMAS[self.type].model_validate(self.data)


def read(raw: bytes | None) -> Message:
    """The message in `raw`; `Unreadable` when it is none."""
    try:
        message = Message.model_validate(read_json(raw))
        _ = message.said
    except ValidationError as error:
        raise Unreadable("schema", str(error.errors(include_url=False)[0]["msg"])) from None
    return message
