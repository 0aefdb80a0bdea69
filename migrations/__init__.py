"""The database's schema, step by step. Packaged, so that a wheel can migrate without a checkout."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

FOLDER = Path(__file__).resolve().parent
LOCK = 0x4C494D47
"""Advisory lock: two programs that migrate at once wait for each other."""


def config(connection: Connection | None = None) -> Config:
    """Alembic's configuration for the packaged migrations, run on `connection`."""
    found = Config()
    # Alembic expands %(here)s and the like in its options: a percent sign in a path must be doubled
    found.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    found.set_main_option("path_separator", "os")
    found.attributes["connection"] = connection
    return found


@cache
def newest() -> str:
    """The revision that this version of Licet needs."""
    return str(ScriptDirectory.from_config(config()).get_current_head())


def current(connection: Connection) -> str | None:
    """The revision that the database is at; None when it is empty."""
    if connection.execute(text("SELECT to_regclass('alembic_version')")).scalar() is None:
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def upgrade(engine: Engine, revision: str = "head") -> tuple[str | None, str | None]:
    """Bring the database to `revision`, in one transaction. Gives the revisions before and after."""
    with engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
        before = current(connection)
        command.upgrade(config(connection), revision)
        return before, current(connection)
