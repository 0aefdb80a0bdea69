"""A fresh, migrated database for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, text

import migrations
from models.database import make_engine
from stack.postgres import Postgres

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
