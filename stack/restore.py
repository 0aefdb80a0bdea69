"""The sites' memory put back from PostgreSQL (A03): after the loss of the broker's data, or on a broker that is new.

A worker makes no request in a partition whose memory does not say that it is whole. So the messages of all sites go
first, and each partition's marker goes last: what a site may do is known before it does anything. Where nothing was
lost, workers ignore these messages; sending them twice, or to a running deployment, does no harm.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, get_args

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError
from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from crawler.rules import gate
from crawler.rules.checks import NotMade
from models import topics
from models.database import make_engine
from models.ids import marker_of, partition_of
from models.mailbox import RESTORE, Message, OpenCrawl, Origin, RestoreSite
from models.state import Account, Confirmation, Proof, Suspension, Validator
from models.tables import AddressCheck, Crawl, Fetch, Page, Pair, Pause, Settings, Sighting, Verification
from models.tables import Confirmation as ConfirmationRow
from models.tables import Suspension as SuspensionRow
from stack import revisits
from stack.errors import StackError

MAILBOX = "site-mailbox"
FACTS = "site-events"
SINK_GROUP = "licet-sink"
STARTS = {"suspended": "suspended", "blocked": "blocked", "listed": "listed"}
ENDS = {"resumed": "suspended", "unblocked": "blocked", "unlisted": "listed"}


@dataclass
class Known:
    """What the database knows of one site."""

    accounts: defaultdict[str, Account] = field(default_factory=lambda: defaultdict(Account))
    decided: dict[str, Suspension | None] = field(default_factory=dict)
    starts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    checks: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    pause_until: float = 0.0
    strikes: int = 0
    open: dict[str, OpenCrawl] = field(default_factory=dict)
    validators: list[Validator] = field(default_factory=list)


def known(engine: Engine, now: float) -> dict[str, Known]:
    """Site -> what is known of it: authority, settings, staff's decisions, today's starts, pauses."""
    sites: defaultdict[str, Known] = defaultdict(Known)
    with engine.connect() as connection:
        for read in (_settings, _proofs, _confirmations, _decisions, _open_crawls):
            read(connection, sites)
        _starts(connection, sites, now)
        _checks(connection, sites, now)
        _pauses(connection, sites, now)
        for site, validators in revisits.known(connection).items():
            if not any(crawl.proof_absent for crawl in sites[site].open.values()):  # C06: its pages are about to go
                sites[site].validators = validators
    return dict(sites)


def _settings(connection: Connection, sites: defaultdict[str, Known]) -> None:
    for row in _rows(connection, Settings, Settings.saved_at):
        scope = None if row["scope"] is None else tuple(row["scope"])
        sites[row["site"]].accounts[row["account"]] = Account(
            host=row["host"], start=row["start"], note=row["note"], scope=scope, schedule=row["schedule"],
            saved_at=row["saved_at"].timestamp(),
        )  # fmt: skip


def _proofs(connection: Connection, sites: defaultdict[str, Known]) -> None:
    """The history of each account's proofs, told again: E13 and C06 decide what is left at its end."""
    for row in _rows(connection, Verification, Verification.at):
        accounts = sites[row["site"]].accounts
        accounts[row["account"]] = after(accounts[row["account"]], row)


def after(held: Account, row: Mapping[str, Any]) -> Account:
    """The account after one row of `verifications`: what a history, told from its beginning, leaves on file."""
    at = row["at"].timestamp()
    if row["kind"] == "withdrawn" or (row["kind"] == "rechecked" and row["result"] == "absent"):
        return held.model_copy(update={"proof": None, "lost_at": at})
    if row["kind"] != "verified":
        return held
    new = Proof(
        method=row["method"], host=row["host"], at=at, weaker=bool(row["weaker"]), by=row["by"],
        kept_at=row["kept_at"], path=row["path"] or "", token=row["token"] or "",
    )  # fmt: skip
    place = {"host": held.host or new.host, "start": held.start or f"https://{new.host}/"}
    return held.model_copy(update={"proof": gate.better(held.proof, new), **place})


