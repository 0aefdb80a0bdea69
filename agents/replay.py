"""`licet replay`: the topics of facts, read from their beginnings into a database, by the sink's own code (I12).

It is a reader alone: no group, no commit, no record of its own, so that an auditor disturbs nobody. What a topic no
longer has cannot come back: texts are kept for a few days there (topics.yaml), the facts of the audit for years.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from sqlalchemy import Engine, select

from agents.dead_letters import DeadLetter
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
"""Seconds without a record, after which the broker is taken for gone: its client itself would wait for ever."""
Say = Callable[[str], None]
Offsets = Mapping[TopicPartition, int]


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
        raise ReplayError(f"Cannot replay: {problem}.")
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


async def _replay(bootstrap: str, engine: Engine, say: Say) -> Replayed:
    places = [TopicPartition(name, n) for name in READERS for n in range(topics.by_name()[name].partitions)]
    consumer = _consumer(bootstrap)
    try:
        await consumer.start()
        consumer.assign(places)
        begins, ends = await consumer.beginning_offsets(places), await consumer.end_offsets(places)
        for place, begin in begins.items():
            consumer.seek(place, begin)
        return await _read(consumer, engine, ends, _Progress(say, begins, ends))
    except KafkaError as error:
        raise ReplayError(f"The broker at {bootstrap} does not answer as it should: {error!r}.") from None
    finally:
        await consumer.stop()


def _consumer(bootstrap: str) -> AIOKafkaConsumer:
    """Where retention overtakes it, it goes on with the earliest that is left; the default is to leap to the end."""
    return AIOKafkaConsumer(
        bootstrap_servers=bootstrap,
        enable_auto_commit=False,
        max_partition_fetch_bytes=4 << 20,
        auto_offset_reset="earliest",
    )


async def _read(consumer: AIOKafkaConsumer, engine: Engine, ends: Offsets, progress: _Progress) -> Replayed:
    """Up to `ends`: what comes later is another replay's."""
    done, heard = Replayed(), time.monotonic()
    behind = [place for place, end in ends.items() if await consumer.position(place) < end]
    while behind:
        got = await consumer.getmany(*behind, timeout_ms=1000, max_records=BATCH)
        records = [_record(one) for place, batch in got.items() for one in batch if one.offset < ends[place]]
        if records:
            stored = await asyncio.to_thread(_store, engine, records)
            done.records, done.rows = done.records + len(records), done.rows + stored.rows
            done.letters += [replace(letter, raw=None) for letter in stored.letters]  # its name is enough
        behind = [place for place in behind if await consumer.position(place) < ends[place]]
        progress.say(done.records, last=not behind)
        if got:
            heard = time.monotonic()
        elif time.monotonic() - heard > PATIENCE:
            raise ReplayError(f"The broker has sent nothing for {PATIENCE:g} s. Run it again with --add.")
    return done


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

    def say(self, records: int, *, last: bool) -> None:
        """So many records are stored. Offsets that the broker has dropped make the whole an upper bound."""
        now = time.monotonic()
        if last or now - self._said >= NEWS:
            self._said = now
            speed = records / max(now - self._began, 0.001)
            self._say(f"{records:,} of {self._all:,} records, {speed:,.0f} a second")
