"""Stop requests from outside (E25, W13): received, due, done, confirmed. And `licet restore` (A03)."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

import bots
from commands import lookups
from commands.desk import Desk, desk, place_of
from commands.options import Sentence, in_one_sentence, settings_for
from commands.printing import as_json, print_json, print_row, print_rows
from commands.staff import by_option
from crawler.rules.stops import due
from models.intake import STAFF_TOPIC
from stack.restore import restore_when_up_to_date

COLUMNS = (
    "stop_request",
    "site",
    "from_whom",
    "channel",
    "received_at",
    "due_at",
    "done_at",
    "confirmed_at",
    "state",
)


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@click.option("--from", "from_whom", required=True, help="Who asked us to stop.")
@click.option("--received", help="When, with its zone: 2026-03-02T09:30+01:00.  [default: now]")
@click.option("--channel", default="mail", show_default=True, help="How it came.")
@click.option("--record-only", is_flag=True, help="Record it, and leave the site as it is for now.")
@as_json
@click.pass_obj
@in_one_sentence
def stop(config: Path | None, /, address: str, *, record_only: bool, as_json: bool, **said: Any) -> None:
    """Record a stop request from outside, and stop the site.

    The site is suspended, or blocked where the bot keeps a list of its own (E25, W13).
    """
    place, received = place_of(address, staff=True), _time(said.pop("received"))
    with desk(config) as at:
        profile = bots.load(at.settings.bot)
        name = f"{place.site}-{uuid.uuid4().hex[:8]}"
        until = due(received, profile, at.settings.holidays)
        times = {"received_at": received.timestamp(), "due_at": until.timestamp()}
        at.say(STAFF_TOPIC, "record-stop", address=address, stop_request=name, **times, **said)
        if not record_only:
            kind = "block-site" if profile.gate.kind == "operator_list" else "suspend-site"
            reason = f"asked to stop by {said['from_whom']}"
            at.say(STAFF_TOPIC, kind, address=address, by=said["by"], reason=reason, stop_request=name)
        row = at.wait(lambda: _whole(at.row(lookups.stop(name)), done=not record_only), lambda: "Recording ...")
    _show(f"{place.site}: {_state(at, row)}", row, as_json)


@click.command("stop-confirmed")
@click.argument("stop_request")
@by_option
@as_json
@click.pass_obj
@in_one_sentence
def stop_confirmed(config: Path | None, stop_request: str, by: str, *, as_json: bool) -> None:
    """Record that whoever asked was told.

    The last step of a stop request: it is done, and they know (W13).
    """
    with desk(config) as at:
        known = at.row(lookups.stop(stop_request))
        if known is None:
            raise Sentence(f"No stop request {stop_request} is recorded: `licet stops --all` lists them.")
        at.say(STAFF_TOPIC, "confirm-stop", address=known["site"], stop_request=stop_request, by=by)
        row = at.wait(
            lambda: row if (row := at.row(lookups.stop(stop_request))) and row["confirmed_at"] else None,
            lambda: "Recording ...",
        )
    _show(f"{row['site']}: {_state(at, row)}", row, as_json)


@click.command()
@click.option("--all", "everything", is_flag=True, help="Those that are done and confirmed, too.")
@as_json
@click.pass_obj
@in_one_sentence
def stops(config: Path | None, *, everything: bool, as_json: bool) -> None:
    """List the stop requests that are still open.

    Those that are to be done or confirmed, the most urgent first.
    """
    with desk(config) as at:
        rows = [{**row, "state": _state(at, row)} for row in at.rows(lookups.stops(open_only=not everything))]
    if as_json:
        print_json(rows)
    elif rows:
        print_rows("Stop requests", rows, COLUMNS)
    else:
        click.echo("No stop request is open.")


@click.command()
@click.pass_obj
@in_one_sentence
def restore(config: Path | None) -> None:
    """Put the sites' memory back from the database.

    After the broker's data was lost, or on a new broker (A03). Until then a worker makes no request. Where
    nothing was lost this changes nothing.
    """
    settings = settings_for(config)
    sites = asyncio.run(restore_when_up_to_date(settings.require_kafka(), settings.require_database()))
    click.echo(f"{sites} sites were told what the database knows of them.")


def _whole(row: Any, *, done: bool) -> Any:
    """The record once everything that was said has arrived, in whatever order."""
    if row is None or row["recorded_at"] is None or (done and row["done_at"] is None):
        return None
    return row


def state(row: Any, now: datetime, *, confirm: bool) -> str:
    """How far a stop request is. `confirm`: whoever asked is to be told by the same time, too (W13)."""
    late = row["due_at"] is not None and now > row["due_at"]
    if row["done_at"] is None:
        return "OVERDUE: the site is not stopped" if late else "to be done"
    if row["confirmed_at"] is not None:
        return "done and confirmed"
    return "OVERDUE: whoever asked has not been told" if late and confirm else "done, to be confirmed"


def _state(at: Desk, row: Any) -> str:
    promised = bots.load(at.settings.bot).gate.stop_due == "hours_24"
    return state(row, datetime.now(UTC), confirm=promised)


def _time(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no time such as 2026-03-02T09:30+01:00.") from None
    if found.tzinfo is None:
        raise click.UsageError(f"--received {text} has no zone: add one, such as +01:00 or Z.")
    if found > datetime.now(UTC):
        raise click.UsageError(f"--received {text} is still to come: a request was received in the past.")
    return found


def _show(title: str, row: Any, as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        print_row(title, row)
