"""A database of this version for each test that needs one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

import migrations
from models.database import make_engine
from models.tables import Base
from stack.postgres import Postgres


@pytest.fixture(scope="module")
def migrated(postgres: Postgres) -> Iterator[Engine]:
    found = make_engine(postgres.create_database(f"authority_{uuid.uuid4().hex[:8]}"), "tests")
    migrations.upgrade(found)
    yield found
    found.dispose()


@pytest.fixture
def engine(migrated: Engine) -> Engine:
    """Empty tables; the triggers that forbid it are for everybody else."""
    with migrated.begin() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(text(f"DELETE FROM {table.name}"))
    return migrated
