"""What the commands look for in the projection, as queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import ColumnElement, Select, func, select, union_all

from crawler.rules import gate
from models.events import Refusal
from models.tables import (
    AddressCheck,
    Base,
    Confirmation,
    Crawl,
    Erasure,
    Fetch,
    Listing,
    Page,
    Pair,
    Removal,
    Settings,
    Sighting,
    StopRequest,
    Suspension,
    Url,
    Verification,
)


def whole(table: type[Base], *but: str) -> Select[Any]:
    """All columns of a table, apart from the database's own and those named."""
    return select(*(column for column in table.__table__.c if column.name not in ("inserted_at", *but)))


def accounts(site: str) -> Select[Any]:
    """The accounts that have saved the site."""
    return select(Settings.account).where(Settings.site == site).order_by(Settings.account)


def settings_of(site: str, account: str | None = None) -> Select[Any]:
    """What is in force for the site, of one account or of all."""
    query = whole(Settings).where(Settings.site == site).order_by(Settings.account)
    return query if account is None else query.where(Settings.account == account)


def settings_by_fact(fact: str) -> Select[Any]:
    """The settings that one `settings-saved` brought in, as long as they are in force."""
    return whole(Settings).where(Settings.fact == fact)


def check(job: UUID) -> Select[Any]:
    """The address check of a job (E07)."""
    return whole(AddressCheck).where(AddressCheck.job == job)


def checks_of(site: str) -> Select[Any]:
    """The address checks of a site, newest first."""
    return whole(AddressCheck).where(AddressCheck.site == site).order_by(AddressCheck.at.desc(), AddressCheck.id)


def verification(job: UUID) -> Select[Any]:
    """How a verification ended."""
    return whole(Verification).where(Verification.job == job)


def verifications_of(site: str) -> Select[Any]:
    """Everything about proofs of a site, newest first."""
    return whole(Verification).where(Verification.site == site).order_by(Verification.at.desc(), Verification.id)


def suspension(fact: str) -> Select[Any]:
    """One suspension or its end, by the fact's id."""
    return whole(Suspension).where(Suspension.id == fact)


def suspensions_of(site: str) -> Select[Any]:
    """Suspensions and their ends, newest first; the first row says which holds (E25)."""
    return whole(Suspension).where(Suspension.site == site).order_by(Suspension.at.desc(), Suspension.id)


def crawl(job: UUID) -> Select[Any]:
    """The audit row (E23)."""
    return whole(Crawl).where(Crawl.crawl == job)


def crawls_of(site: str, most: int = 20) -> Select[Any]:
    """The audit rows of a site, newest first."""
    newest = func.coalesce(Crawl.requested_at, Crawl.terminal_at).desc()
    return whole(Crawl).where(Crawl.site == site).order_by(newest, Crawl.crawl).limit(most)


def progress(job: UUID) -> Select[Any]:
    """How far a crawl is: pages stored, requests recorded, the newest request's end."""
    pages = select(func.count()).where(Page.crawl == job, Page.pairs_only.is_(False)).scalar_subquery()
    unchanged = select(func.count()).where(Sighting.crawl == job).scalar_subquery()
    return select(
        (pages + unchanged).label("pages"),
        func.count().filter(Fetch.sent).label("requests"),
        func.max(Fetch.ended_at).label("last"),
    ).where(Fetch.job == job)


def requests_of(job: UUID) -> Select[Any]:
    """Every request of a job with its URL, unless that was erased."""
    query = whole(Fetch, "id", "job", "site", "url_id").add_columns(Url.url)
    return query.outerjoin(Url, Url.url_id == Fetch.url_id).where(Fetch.job == job).order_by(Fetch.number, Fetch.id)


def newest_crawl_with_pages(site: str) -> Select[Any]:
    """The crawl that was the last to read a page that is held of the site, or to find one unchanged (W09)."""
    read = select(Page.crawl.label("crawl"), Page.fetched_at.label("at")).where(Page.site == site)
    seen = select(Sighting.crawl, Sighting.at).join(Page, Page.page_id == Sighting.page_id).where(Page.site == site)
    both = union_all(read, seen).subquery()
    return select(both.c.crawl).order_by(both.c.at.desc()).limit(1)


def _has(job: UUID) -> ColumnElement[bool]:
    """Whether a page is a crawl's: read by it, or read before and found unchanged by it (W09)."""
    return (Page.crawl == job) | Page.page_id.in_(select(Sighting.page_id).where(Sighting.crawl == job))


def pages_of(job: UUID) -> Select[Any]:
    """The pages that a crawl kept, in the order in which they were read, with the number of their pairs (E18).

    `seen_at` is when the page was last read or found unchanged, by whichever crawl.
    """
    pairs = select(func.count()).where(Pair.page_id == Page.page_id).scalar_subquery()
    seen = select(func.max(Sighting.at)).where(Sighting.page_id == Page.page_id).scalar_subquery()
    query = whole(Page, "links", "fingerprint").add_columns(
        pairs.label("pairs"), func.length(Page.text).label("characters"),
        func.coalesce(seen, Page.fetched_at).label("seen_at"),
    )  # fmt: skip
    return query.where(_has(job), Page.pairs_only.is_(False)).order_by(Page.fetched_at, Page.url)


