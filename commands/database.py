"""`licet migrate`: bring the database to the schema of this version."""

from __future__ import annotations

from pathlib import Path

import click
from sqlalchemy.exc import OperationalError

from commands.options import in_one_sentence, settings_for
from migrations import upgrade
from models.database import make_engine
from stack.errors import StackError


@click.command()
@click.pass_obj
@in_one_sentence
def migrate(config: Path | None) -> None:
    """Bring the database to the schema of this version.

    Harmless when it is there already.
    """
    engine = make_engine(settings_for(config).require_database(), "licet-migrate")
    try:
        before, after = upgrade(engine)
    except OperationalError:
        raise StackError("The database does not answer: is it running, and is LICET_DATABASE_URL right?") from None
    finally:
        engine.dispose()
    changed = "already at" if before == after else f"brought from {before or 'nothing'} to"
    click.echo(f"The database is {changed} {after}.")
