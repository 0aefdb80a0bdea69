"""Authority over sites: attest, withdraw, the two lists, the customer's own word; who said it is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID

import click

from commands import importing, lookups
from commands.desk import Place, desk, place_of
from commands.options import EXIT_CONFIGURATION, Sentence, in_one_sentence
from commands.printing import as_json, print_json, print_row, print_rows
from commands.staff import by_option, order, reason_option
from models import ids
from models.intake import STAFF_TOPIC

LISTING = 15 * 60.0 + 60
"""Seconds: the deadline of a listing, and some more."""
account_option = click.option("--account", required=True, help="The customer.")


class OrImport(click.Group):
    """`licet attest HOST ...`, and `licet attest import FILE`."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Both ways of it."""
        return ["HOST --account A --by W --kept-at P", "| import FILE"]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of `licet attest HOST`: they are what is looked for here."""
        site = self.commands["site"]
        rows = [row for option in site.get_params(ctx) if (row := option.get_help_record(ctx)) is not None]
        with formatter.section("Options of licet attest HOST"):
            formatter.write_dl(rows)
        self.format_commands(ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Whatever is no subcommand is the address of a site."""
        return super().resolve_command(ctx, args if args[0] in self.commands else ["site", *args])


@click.group(cls=OrImport, no_args_is_help=True)
def attest() -> None:
    """Attest an authorisation that you hold, or import many.

    It is the weaker proof: the customer is still to prove the site (E11).
    """


@attest.command("site", hidden=True)
@click.argument("address", metavar="HOST")
@account_option
@by_option
@click.option("--kept-at", required=True, help="Where the authorisation is kept: a drawer, a file, a contract.")
@as_json
@click.pass_obj
@in_one_sentence
def attest_site(config: Path | None, /, address: str, *, as_json: bool, **said: str) -> None:
    """Record who attests an authorisation, and where it is kept. It is the weaker proof."""
    row = _verification(config, place_of(address, staff=True), "attest-site", "attested", address, **said)
    _show(f"{row['site']}: {row['kind']} by attestation", row, as_json)
    if row["kind"] != "verified":
        raise Sentence(str(row["reason"]))


@attest.command("import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--check", is_flag=True, help="Read the file and report, and import nothing.")
@click.pass_obj
@in_one_sentence
def attest_import(config: Path | None, file: Path, *, check: bool) -> None:
    """Attest for many sites, from a CSV.

    Its columns are account, address, by and kept_at; all of it is taken, or nothing. A line that is wrong is
    named, and then no line is imported. Running the same file again changes nothing.
    """
    lines = importing.read(file)
    for line in lines:
        click.echo(line.report())
    if wrong := sum(1 for line in lines if line.error):
        raise Sentence(f"{wrong} of {len(lines)} lines are wrong; nothing was imported.", EXIT_CONFIGURATION)
    if not check:
        with desk(config) as at:
            importing.publish(at, lines)
        click.echo(f"{len(lines)} attestations are recorded.")


@click.command()
@click.argument("address", metavar="HOST")
@account_option
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def withdraw(config: Path | None, /, address: str, *, as_json: bool, **said: str) -> None:
    """Withdraw an account's proof of a site.

    What runs on it ends (E13).
    """
    row = _verification(config, place_of(address, staff=True), "withdraw-verification", "withdrawn", address, **said)
    _show(f"{row['site']}: {row['kind']}", row, as_json)


def _verification(config: Path | None, place: Place, kind: str, fact: str, address: str, **said: str) -> Any:
    """Say it, and wait for what became of it: the fact, or the refusal."""
    with desk(config) as at:
        event = at.say(STAFF_TOPIC, kind, address=address, **said)
        refused = ids.event_id(ids.job_id("verification", event), "ended")
        wanted = (ids.event_id(fact, event), refused)
        return at.wait(lambda: at.row(lookups.verification_fact(*wanted)), lambda: f"Telling {place.site} ...")


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def block(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """Put a site on the blocklist, at once.

    It holds whatever is or will be on file for the site (W13), until `licet unblock`.
    """
    order(config, address, "block-site", "blocked", as_json, by=by, reason=reason)


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def unblock(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """Take a site off the blocklist."""
    order(config, address, "unblock-site", "unblocked", as_json, by=by, reason=reason)


@click.command("list")
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def put_on_list(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """Put a site on the operator's list.

    Where the bot's policy has such a list, no other site is read (W01).
    """
    order(config, address, "list-site", "listed", as_json, by=by, reason=reason)


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@as_json
@click.pass_obj
@in_one_sentence
def unlist(config: Path | None, address: str, by: str, reason: str, *, as_json: bool) -> None:
    """Take a site off the operator's list.

    What runs on the list's authority ends (W01).
    """
    order(config, address, "unlist-site", "unlisted", as_json, by=by, reason=reason)


@click.command()
@click.argument("address", metavar="HOST")
@account_option
@by_option
@as_json
@click.pass_obj
@in_one_sentence
def confirm(config: Path | None, address: str, account: str, by: str, *, as_json: bool) -> None:
    """Record a customer's word that the site may be read.

    That it is theirs, or that they may have it indexed, with who says so (C01).
    """
    place = place_of(address)
    with desk(config) as at:
        event = at.say("address-saved", "site-confirmed", account=account, address=address, by=by)
        wanted = ids.event_id("confirmed", event)
        row = at.wait(lambda: at.row(lookups.confirmation(wanted)), lambda: f"Telling {place.site} ...")
    _show(f"{place.site}: confirmed", row, as_json)


@click.command()
@click.argument("address", metavar="HOST")
@account_option
@click.option("--by", default="", help="Who asks; it stands in the audit row.")
@as_json
@click.pass_obj
@in_one_sentence
def listing(config: Path | None, address: str, account: str, by: str, *, as_json: bool) -> None:
    """List the pages of a verified site, to choose from.

    `licet save HOST --page ...` makes some of them the scope (E22).
    """
    place = place_of(address)
    with desk(config) as at:
        event = at.say("listing-requested", "listing-requested", account=account, address=address, by=by)
        job = UUID(ids.job_id("listing", event))
        decided = at.wait(lambda: at.row(lookups.decision(job)), lambda: f"Asking for the pages of {place.host} ...")
        if not decided["accepted"]:
            raise Sentence(lookups.sentence(decided["refusal"]))
        row = at.wait(lambda: at.row(lookups.listing(job)), lambda: f"Listing {place.host} ...", LISTING)
    if as_json:
        print_json(row)
    else:
        print_rows(f"{place.host}: {row['reason']}", row["pages"], ("url", "title"))
    if row["end"] not in ("completed", "completed_partial"):
        raise Sentence(f"No page of {place.host} is listed: {row['reason']}.")


def _show(title: str, row: Any, as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        print_row(title, row)
