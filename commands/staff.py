"""`licet suspend` and `licet resume`: staff's stop button (E25), on a running stack."""

from __future__ import annotations

from pathlib import Path

import click

from commands import lookups
from commands.desk import Row, desk, place_of
from commands.options import Sentence, in_one_sentence
from commands.printing import as_json, print_json, print_row
from models import ids

by_option = click.option("--by", required=True, help="Who says so; it is recorded.")
ENDS = {"resume-site": "suspended", "unblock-site": "blocked", "unlist-site": "listed"}
"""A command that ends something, and what."""
reason_option = click.option("--reason", required=True, help="Why; it is recorded.")


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def suspend(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """Stop everything at a site before its next request.

    What is asked for it is refused until `licet resume` (E25).
    """
    order(config, address, "suspend-site", "suspended", as_json, by=by, reason=reason)


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def resume(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """End the suspension of a site.

    What it stopped has ended and starts again only when asked.
    """
    order(config, address, "resume-site", "resumed", as_json, by=by, reason=reason)


def order(
    config: Path | None,
    address: str,
    kind: str,
    fact: str,
    as_json: bool,
    **said: str,
) -> None:
    """Say it, and wait until it holds."""
    place = place_of(address, staff=True)
    with desk(config) as at:
        if kind in ENDS and not holds(at.rows(lookups.suspensions_of(place.site)), ENDS[kind], fact):
            raise Sentence(f"{place.site} is not {ENDS[kind]}: there is nothing to end, and nothing was said.")
        event = at.say("operator-commands", kind, address=address, **said)
        wanted = ids.event_id(fact, event)
        row = at.wait(lambda: at.row(lookups.suspension(wanted)), lambda: f"Telling {place.site} ...")
    if as_json:
        print_json(row)
    else:
        print_row(f"{place.site}: {row['kind']}", row)


def holds(rows: list[Row], begun: str, ended: str) -> bool:
    """Whether the newest of a pair of staff's decisions is the one that began it (E25, W13, W01)."""
    return next((row["kind"] for row in rows if row["kind"] in (begun, ended)), ended) == begun
