"""Builds the two Faust apps, worker and sink, and runs the command line `licet` (commands/line.py).

Each of them imports what it needs when it starts, so a worker carries no SQLAlchemy and `licet --help` no Faust.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.fetch.network import Network
    from crawler.rules.site import Policy
    from models.settings import Settings

# ruff: noqa: PLC0415 - imports in functions are the point here


def policy_of(settings: Settings) -> Policy:
    """The bot of this deployment, as the environment may tighten it, and the key behind its proof tokens."""
    import bots
    from crawler.rules.site import Policy

    return Policy(bots.from_environment(bots.load(settings.bot), os.environ), settings.token_key())


def internet(policy: Policy) -> Network:
    """The public internet, left from the bot's own addresses where its policy names them (W11)."""
    from crawler.fetch.network import Network

    egress = policy.profile.egress
    return Network(source_v4=egress.ipv4 or None, source_v6=egress.ipv6 or None)


def run_worker(settings: Settings, policy: Policy, network: Network) -> int:
    """Run a worker until it is told to stop; the process's exit code.

    `network` says what may be connected to. The production command hands in the public internet; the demo and the
    tests have entry points of their own.
    """
    from agents import versions
    from agents.health import Health
    from agents.run import run_service
    from agents.worker import Worker

    versions.check()
    health = Health(settings.metrics_host, settings.metrics_port)
    return run_service(lambda: Worker(settings, policy, network, health), health, settings)


def run_sink(settings: Settings) -> int:
    """Run the sink until it is told to stop; the process's exit code."""
    from agents.health import Health
    from agents.run import run_service
    from agents.sink import Sink

    health = Health(settings.metrics_host, settings.metrics_port)
    return run_service(lambda: Sink(settings, health), health, settings)


def main() -> None:
    """The command line."""
    from commands.line import licet

    licet(prog_name="licet")


if __name__ == "__main__":
    main()
