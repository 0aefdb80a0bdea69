"""`licet topics`: make a broker agree with topics.yaml, say where it does not, print who may do what."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from commands.options import in_one_sentence, settings_for
from models.topics import load as load_topics
from stack.acls import acls as acl_lines
from stack.topics_admin import apply as apply_topics
from stack.topics_admin import check as check_topics


@click.group()
def topics() -> None:
    """Compare a broker with topics.yaml, and mend it."""


@topics.command()
@click.option("--kafka", help="Bootstrap servers, host:port, separated by commas.")
@click.option("--grow-keyed", is_flag=True, help="Also add partitions to topics keyed by site: sites move.")
@click.pass_obj
@in_one_sentence
def apply(config: Path | None, kafka: str | None, *, grow_keyed: bool) -> None:
    """Create and alter topics until the broker agrees.

    Prints what was changed, and what is left to a person.
    """
    settings = settings_for(config, kafka=kafka)
    changes = asyncio.run(
        apply_topics(settings.require_kafka(), replication=settings.replication, grow_keyed=grow_keyed)
    )
    for change in changes:
        click.echo(change)
    if not changes:
        click.echo(f"Nothing to do: all {len(load_topics())} topics are as topics.yaml has them.")


@topics.command()
@click.option("--kafka", help="Bootstrap servers, host:port, separated by commas.")
@click.pass_obj
@in_one_sentence
def check(config: Path | None, kafka: str | None) -> None:
    """Print every difference.

    Exit code 0: none. 1: at least one. 2: the broker could not be asked.
    """
    settings = settings_for(config, kafka=kafka)
    drifts = asyncio.run(check_topics(settings.require_kafka(), replication=settings.replication))
    for drift in drifts:
        click.echo(str(drift))
    if drifts:
        raise click.exceptions.Exit(1)
    click.echo(f"All {len(load_topics())} topics are as topics.yaml has them.")


@topics.command()
@click.option("--bootstrap", default="HOST:PORT", show_default=True, help="Put into the printed lines.")
@in_one_sentence
def acls(bootstrap: str) -> None:
    """Print the kafka-acls lines for each principal.

    What each needs, and nothing else.
    """
    for line in acl_lines(bootstrap):
        click.echo(line)
