"""`licet migrate`: bring the database to the schema of this version."""

from __future__ import annotations

from pathlib import Path

import click

from commands.options import config_option, in_one_sentence, settings_for
from migrations import upgrade
from models.database import make_engine


@click.command()
@config_option
@in_one_sentence
def migrate(config: Path | None) -> None:
    """Bring the database to the schema of this version; harmless when it is there already."""
    engine = make_engine(settings_for(config).require_database(), "licet-migrate")
    upgrade(engine)
    engine.dispose()