def _confirmations(connection: Connection, sites: defaultdict[str, Known]) -> None:
    for row in _rows(connection, ConfirmationRow, ConfirmationRow.at):
        accounts = sites[row["site"]].accounts
        word = Confirmation(at=row["at"].timestamp(), by=row["by"])
        accounts[row["account"]] = accounts[row["account"]].model_copy(update={"confirmed": word})


def _decisions(connection: Connection, sites: defaultdict[str, Known]) -> None:
    for row in _rows(connection, SuspensionRow, SuspensionRow.at):
        decided = sites[row["site"]].decided
        if row["kind"] in STARTS:
            said = Suspension(at=row["at"].timestamp(), by=row["by"], reason=row["reason"])
            decided[STARTS[row["kind"]]] = said
        else:
            decided[ENDS[row["kind"]]] = None


def _open_crawls(connection: Connection, sites: defaultdict[str, Known]) -> None:
    """A04: what was accepted and has no end yet, with what is held of it."""
    absent = select(Verification.id).where(
        Verification.job == Crawl.crawl, Verification.kind == "rechecked", Verification.result == "absent"
    )
    columns = (Crawl.site, Crawl.crawl, Crawl.plan, absent.exists())
    query = select(*columns).where(Crawl.accepted.is_(True), Crawl.terminal_kind.is_(None))
    for site, crawl, plan, proof_absent in connection.execute(query.order_by(Crawl.requested_at)).all():
        pages = select(func.count()).where(Page.crawl == crawl, Page.pairs_only.is_(False))
        unchanged = select(func.count()).where(Sighting.crawl == crawl)
        pairs = (
            select(func.count()).select_from(Pair).join(Page, Page.page_id == Pair.page_id).where(Page.crawl == crawl)
        )
        asked = select(Fetch.kind, func.count()).where(Fetch.job == crawl, Fetch.sent).group_by(Fetch.kind)
        sites[site].open[str(crawl)] = OpenCrawl(
            crawl=str(crawl),
            pages=connection.execute(pages).scalar_one() + connection.execute(unchanged).scalar_one(),
            pairs=connection.execute(pairs).scalar_one(),
            requests={kind: count for kind, count in connection.execute(asked).all()},  # noqa: C416 - rows, not pairs
            plan=plan or "", proof_absent=proof_absent,
        )  # fmt: skip


def _starts(connection: Connection, sites: defaultdict[str, Known], now: float) -> None:
    """E21: what counts towards today; yesterday's too, for an event that was asked before midnight."""
    since = datetime.fromtimestamp(now - 86_400, UTC)
    query = select(Crawl.site, Crawl.crawl, Crawl.requested_at).where(
        Crawl.accepted.is_(True), Crawl.requester != "staff", Crawl.requested_at >= since,
        (Crawl.kind == "crawl") | Crawl.kind.is_(None),
    )  # fmt: skip
    for site, crawl, at in connection.execute(query.order_by(Crawl.requested_at)).all():
        if at is not None:
            sites[site].starts[gate.day_of(at.timestamp())].append(str(crawl))


def _checks(connection: Connection, sites: defaultdict[str, Known], now: float) -> None:
    """E07: the address checks of today and yesterday that were let through."""
    since = datetime.fromtimestamp(now - 86_400, UTC)
    made = AddressCheck.at >= since, AddressCheck.outcome.not_in(get_args(NotMade))
    query = select(AddressCheck.site, AddressCheck.job, AddressCheck.at).where(*made)
    for site, job, at in connection.execute(query.order_by(AddressCheck.at)).all():
        sites[site].checks[gate.day_of(at.timestamp())].append(str(job))


def _pauses(connection: Connection, sites: defaultdict[str, Known], now: float) -> None:
    for row in _rows(connection, Pause, Pause.paused_at):
        if row["until"].timestamp() > now:
            sites[row["site"]].pause_until = row["until"].timestamp()
            sites[row["site"]].strikes = row["strikes"]


