"""A fresh, migrated database for each test."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

import migrations
from models.database import make_engine
from models.settings import Settings
from stack import topics_admin
from stack.kafka import Kafka
from stack.postgres import Postgres
from stack.tansu import Tansu

_numbers = itertools.count()


@pytest.fixture(scope="session")
def template(postgres: Postgres) -> str:
    engine = make_engine(postgres.create_database("migrated"), "template")
    migrations.upgrade(engine)
    engine.dispose()
    return "migrated"


@pytest.fixture
def database_url(postgres: Postgres, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    admin = create_engine(postgres.url("postgres"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        yield postgres.url(name)
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    found = make_engine(database_url, "test")
    yield found
    found.dispose()


@pytest.fixture
async def settings(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> AsyncIterator[Settings]:
    """A fresh broker for each test, since the sink's topics and group have their one name."""
    server = (
        Kafka(tmp_path / "broker") if getattr(request, "param", "tansu") == "kafka" else Tansu(tmp_path / "broker")
    )
    async with server:
        await topics_admin.apply(server.bootstrap)
        yield Settings(
            kafka=server.bootstrap, broker_kind=server.kind, database_url=database_url, data=tmp_path / "data",
            session_timeout=6, heartbeat_interval=1,
        )  # fmt: skip