def pairs_of(job: UUID) -> Select[Any]:
    """The question-answer pairs of a crawl (E28)."""
    query = whole(Pair, "page_id", "position").add_columns(Page.url).join(Page, Page.page_id == Pair.page_id)
    return query.where(_has(job)).order_by(Page.fetched_at, Page.url, Pair.position)


def verification_fact(*facts: str) -> Select[Any]:
    """A proof that was attested, withdrawn or refused, by the fact's id."""
    return whole(Verification).where(Verification.id.in_(facts))


def verification_facts(facts: Sequence[str]) -> Select[Any]:
    """Which of these facts are recorded."""
    return select(Verification.id).where(Verification.id.in_(facts))


def confirmation(fact: str) -> Select[Any]:
    """A customer's word, by the fact's id (C01)."""
    return whole(Confirmation).where(Confirmation.id == fact)


def decision(job: UUID) -> Select[Any]:
    """What the gate said to a request."""
    return whole(Crawl).where(Crawl.crawl == job, Crawl.decided_at.is_not(None))


def sentence(refusal: str) -> str:
    """The gate's refusal in words."""
    return gate.SENTENCES.get(cast("Refusal", refusal), f"Refused: {refusal}.")


def listing(job: UUID) -> Select[Any]:
    """The pages that a listing found (E22)."""
    return whole(Listing).where(Listing.job == job)


def stop(name: str) -> Select[Any]:
    """A stop request by its name (E25, W13)."""
    return whole(StopRequest).where(StopRequest.stop_request == name)


def stops(*, open_only: bool) -> Select[Any]:
    """Stop requests, the most urgent first."""
    query = whole(StopRequest).order_by(StopRequest.due_at, StopRequest.stop_request)
    return query.where(StopRequest.done_at.is_(None) | StopRequest.confirmed_at.is_(None)) if open_only else query


def crawls_between(site: str, begin: datetime, end: datetime) -> Select[Any]:
    """The audit rows that were open at some time of a window, refused ones too, in order (E24)."""
    first = func.coalesce(Crawl.requested_at, Crawl.decided_at, Crawl.terminal_at)
    open_then = (first < end) & (Crawl.terminal_at.is_(None) | (Crawl.terminal_at >= begin))
    # a request that was on the wire when its crawl was stopped comes back after its end
    late = Crawl.crawl.in_(select(Fetch.job).where(*_between(site, begin, end)))
    return whole(Crawl).where(Crawl.site == site, open_then | late).order_by(first, Crawl.crawl)


def fetches_between(site: str, begin: datetime, end: datetime, *, outside: bool = False) -> Select[Any]:
    """How many requests were on the wire in a window, by job and kind; `outside`: of what is no crawl (E24)."""
    first, last = func.min(Fetch.started_at).label("first"), func.max(Fetch.ended_at).label("last")
    columns: tuple[Any, ...] = (Fetch.job, Fetch.kind, func.count().label("requests"), first, last)
    query = (
        select(*columns)
        .where(*_between(site, begin, end))
        .group_by(Fetch.job, Fetch.kind)
        .order_by("first", Fetch.kind)
    )
    return query.where(Fetch.job.not_in(select(Crawl.crawl).where(Crawl.site == site))) if outside else query


def _between(site: str, begin: datetime, end: datetime) -> tuple[ColumnElement[bool], ...]:
    return (Fetch.site == site, Fetch.sent.is_(True), Fetch.started_at < end, Fetch.ended_at >= begin)


def proof_behind(crawl: Mapping[str, Any]) -> Select[Any]:
    """The fact that put the proof on file that an audit row names (E23)."""
    names = ("site", "account", "verified_at", "proof")
    site, account, at, method = (crawl[name] for name in names)
    query = whole(Verification).where(Verification.site == site, Verification.account == account)
    return query.where(Verification.kind == "verified", Verification.at == at, Verification.method == method)


def listed_then(site: str, at: datetime) -> Select[Any]:
    """What staff had last said of a site and the operator's list when the gate decided (W01)."""
    said = Suspension.kind.in_(("listed", "unlisted")), Suspension.at <= at
    return whole(Suspension).where(Suspension.site == site, *said).order_by(Suspension.at.desc(), Suspension.id)


def removed_by(job: UUID) -> Select[Any]:
    """The pages that were removed at the end of a crawl, the last in priority first (C06)."""
    other = select(Page.page_id).where(Page.site == Removal.site, Page.url_id == Removal.url_id).exists()
    query = (
        whole(Removal, "crawl", "site")
        .add_columns(Url.url, other.label("newer_copy"))
        .outerjoin(Url, Url.url_id == Removal.url_id)
    )
    return query.where(Removal.crawl == job).order_by(Removal.rank.desc(), Removal.page_id)


def erasure(name: UUID) -> Select[Any]:
    """One row of the erasure ledger (E25)."""
    return whole(Erasure).where(Erasure.id == name)


def held_of(site: str) -> Select[Any]:
    """How much content is held of a site, in one row."""
    pairs = select(func.count()).select_from(Pair).join(Page, Page.page_id == Pair.page_id).where(Page.site == site)
    tables: dict[str, type[Page | Url | Listing]] = {"pages": Page, "urls": Url, "listings": Listing}
    counts = [
        select(func.count()).select_from(table).where(table.site == site).scalar_subquery().label(name)
        for name, table in tables.items()
    ]
    return select(*counts, pairs.scalar_subquery().label("pairs"))