def _rows(connection: Connection, table: Any, order: Any) -> Iterable[Any]:
    return connection.execute(select(table.__table__).order_by(order)).mappings().all()


def messages(sites: dict[str, Known], partitions: int, now: float) -> list[Message]:
    """The messages, markers last. One for each account, since a long scope fills a message by itself."""
    found = []
    for site, memory in sorted(sites.items()):
        starts, checks = ({day: tuple(ids) for day, ids in days.items()} for days in (memory.starts, memory.checks))
        whole = RestoreSite(
            starts=starts, checks=checks, pause_until=memory.pause_until, strikes=memory.strikes,
            suspended=memory.decided.get("suspended"), blocked=memory.decided.get("blocked"),
            listed=memory.decided.get("listed"), open=tuple(memory.open.values()),
        )  # fmt: skip
        found.append(_message(site, whole, now))
        found += [_message(site, RestoreSite(accounts={name: a}), now) for name, a in memory.accounts.items()]
        found += [_message(site, RestoreSite(validators=some), now) for some in revisits.portions(memory.validators)]
    markers = [marker_of(partition, partitions) for partition in range(partitions)]
    return found + [_message(marker, RestoreSite(marker=True), now) for marker in markers]


def _message(site: str, said: RestoreSite, now: float) -> Message:
    return Message(
        id=str(uuid.uuid4()), type=RESTORE, site=site, host=site, start=f"https://{site}/",
        origin=Origin(topic="licet restore", partition=0, offset=0), said_at=now, data=said.model_dump(mode="json"),
    )  # fmt: skip


async def restore(bootstrap: str, database_url: str) -> int:
    """Send every site its memory, and every partition its marker. Gives the number of sites."""
    now, partitions = time.time(), topics.by_name()[MAILBOX].partitions
    sites = await asyncio.to_thread(_read, database_url, now)
    # one record a batch: Tansu reports a wrong end of the topic after a larger one
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", max_batch_size=1)
    try:
        await producer.start()
        for message in messages(sites, partitions, now):
            where = partition_of(message.site, partitions)
            value = message.model_dump_json().encode()
            await producer.send_and_wait(MAILBOX, value, key=message.site.encode(), partition=where)
    finally:
        await producer.stop()
    return len(sites)


def _read(database_url: str, now: float) -> dict[str, Known]:
    engine = make_engine(database_url, "licet-restore", read_only=True)
    try:
        return known(engine, now)
    except SQLAlchemyError as error:
        why = type(getattr(error, "orig", None) or error).__name__
        raise StackError(f"The database cannot be asked ({why}): is it running, and at this version?") from None
    finally:
        engine.dispose()


async def unread_facts(bootstrap: str) -> int:
    """Facts on the broker that the database does not have yet: with them, what it knows would be too old."""
    partitions = topics.by_name()[FACTS].partitions
    wanted = [TopicPartition(FACTS, partition) for partition in range(partitions)]
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=SINK_GROUP, enable_auto_commit=False)
    try:
        await consumer.start()
        consumer.assign(wanted)
        ends = await consumer.end_offsets(wanted)
        begins = await consumer.beginning_offsets(wanted)
        unread = 0
        for tp in wanted:
            unread += max(0, ends[tp] - max(await consumer.committed(tp) or 0, begins[tp]))
        return unread
    finally:
        await consumer.stop()


async def restore_when_up_to_date(bootstrap: str, database_url: str) -> int:
    """As `restore`; a `StackError` while the database is behind the facts, or the broker does not answer."""
    try:
        if unread := await unread_facts(bootstrap):
            raise StackError(
                f"The database has yet to read {unread} facts. Run a sink until it has (`licet sink`), then restore."
            )
        return await restore(bootstrap, database_url)
    except KafkaError as error:
        why = type(error).__name__
        raise StackError(
            f"No broker answers at {bootstrap} ({why}): is it running? Restoring again is safe."
        ) from None
