"""`licet worker`, `licet sink` and `licet replay`: one process each, as `app` builds them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from commands.options import in_one_sentence, settings_for


@click.command()
@click.pass_obj
@in_one_sentence
def worker(config: Path | None) -> None:
    """Run a worker: hear commands, make the requests."""
    import app  # noqa: PLC0415 - the builder of the processes, which builds the command line, too

    settings = settings_for(config)
    policy = app.policy_of(settings)
    sys.exit(app.run_worker(settings, policy, app.internet(policy)))


@click.command()
@click.pass_obj
@in_one_sentence
def sink(config: Path | None) -> None:
    """Run the sink: write facts and texts to PostgreSQL."""
    import app  # noqa: PLC0415 - see above

    sys.exit(app.run_sink(settings_for(config)))


@click.command()
@click.option("--add", is_flag=True, help="Also into a database that has rows: what is missing is added.")
@click.pass_obj
@in_one_sentence
def replay(config: Path | None, add: bool) -> None:
    """Read the facts of the broker into an empty database.

    For auditors: the topics are read from their beginnings to where they end now, by the code of the sink, into the
    database of the configuration (LICET_DATABASE_URL), which `licet migrate` has made ready. The rows are those that
    the sink has made, but for texts that the broker no longer has or that were erased since, and the list of removed
    pages (C06) that was made from these. Nothing is written to the broker, and no group is joined. Exit code 1:
    records could not be read; each is named.
    """
    import app  # noqa: PLC0415 - see above

    sys.exit(app.run_replay(settings_for(config), add=add))
