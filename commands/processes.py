"""`licet worker` and `licet sink`: one process each, as `app` builds them."""

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
