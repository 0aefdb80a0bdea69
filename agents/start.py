"""How the two services start: `python -m agents.start worker`, or `sink`.

A worker that was killed has to be asking again within five seconds, and a new process competes with its neighbours
for the processors. So each role imports what it needs and nothing else: with the command line, SQLAlchemy and the
readers of HTML, a worker needed 1.7 s of CPU before its first line, without them 0.85 s (measured). That is why the
imports stand in the functions; `tests/agents/test_start.py` names what must not come back.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.fetch.network import Network
    from crawler.rules.site import Policy
    from models.settings import Settings

MISTAKE = 2
"""The exit code of a mistake in the configuration, as on the command line."""


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


def run_replay(settings: Settings, *, add: bool) -> int:
    """Replay the topics of facts into the database of the settings; the process's exit code (docs/commands.md)."""
    from agents.replay import ReplayError, run
    from agents.storing import DatabaseAwayError

    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    try:
        done = run(settings, say, add=add)
    except ReplayError as error:
        say(f"Error: {error}")
        return MISTAKE
    except DatabaseAwayError as error:
        say(f"Error: The database went away: {error}. Run it again with --add: nothing is stored twice.")
        return MISTAKE
    for letter in done.letters:
        say(f"unreadable: {letter.topic}/{letter.partition}/{letter.offset}: {letter.cause}: {letter.message}")
    print(f"Replayed {done.records:,} records into {done.rows:,} rows; {len(done.letters):,} could not be used.")
    return 1 if done.letters else 0


def stand_by() -> None:
    """A spare waits here, with everything imported and nothing begun, until its supervisor needs it.

    The line that it is told holds what its environment lacks. Without one the supervisor has gone.
    """
    from models.lives import SPARE

    if os.environ.pop(SPARE, ""):
        if not (line := sys.stdin.readline()):
            sys.exit(0)
        os.environ.update(json.loads(line))


def main(role: str) -> int:
    """Run one role with the settings of the environment; a mistake in them is a sentence and exit code 2."""
    from models.ceilings import ProfileError
    from models.settings import SettingsError, load

    if role == "worker":
        for name in ("agents.run", "agents.worker", "bots"):
            import_module(name)  # now, and not when they are waited for
    stand_by()
    try:
        settings = load()
        if role == "sink":
            return run_sink(settings)
        policy = policy_of(settings)
        return run_worker(settings, policy, internet(policy))
    except (ProfileError, SettingsError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return MISTAKE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
