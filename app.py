"""The command line `licet`. Supervised workers and sinks begin in `agents/start.py`, without it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from agents.start import internet, policy_of, run_sink, run_worker
from commands import audit, authority, erasing, jobs, staff, stopping, views
from commands.database import migrate
from commands.options import in_one_sentence, settings_for
from commands.read import read
from commands.robots import robots
from commands.stack import kafka, keep, up
from commands.topics import topics


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="Configuration file (licet.yaml).")
@click.version_option(package_name="licet")
@click.pass_context
def licet(context: click.Context, config: Path | None) -> None:
    """Licet, a crawler that asks first."""
    context.obj = config


@licet.command()
@click.pass_obj
@in_one_sentence
def worker(config: Path | None) -> None:
    """Run a worker: hear commands, keep each site's memory, make the requests."""
    settings = settings_for(config)
    policy = policy_of(settings)
    sys.exit(run_worker(settings, policy, internet(policy)))


@licet.command()
@click.pass_obj
@in_one_sentence
def sink(config: Path | None) -> None:
    """Run the sink: write facts and texts to PostgreSQL."""
    sys.exit(run_sink(settings_for(config)))


for command in (
    migrate,
    read,
    robots,
    topics,
    kafka,
    keep,
    up,
    *jobs.COMMANDS,
    *staff.COMMANDS,
    *authority.COMMANDS,
    *stopping.COMMANDS,
    *views.COMMANDS,
    *audit.COMMANDS,
    *erasing.COMMANDS,
):
    licet.add_command(command)


def main() -> None:
    """The command line."""
    licet()


if __name__ == "__main__":
    main()
