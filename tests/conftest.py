"""What the whole suite shares: one broker, one PostgreSQL, a fresh database for each module.

The broker is Apache Kafka where Java and Maven are, else the embedded Tansu; the header of the run says
which. LICET_TEST_BROKER=kafka or tansu decides it by hand.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from stack import jars
from stack.kafka import Kafka
from stack.postgres import Postgres
from stack.tansu import Tansu

T = TypeVar("T")
CHOICES = ("kafka", "tansu")


def complete(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from a synchronous fixture, on a loop of its own that the test's loop never meets."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


async def until(true: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition that no event tells of, such as the end of somebody else's process."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.02)


def chosen_broker() -> tuple[str, str]:
    """The kind of broker, and why."""
    asked = os.environ.get("LICET_TEST_BROKER")
    if asked:
        if asked not in CHOICES:
            raise pytest.UsageError(f"LICET_TEST_BROKER is {asked!r}; allowed is kafka or tansu.")
        return asked, "by LICET_TEST_BROKER"
    why = jars.missing()
    return ("tansu", f"not run on Apache Kafka: {why}") if why else ("kafka", "Java and Maven are here")


def pytest_report_header() -> str:
    """One line that says what the run stands on."""
    kind, why = chosen_broker()
    return f"broker: {f'Apache Kafka {jars.KAFKA}' if kind == 'kafka' else 'Tansu (embedded)'}, {why}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need Apache Kafka are skipped, with the reason, where it cannot be had."""
    if why := jars.missing():
        for item in items:
            if item.get_closest_marker("kafka"):
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka | Tansu]:
    """A running broker: `.bootstrap`, `.kind`. Make topics and groups with names of your own."""
    yield from _running(tmp_path_factory.mktemp("broker"))


def _running(folder: Path) -> Iterator[Kafka | Tansu]:
    server = Kafka(folder) if chosen_broker()[0] == "kafka" else Tansu(folder)
    complete(server.start())
    yield server
    complete(server.stop())


@pytest.fixture(scope="module")
def fresh_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kafka | Tansu]:
    """A broker of the module's own, empty: for tests that run real workers on the real topic names."""
    yield from _running(tmp_path_factory.mktemp("fresh-broker"))


@pytest.fixture
def kafka(broker: Kafka | Tansu) -> Kafka:
    """The shared broker for a test that only Apache Kafka can pass."""
    if not isinstance(broker, Kafka):
        pytest.skip("needs Apache Kafka, and this run is on Tansu")
    return broker


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """A running PostgreSQL, without safety against power cuts."""
    server = Postgres(tmp_path_factory.mktemp("postgres"), durable=False)
    complete(server.start())
    yield server
    complete(server.stop())


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> str:
    """The SQLAlchemy URL of an empty database, one for each test module."""
    return postgres.create_database(f"test_{secrets.token_hex(4)}")
