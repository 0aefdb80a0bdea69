"""Facts into PostgreSQL: the same rows whatever is repeated, however the facts are ordered (I12, F30, F31).

`project` does not commit: the batch is one transaction of the caller's, and the offsets come after its commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import Insert, insert

from agents.removing import remove_above
from agents.rows import CONTENT, DECISIONS, ENDS, ERASURES, PAGES, PAIRS, TARGETS, Row, Rule, Target, rows
from models import tables
from models.events import Fact

Batch = dict[Target, dict[tuple[Any, ...], Row]]


def project(connection: Connection, facts: Iterable[Fact]) -> int:
    """Write the rows of all `facts`. Gives the number of rows that were written or changed.

    Raises ValueError or SQLAlchemy's DataError when a value fits no column; the caller rolls back.
    """
    batch = gather(facts)
    if any(row["remove_above"] is not None for row in batch.get(ENDS, {}).values()):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": tables.ERASURE_LOCK})
    # First: its trigger waits for the writers of content, and this transaction must not be one of them yet.
    erasures = batch.get(ERASURES)
    written = _write(connection, ERASURES, erasures) if erasures else 0
    _drop_erased(connection, batch)
    written += sum(_write(connection, target, batch[target]) for target in TARGETS if batch.get(target))
    touched = {row["site"] for target in (DECISIONS, ENDS, PAGES) for row in batch.get(target, {}).values()}
    return written + (remove_above(connection, touched) if touched else 0)


def gather(facts: Iterable[Fact]) -> Batch:
    """The rows by target and key, each key once: two equal keys in one upsert fail the whole batch (measured)."""
    found: Batch = {}
    for fact in facts:
        for target, row in rows(fact):
            kept = found.setdefault(target, {})
            key = tuple(row[name] for name in target.keys)
            kept[key] = _merge(target, kept[key], row) if key in kept else row
    return found


def _merge(target: Target, first: Row, second: Row) -> Row:
    """What the database would make of the two rows, one after the other."""
    if target.rule is Rule.WIDEN:
        widest = {
            "first_at": min(first["first_at"], second["first_at"]),
            "last_at": max(first["last_at"], second["last_at"]),
        }
        return {**first, **widest}
    if target.rule is Rule.NEWEST:
        return max(first, second, key=lambda row: (row[target.mark], row["fact"]))
    if target.rule is Rule.LATEST:
        return max(first, second, key=lambda row: row[target.mark])
    return first


def _drop_erased(connection: Connection, batch: Batch) -> None:
    """Leave out content that the erasure ledger names (I13). The ledger cannot grow until the commit."""
    content = [row for target in CONTENT for row in batch.get(target, {}).values()]
    if not content:
        return
    connection.execute(text("SELECT pg_advisory_xact_lock_shared(:key)"), {"key": tables.ERASURE_LOCK})
    erased = _erased(connection, {row["site"] for row in content})
    for target, time in CONTENT.items():
        for key, row in list(batch.get(target, {}).items()):
            if row["site"] in erased and row[time] <= erased[row["site"]]:
                del batch[target][key]


def _erased(connection: Connection, sites: set[str]) -> dict[str, datetime]:
    """Up to when the content of each site was erased."""
    ledger = tables.Erasure
    query = select(ledger.site, func.max(ledger.erased_at)).where(ledger.site.in_(sites)).group_by(ledger.site)
    return {row[0]: row[1] for row in connection.execute(query)}


def _write(connection: Connection, target: Target, found: dict[tuple[Any, ...], Row]) -> int:
    """One upsert for all rows of a target, in the order of their keys (two sinks never deadlock: F27)."""
    ordered = [found[key] for key in sorted(found, key=lambda key: tuple(str(part) for part in key))]
    if target is PAGES:
        return _write_pages(connection, ordered)
    return _execute(connection, _upsert(target, ordered[0]), ordered)


def _execute(connection: Connection, statement: Insert, ordered: Sequence[Row]) -> int:
    """The number of rows that the statement really wrote."""
    key = next(iter(statement.table.primary_key))
    return len(connection.execute(statement.returning(key), ordered).all())


def _upsert(target: Target, sample: Row) -> Insert:
    table = _table(target.table)
    statement = insert(table)
    new, old = statement.excluded, table.c
    if target.rule is Rule.FIRST:
        return statement.on_conflict_do_nothing(index_elements=target.keys)
    if target.rule is Rule.WIDEN:
        return statement.on_conflict_do_update(
            index_elements=target.keys,
            set_={
                "first_at": func.least(old.first_at, new.first_at),
                "last_at": func.greatest(old.last_at, new.last_at),
            },
            where=(new.first_at < old.first_at) | (new.last_at > old.last_at),
        )
    mark = target.mark
    if target.rule is Rule.LATEST:
        return statement.on_conflict_do_update(
            index_elements=target.keys, set_={mark: new[mark]}, where=new[mark] > old[mark]
        )
    where: ColumnElement[bool] = old[mark].is_(None)
    if target.rule is Rule.NEWEST:
        where = tuple_(old[mark], old.fact) < tuple_(new[mark], new.fact)
    changed = {name: new[name] for name in sample if name not in (*target.keys, "site")}
    return statement.on_conflict_do_update(index_elements=target.keys, set_=changed, where=where)


def _write_pages(connection: Connection, ordered: Sequence[Row]) -> int:
    """Pages, and the pairs of those that were new: a zombie's late copy adds nothing (first write wins)."""
    pages = [{name: value for name, value in row.items() if name != PAIRS} for row in ordered]
    statement = _upsert(PAGES, pages[0]).returning(_table(tables.Page).c.page_id)
    new = set(connection.execute(statement, pages).scalars())
    found = [pair for row in ordered if row["page_id"] in new for pair in row[PAIRS]]
    if found:
        connection.execute(insert(_table(tables.Pair)), found)
    return len(new) + len(found)


def _table(model: type[tables.Base]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table
