"""The migrations make exactly what models/tables.py says, and can be undone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect

import migrations
from models.database import make_engine
from models.tables import Base
from stack.postgres import Postgres


def test_the_migrated_database_is_what_the_tables_say(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_up_twice_down_and_up_again(postgres: Postgres) -> None:
    engine = make_engine(postgres.create_database("updown"), "test")
    newest = migrations.newest()
    assert migrations.upgrade(engine) == (None, newest)
    assert migrations.upgrade(engine) == (newest, newest)
    with engine.begin() as connection:
        command.downgrade(migrations.config(connection), "base")
        assert inspect(connection).get_table_names() == ["alembic_version"]
    assert migrations.upgrade(engine) == (None, newest)
    engine.dispose()


def test_two_programs_that_migrate_at_once_wait_for_each_other(postgres: Postgres) -> None:
    url = postgres.create_database("atonce")
    engines = [make_engine(url, "test") for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        results = sorted(pool.map(migrations.upgrade, engines), key=repr)
    newest = migrations.newest()
    assert results == [(newest, newest), (newest, newest), (None, newest)]
    for engine in engines:
        engine.dispose()
