"""`licet replay`: the topics of facts, read from their beginnings into a database, by the sink's own code (I12).

It is a reader alone: no group, no commit, no record of its own, so that an auditor disturbs nobody. What a topic no
longer has cannot come back: texts are kept for a few days there (topics.yaml), the facts of the audit for years.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka.errors import KafkaError
from faust.types import TP
from sqlalchemy import Engine, select

from agents.dead_letters import DeadLetter
from agents.partitions import Offsets, Partitions
from agents.storing import READERS, DatabaseAwayError, Record, Stored, schema_problem, store
from models import topics
from models.database import make_engine
from models.settings import Settings
from models.tables import Base

BATCH = 500
"""Records in one transaction."""
NEWS = 2.0
"""Seconds between two lines of progress."""
PATIENCE = 60.0
"""Seconds without a record, after which the broker is taken for gone."""
Say = Callable[[str], None]


class ReplayError(Exception):
    """It was not begun or cannot go on; the sentence says why, and what to do."""


@dataclass(slots=True)
class Replayed:
    """What became of a replay."""

    records: int = 0
    rows: int = 0
    """Written or changed."""
    letters: list[DeadLetter] = field(default_factory=list)
    """What no row could be made of."""


def run(settings: Settings, say: Say, *, add: bool = False) -> Replayed:
    """Replay everything into the database of `settings`; `add` allows one that has rows.

    Raises ReplayError, and `storing.DatabaseAwayError` when the database goes away on the way: what was stored by
    then stays, and a replay that is run again with `add` goes over it.
    """
    engine = make_engine(settings.require_database(), "licet-replay")
    try:
        _look(engine, add=add)
        return asyncio.run(_replay(settings.require_kafka(), engine, say))
    finally:
        engine.dispose()


def _look(engine: Engine, *, add: bool) -> None:
    if problem := schema_problem(engine):
        raise ReplayError(f"Cannot replay: {problem}")
    with engine.connect() as connection:
        used = [
            table.name
            for table in Base.metadata.sorted_tables
            if connection.execute(select(1).select_from(table).limit(1)).first()
        ]
    if used and not add:
        raise ReplayError(
            f"The database has rows already (in {', '.join(used)}). Name an empty one (LICET_DATABASE_URL), or say"
            " --add: what is missing is added, and nothing that is there is lost."
        )


async def _replay(brokers: str, engine: Engine, say: Say) -> Replayed:
    """Up to where the topics end now: what comes later is another replay's."""
    try:
        async with Partitions(brokers, [TP(name, n) for name in READERS for n in range(_partitions(name))]) as facts:
            return await _stored(facts, await facts.begins(), await facts.ends(), engine, say)
    except KafkaError as error:
        raise ReplayError(f"The broker at {brokers} does not answer as it should: {error!r}.") from None


async def _stored(facts: Partitions, begins: Offsets, ends: Offsets, engine: Engine, say: Say) -> Replayed:
    done, progress = Replayed(), _Progress(say, begins, ends)
    try:
        async for _, batch in facts.read(begins, ends, most=BATCH, patience=PATIENCE):
            stored = await asyncio.to_thread(_store, engine, [_record(one) for one in batch])
            done.records, done.rows = done.records + len(batch), done.rows + stored.rows
            done.letters += [replace(letter, raw=None) for letter in stored.letters]  # its name is enough
            progress.say(done.records)
    except TimeoutError:
        raise ReplayError(f"The broker has sent nothing for {PATIENCE:g} s. Run it again with --add.") from None
    progress.say(done.records, last=True)
    return done


def _partitions(topic: str) -> int:
    return topics.by_name()[topic].partitions


def _store(engine: Engine, records: Sequence[Record]) -> Stored:
    """As the sink does it: what takes the database too long at once is stored by halves."""
    try:
        return store(engine, records)
    except DatabaseAwayError as error:
        if not error.slow or len(records) == 1:
            raise
    half = len(records) // 2
    return _store(engine, records[:half]) + _store(engine, records[half:])


def _record(record: Any) -> Record:
    return Record(record.topic, record.partition, record.offset, record.timestamp / 1000, record.value)


class _Progress:
    """A line now and then: how far, and how fast."""

    def __init__(self, say: Say, begins: Offsets, ends: Offsets) -> None:
        self._say = say
        self._all = sum(end - begins[place] for place, end in ends.items())
        self._began = self._said = time.monotonic()

    def say(self, records: int, *, last: bool = False) -> None:
        """So many records are stored. Offsets that the broker has dropped make the whole an upper bound."""
        now = time.monotonic()
        if last or now - self._said >= NEWS:
            self._said = now
            speed = records / max(now - self._began, 0.001)
            self._say(f"{records:,} of {self._all:,} records, {speed:,.0f} a second")
