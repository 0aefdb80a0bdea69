"""Builds the two Faust apps, worker and sink, and the command line `licet`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

import bots
from agents import versions
from agents.health import Health
from agents.run import run_service
from agents.sink import Sink
from agents.worker import Worker
from commands import audit, authority, erasing, jobs, staff, stopping, views
from commands.database import migrate
from commands.options import in_one_sentence, settings_for
from commands.read import read
from commands.robots import robots
from commands.stack import kafka, keep, up
from commands.topics import topics
from crawler.fetch.network import Network
from crawler.rules.site import Policy
from models.settings import Settings


def policy_of(settings: Settings) -> Policy:
    """The bot of this deployment, as the environment may tighten it, and the key behind its proof tokens."""
    return Policy(bots.from_environment(bots.load(settings.bot), os.environ), settings.token_key())


def internet(policy: Policy) -> Network:
    """The public internet, left from the bot's own addresses where its policy names them (W11)."""
    egress = policy.profile.egress
    return Network(source_v4=egress.ipv4 or None, source_v6=egress.ipv6 or None)


def run_worker(settings: Settings, policy: Policy, network: Network) -> int:
    """Run a worker until it is told to stop; the process's exit code.

    `network` says what may be connected to. The production command hands in the public internet; the demo and the
    tests have entry points of their own.
    """
    versions.check()
    health = Health(settings.metrics_host, settings.metrics_port)
    return run_service(lambda: Worker(settings, policy, network, health), health, settings)


def run_sink(settings: Settings) -> int:
    """Run the sink until it is told to stop; the process's exit code."""
    health = Health(settings.metrics_host, settings.metrics_port)
    return run_service(lambda: Sink(settings, health), health, settings)


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
