"""What a database holds, in one line: for the start over an old folder."""

from __future__ import annotations

import asyncio

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import SQLAlchemyError


async def kept_rows(url: str) -> str:
    """The tables with their numbers of rows, such as `crawls 3, pages 60`; `nothing` when all are empty."""
    return await asyncio.to_thread(_count, url)


def _count(url: str) -> str:
    engine = create_engine(url, connect_args={"connect_timeout": 5})
    try:
        with engine.connect() as connection:
            quote = engine.dialect.identifier_preparer.quote
            names = sorted(set(inspect(connection).get_table_names()) - {"alembic_version"})
            counts = {
                name: connection.execute(text(f"SELECT count(*) FROM {quote(name)}")).scalar_one()  # noqa: S608 - a quoted name from the catalogue
                for name in names
            }
    except SQLAlchemyError:
        return "unknown, it does not answer"
    finally:
        engine.dispose()
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "nothing"
