"""The SQL tables: a projection of the facts, rebuilt from them at any time.

Three sorts. *Audit* rows hold no page text and no clear URL and are never deleted. *Content* (`pages`, `pairs`,
`urls`) is deleted on request, and the erasure ledger keeps it from coming back. *State* (`sites`, `settings`) is
the newest fact of its key. No foreign key ties facts to each other, because facts arrive in any order (F31).
Times come from the facts; only `inserted_at` is the database's own clock, and no comparison may use it.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    String,
    Text,
    Uuid,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

ERASURE_LOCK = 0x4C494345
"""Advisory lock: shared by whoever writes content, exclusive for whoever writes the erasure ledger."""

DIGEST = 64
"""Hex digits of a SHA-256: ids of URLs and pages, since a text key of 2.7 kB breaks a btree (measured)."""


class Base(DeclarativeBase):
    """Types and names that all tables share."""

    metadata = MetaData(
        naming_convention={
            "pk": "pk_%(table_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own name and form
        str: Text(),
        datetime: DateTime(timezone=True),
        uuid.UUID: Uuid(),
        dict[str, Any]: JSONB(),
        list[Any]: JSONB(),
    }


class Inserted:
    """When the row came into this database; the only value that a replay may change (F32)."""

    inserted_at: Mapped[datetime] = mapped_column(server_default=func.now(), sort_order=100)


class Site(Inserted, Base):
    """A site that something is known of, and between which facts."""

    __tablename__ = "sites"

    site: Mapped[str] = mapped_column(primary_key=True)
    first_at: Mapped[datetime]
    last_at: Mapped[datetime]


class Settings(Inserted, Base):
    """A customer's settings of a site as they are in force: the newest `settings-saved` (E02, E22)."""

    __tablename__ = "settings"

    account: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str] = mapped_column(primary_key=True, index=True)
    fact: Mapped[str]
    host: Mapped[str]
    start: Mapped[str]
    note: Mapped[str | None]
    scope: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    schedule: Mapped[bool]
    refused: Mapped[dict[str, Any]]
    saved_at: Mapped[datetime]


