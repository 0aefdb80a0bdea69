"""What a command needs to ask something of a running stack: the broker to speak to, the projection to look at.

A command never speaks to a worker. It publishes an event, as any console would, and watches the rows that come of it.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import orjson
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError
from pydantic import ValidationError
from rich.console import Console
from sqlalchemy import Engine, Select
from sqlalchemy.exc import ProgrammingError, SQLAlchemyError

from commands.options import EXIT_CONFIGURATION, Sentence, settings_for
from crawler.rules import sentences
from crawler.rules.proofs import refuse_platform
from crawler.rules.urls import UrlRefused, host_from_address, site_key
from models import intake
from models.allowed import allowed
from models.database import make_engine
from models.profile import Profile
from models.settings import Settings
from stack.errors import StackError

T = TypeVar("T")
Row = dict[str, Any]

EXIT_NO_ANSWER = 4
"""Nothing came in the time given: not a refusal, and not a result."""
BEAT = 0.2
ANSWER = 60.0
"""Seconds for a running stack to say something; it says it in well under one."""
BROKER = 15.0


@dataclass(frozen=True, slots=True)
class Place:
    """The host that was named, and the site that it belongs to (E06)."""

    host: str
    site: str


def place_of(address: str, *, staff: bool = False) -> Place:
    """What an address names, or a sentence that says what is wrong with it. Staff may name a public suffix (E11)."""
    try:
        host = host_from_address(address, allow_public_suffix=staff)
    except UrlRefused as error:
        raise _no_address(address, error) from None
    return Place(host, site_key(host))


def own_site(place: Place, profile: Profile) -> None:
    """A sentence where many people share the place and the bot can prove nothing less than all of it (E05)."""
    try:
        refuse_platform(place.host, profile)
    except UrlRefused as error:
        raise _no_address(place.host, error) from None


def _no_address(address: str, error: UrlRefused) -> Sentence:
    said = f"{address[:200]!r} is no address of a website: {sentences.ADDRESS[error.reason]}"
    return Sentence(said, EXIT_CONFIGURATION)


@dataclass(frozen=True)
class Desk:
    """The connections of one command. Progress goes to standard error, results to standard output."""

    settings: Settings
    engine: Engine
    progress: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))

    def say(self, topic: str, kind: str, **data: Any) -> str:
        """Publish an event and wait until the broker has it. Gives its id, from which the job's id follows."""
        _check(topic, kind, data)
        event = str(uuid.uuid4())
        at = datetime.now(UTC).isoformat()
        envelope = {"id": event, "type": kind, "version": 1, "occurred_at": at, "producer": "licet", "data": data}
        asyncio.run(publish_all(self.settings, topic, [(place_of(data["address"], staff=True).site, envelope)]))
        return event

    def rows(self, query: Select[Any]) -> list[Row]:
        """What the projection holds, or a sentence that says why it cannot be asked."""
        try:
            with self.engine.connect() as connection:
                return [dict(row) for row in connection.execute(query).mappings()]
        except ProgrammingError:
            raise StackError("The database has no tables of this version: run `licet migrate`.") from None
        except SQLAlchemyError as error:
            raise StackError(f"The database cannot be asked ({type(error).__name__}): is it running?") from None

    def row(self, query: Select[Any]) -> Row | None:
        """The first row."""
        return next(iter(self.rows(query)), None)

    def wait(self, look: Callable[[], T | None], text: Callable[[], str], seconds: float = ANSWER) -> T:
        """Look until there is something; `text` says meanwhile how far it is."""
        deadline = time.monotonic() + seconds
        with self.progress.status("") as status:
            while True:
                if (found := look()) is not None:
                    return found
                if time.monotonic() > deadline:
                    raise Sentence(
                        f"No answer in {seconds:.0f} s. What was asked is on the broker and will be done once a"
                        " worker and a sink run: `licet up` starts both.",
                        EXIT_NO_ANSWER,
                    )
                status.update(text())
                time.sleep(BEAT)

    def tell(self, line: str) -> None:
        """A line for whoever watches."""
        self.progress.print(line, markup=False)


def _check(topic: str, kind: str, data: dict[str, Any]) -> None:
    """What intake would set aside is a mistake of whoever typed it, and nothing to wait for."""
    try:
        intake.type_of_topic[topic][kind].model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        name = {"from_whom": "from", "scope": "page"}.get(name, name.replace("_", "-"))
        given = repr(first["input"])[:100]
        raise Sentence(f"--{name} is {given}: allowed is {allowed(first)}.", EXIT_CONFIGURATION) from None


@contextmanager
def desk(config: Path | None) -> Iterator[Desk]:
    """The connections, closed afterwards. The database is only read."""
    settings = settings_for(config)
    engine = make_engine(settings.require_database(), "licet-command", read_only=True)
    try:
        yield Desk(settings, engine)
    finally:
        engine.dispose()


async def publish_all(settings: Settings, topic: str, events: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """Publish events, each with its site, in order; on a failure the sentence says how far it came.

    The site is the record's key: two things that are said of one site in a row are heard in that order, and on
    partitions of their own `start-crawl` overtook `list-site` (seen).
    """
    servers = settings.require_kafka()
    # one record a batch: Tansu reports a wrong end of the topic after a larger one
    producer = AIOKafkaProducer(bootstrap_servers=servers, acks="all", max_batch_size=1)
    sent = 0
    try:
        async with asyncio.timeout(BROKER):
            await producer.start()
        for site, event in events:
            async with asyncio.timeout(BROKER):
                await producer.send_and_wait(topic, orjson.dumps(event), key=site.encode())
            sent += 1
    except (KafkaError, TimeoutError) as error:
        why = f"{servers} ({type(error).__name__})"
        if sent:
            raise StackError(f"{sent} of {len(events)} events were taken by {why}; say the same again.") from None
        raise StackError(f"No broker takes events at {why}: start a stack with `licet up`.") from None
    finally:
        await producer.stop()
