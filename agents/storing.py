"""One batch into PostgreSQL: all of it, or all but the records that are bad, or nothing at all.

Two kinds of trouble, never mixed up. A record that cannot be stored is bad for ever: it is found by halving the
batch, and set aside. A database that cannot store *now* is waited for: nothing is lost, nothing is set aside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import Engine
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError, StatementError

import migrations
from agents.dead_letters import DeadLetter
from agents.projection import project
from models.events import Fact, read_content, read_event

READERS = {"site-events": read_event, "page-fetched": read_content, "pages-listed": read_content}
"""The topics of the sink, and what reads their records."""

BAD_RECORD = ("22", "23", "54", "P0")
"""SQLSTATE classes that say that the values are wrong: data exception, constraint, a limit of the program (a text
key above 2.7 kB, JSON too deep), a trigger's refusal. psycopg2 calls some of 54 operational; they never heal."""

TOO_SLOW = "57014"
"""SQLSTATE of a statement past its time."""


class DatabaseAwayError(Exception):
    """PostgreSQL cannot store now; the text says why without any value of a row.

    `slow`: a statement ran out of time, so a smaller batch may fit.
    """

    def __init__(self, why: str, *, slow: bool = False) -> None:
        super().__init__(why)
        self.slow = slow


@dataclass(frozen=True, slots=True)
class Record:
    """One record of Kafka, as bytes."""

    topic: str
    partition: int
    offset: int
    at: float
    raw: bytes | None

    def letter(self, cause: str, message: str) -> DeadLetter:
        """The record, set aside."""
        return DeadLetter(self.topic, self.partition, self.offset, cause, message, self.raw, self.at)


@dataclass(frozen=True, slots=True)
class Stored:
    """What became of a batch."""

    rows: int
    letters: tuple[DeadLetter, ...] = ()

    def __add__(self, other: Stored) -> Stored:
        return Stored(self.rows + other.rows, self.letters + other.letters)


Read = tuple[Record, Fact]


def store(engine: Engine, records: Sequence[Record]) -> Stored:
    """Read and project all records; they are committed when this returns.

    Raises `DatabaseAwayError`: then the same batch is to be stored again, whatever of it was committed (F24).
    """
    good: list[Read] = []
    letters: list[DeadLetter] = []
    for record in records:
        found = read(record)
        if isinstance(found, DeadLetter):
            letters.append(found)
        else:
            good.append((record, found))
    return Stored(0, tuple(letters)) + _store(engine, good)


def read(record: Record) -> Fact | DeadLetter:
    """The fact in a record, or the letter that says why there is none."""
    if not record.raw:
        return record.letter("empty", "the value is empty or null")
    try:
        return READERS[record.topic](record.raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        cause = {"json_invalid": "json", "union_tag_invalid": "unsupported_type"}.get(first["type"], "schema")
        return record.letter(cause, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
    except (ValueError, RecursionError) as error:
        return record.letter("json", str(error))


def _store(engine: Engine, good: Sequence[Read]) -> Stored:
    """One transaction; when a value is wrong, one for each half, down to the record that is to blame."""
    if not good:
        return Stored(0)
    try:
        with engine.begin() as connection:
            return Stored(project(connection, [fact for _, fact in good]))
    except (SQLAlchemyError, ValueError, OverflowError) as error:
        blame = _is_about_values(error)
        if not blame:
            raise DatabaseAwayError(_why(error), slow=_state(error) == TOO_SLOW) from None
        if len(good) == 1:
            return Stored(0, (good[0][0].letter("unstorable", _why(error)),))
    half = len(good) // 2
    return _store(engine, good[:half]) + _store(engine, good[half:])


def _is_about_values(error: Exception) -> bool:
    """Whether the record is to blame, so that waiting cannot help. A missing table is not: migration is coming."""
    if isinstance(error, DBAPIError):
        state = _state(error)
        return state[:2] in BAD_RECORD if state else isinstance(error, DataError)
    origin = error.orig if isinstance(error, StatementError) else error
    return isinstance(origin, ValueError | OverflowError)


def _state(error: Exception) -> str:
    """SQLSTATE, or empty text when the server never spoke."""
    return getattr(getattr(error, "orig", None), "pgcode", None) or ""


def _why(error: Exception) -> str:
    """The class and the server's own short message; never the statement or its values (I18)."""
    origin = getattr(error, "orig", None) or error
    state = _state(error)
    said = getattr(getattr(origin, "diag", None), "message_primary", None)
    return ": ".join(part for part in (f"{type(origin).__name__} {state}".strip(), said) if part)


def schema_problem(engine: Engine) -> str:
    """Why the database cannot be used yet, as a sentence; empty text when it can."""
    try:
        with engine.connect() as connection:
            found = migrations.current(connection)
    except SQLAlchemyError as error:
        return f"the database is away ({_why(error)}): is it running, and is LICET_DATABASE_URL right?"
    wanted = migrations.newest()
    return "" if found == wanted else f"the database is at {found or 'nothing'}, not {wanted}: run `licet migrate`"
