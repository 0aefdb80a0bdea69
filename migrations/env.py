"""Alembic's entry: the connection that `migrations.upgrade` hands in, or LICET_DATABASE_URL."""

from alembic import context
from sqlalchemy import Connection

from models.tables import Base


def run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_server_default=True)
    with context.begin_transaction():
        context.run_migrations()


if (given := context.config.attributes.get("connection")) is not None:
    run(given)
else:
    from models.database import make_engine
    from models.settings import load

    with make_engine(load().require_database(), "licet-alembic").begin() as opened:
        run(opened)