class Verification(Inserted, Base):
    """A proof found, not found or withdrawn; what stands is the newest found one (E08-E13)."""

    __tablename__ = "verifications"
    __table_args__ = (
        CheckConstraint("kind IN ('verified', 'failed', 'withdrawn', 'rechecked')", name="kind"),
        # E11, F50: an attestation without who or where is none
        CheckConstraint(
            "kind <> 'verified' OR method <> 'attestation' OR"
            " (coalesce(by, '') <> '' AND coalesce(kept_at, '') <> '')",
            name="attested",
        ),
        Index(None, "site", "account", "at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    site: Mapped[str]
    account: Mapped[str]
    host: Mapped[str | None]
    job: Mapped[uuid.UUID | None] = mapped_column(index=True)
    method: Mapped[str | None]
    weaker: Mapped[bool | None]
    by: Mapped[str | None]
    kept_at: Mapped[str | None]
    result: Mapped[str | None]
    reason: Mapped[str | None]
    cause: Mapped[str | None]
    path: Mapped[str | None]
    token: Mapped[str | None]
    at: Mapped[datetime]


class Crawl(Inserted, Base):
    """The audit row: one for each request for a crawl, refused ones too (E23, E24).

    What was decided, what robots.txt said and how it ended come from three facts in any order. Each is written
    once; a trigger forbids any later change and any deletion.
    """

    __tablename__ = "crawls"
    __table_args__ = (Index(None, "site", "requested_at"),)

    crawl: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    site: Mapped[str]
    decided_at: Mapped[datetime | None]
    requested_at: Mapped[datetime | None]
    requested_by: Mapped[str | None]
    requester: Mapped[str | None]
    account: Mapped[str | None]
    host: Mapped[str | None]
    accepted: Mapped[bool | None]
    refusal: Mapped[str | None]
    verified: Mapped[bool | None]
    proof: Mapped[str | None]
    verified_at: Mapped[datetime | None]
    bot: Mapped[str | None]
    kind: Mapped[str | None]
    plan: Mapped[str | None]
    page_limit: Mapped[int | None]
    confirmed_by: Mapped[str | None]
    confirmed_at: Mapped[datetime | None]
    robots_at: Mapped[datetime | None]
    robots: Mapped[str | None]
    robots_reason: Mapped[str | None]
    robots_sha256: Mapped[str | None]
    crawl_delay: Mapped[float | None]
    sitemaps: Mapped[int | None]
    terminal_at: Mapped[datetime | None]
    terminal_kind: Mapped[str | None]
    terminal_reason: Mapped[str | None]
    pages: Mapped[int | None]
    pairs: Mapped[int | None]
    requests: Mapped[dict[str, Any] | None]
    outcomes: Mapped[dict[str, Any] | None]
    left_over: Mapped[int | None]
    remove_above: Mapped[int | None]


class Fetch(Inserted, Base):
    """One request, or one URL that was taken up without a request, and its outcome (A04)."""

    __tablename__ = "fetches"
    __table_args__ = (Index(None, "job", "number"), Index(None, "site", "started_at"))

    id: Mapped[str] = mapped_column(primary_key=True)
    job: Mapped[uuid.UUID]
    site: Mapped[str]
    number: Mapped[int]
    kind: Mapped[str]
    method: Mapped[str]
    url_id: Mapped[str] = mapped_column(String(DIGEST), index=True)
    attempt: Mapped[int] = mapped_column(SmallInteger)
    sent: Mapped[bool]
    outcome: Mapped[str]
    final: Mapped[bool]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    bytes: Mapped[int] = mapped_column(BigInteger)
    wire_bytes: Mapped[int] = mapped_column(BigInteger)
    started_at: Mapped[datetime]
    ended_at: Mapped[datetime]
    worker: Mapped[str]
    detail: Mapped[str]


class Digest(Inserted, Base):
    """A page that was kept, without its text and URL: what the audit keeps after an erasure (I12)."""

    __tablename__ = "digests"

    crawl: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    url_id: Mapped[str] = mapped_column(String(DIGEST), primary_key=True)
    site: Mapped[str] = mapped_column(index=True)
    sha256: Mapped[str]
    characters: Mapped[int] = mapped_column(Integer)
    pairs: Mapped[int] = mapped_column(Integer)
    noindex: Mapped[bool]
    at: Mapped[datetime]


class Sighting(Inserted, Base):
    """A page that `crawl` found unchanged: its text is the one that an earlier crawl read (W09)."""

    __tablename__ = "sightings"

    crawl: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    page_id: Mapped[str] = mapped_column(String(DIGEST), primary_key=True, index=True)
    site: Mapped[str] = mapped_column(index=True)
    url_id: Mapped[str] = mapped_column(String(DIGEST))
    at: Mapped[datetime]


class Removal(Inserted, Base):
    """A page that was removed at the end of `crawl`, whose proof was found absent (C06): its report, without text."""

    __tablename__ = "removals"

    crawl: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    page_id: Mapped[str] = mapped_column(String(DIGEST), primary_key=True)
    site: Mapped[str] = mapped_column(index=True)
    url_id: Mapped[str] = mapped_column(String(DIGEST))
    rank: Mapped[float]


class AddressCheck(Inserted, Base):
    """The HEAD of a saved address (E07)."""

    __tablename__ = "address_checks"
    __table_args__ = (Index(None, "site", "account", "at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    job: Mapped[uuid.UUID] = mapped_column(index=True)
    site: Mapped[str]
    account: Mapped[str]
    host: Mapped[str]
    answers: Mapped[bool]
    status: Mapped[int | None] = mapped_column(SmallInteger)
    outcome: Mapped[str]
    redirects_to: Mapped[str | None]
    at: Mapped[datetime]


class Suspension(Inserted, Base):
    """What staff decided about a site: suspended (E25), blocked (W13), listed (W01), or no longer.

    Of each pair of kinds the newest row says which holds.
    """

    __tablename__ = "suspensions"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('suspended', 'resumed', 'blocked', 'unblocked', 'listed', 'unlisted')", name="kind"
        ),
        Index(None, "site", "at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    site: Mapped[str]
    by: Mapped[str]
    reason: Mapped[str]
    at: Mapped[datetime]


class Confirmation(Inserted, Base):
    """A customer's word that they own the site or may index it (C01)."""

    __tablename__ = "confirmations"
    __table_args__ = (Index(None, "site", "account", "at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str]
    account: Mapped[str]
    by: Mapped[str]
    at: Mapped[datetime]


class StopRequest(Inserted, Base):
    """A stop request from outside, from three facts in any order: recorded, done, confirmed (E25, W13)."""

    __tablename__ = "stop_requests"
    __table_args__ = (Index(None, "site"), Index(None, "due_at"))

    stop_request: Mapped[str] = mapped_column(primary_key=True)
    site: Mapped[str]
    recorded_at: Mapped[datetime | None]
    recorded_by: Mapped[str | None]
    received_at: Mapped[datetime | None]
    due_at: Mapped[datetime | None]
    from_whom: Mapped[str | None]
    channel: Mapped[str | None]
    done_at: Mapped[datetime | None]
    done_by: Mapped[str | None]
    confirmed_at: Mapped[datetime | None]
    confirmed_by: Mapped[str | None]


class Pause(Inserted, Base):
    """Until when a site is paused: the newest pause (W06, C10)."""

    __tablename__ = "pauses"

    site: Mapped[str] = mapped_column(primary_key=True)
    fact: Mapped[str]
    until: Mapped[datetime]
    strikes: Mapped[int]
    paused_at: Mapped[datetime]


class Listing(Inserted, Base):
    """The pages of a site, for a customer to choose from (E22); content, so it is erased with the pages."""

    __tablename__ = "listings"
    __table_args__ = (Index(None, "site", "listed_at"),)

    job: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    site: Mapped[str]
    account: Mapped[str]
    host: Mapped[str]
    end: Mapped[str]
    reason: Mapped[str]
    pages: Mapped[list[Any]]
    cut: Mapped[bool]
    listed_at: Mapped[datetime]


class Event(Inserted, Base):
    """Every fact of `site-events` that was applied, once: the trail of a site."""

    __tablename__ = "events"
    __table_args__ = (Index(None, "site", "at"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[str]
    site: Mapped[str]
    at: Mapped[datetime]


class Erasure(Inserted, Base):
    """The ledger: content of the site up to `erased_at` is gone and must not come back (I13).

    Inserting a row deletes that content in the same transaction (trigger).
    """

    __tablename__ = "erasures"
    __table_args__ = (Index(None, "site", "erased_at"),)

    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    site: Mapped[str]
    erased_at: Mapped[datetime]
    by: Mapped[str]
    reason: Mapped[str]
    ticket: Mapped[str] = mapped_column(server_default=text("''"))


class Url(Inserted, Base):
    """The clear URL behind a `url_id`; content, so it can be erased while the audit stays."""

    __tablename__ = "urls"

    url_id: Mapped[str] = mapped_column(String(DIGEST), primary_key=True)
    site: Mapped[str] = mapped_column(index=True)
    url: Mapped[str]
    named_at: Mapped[datetime]


class Page(Inserted, Base):
    """The text of one page of one crawl (E28). The first copy wins; a zombie's late one changes nothing."""

    __tablename__ = "pages"
    __table_args__ = (Index(None, "crawl"), Index(None, "site", "fetched_at"))

    page_id: Mapped[str] = mapped_column(String(DIGEST), primary_key=True)
    crawl: Mapped[uuid.UUID]
    site: Mapped[str]
    url_id: Mapped[str] = mapped_column(String(DIGEST))
    url: Mapped[str]
    title: Mapped[str]
    description: Mapped[str]
    language: Mapped[str]
    rank: Mapped[float] = mapped_column(server_default=text("0"))
    fingerprint: Mapped[str] = mapped_column(server_default=text("''"))
    text: Mapped[str]
    text_cut: Mapped[bool]
    facts: Mapped[list[Any]]
    frame: Mapped[list[Any]]
    menu: Mapped[list[Any]]
    signals: Mapped[dict[str, Any]]
    noindex: Mapped[bool]
    etag: Mapped[str | None]
    last_modified: Mapped[str | None]
    sha256: Mapped[str]
    encoding: Mapped[str]
    pairs_only: Mapped[bool] = mapped_column(server_default=false())
    links: Mapped[list[str] | None] = mapped_column(ARRAY(Text))
    fetched_at: Mapped[datetime]


class Pair(Inserted, Base):
    """A question that a page answers (E28). Goes with its page."""

    __tablename__ = "pairs"

    page_id: Mapped[str] = mapped_column(ForeignKey("pages.page_id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True)
    pair_id: Mapped[str]
    question: Mapped[str]
    answer: Mapped[str]
    source: Mapped[str]
