"""`licet save`, `verify`, `token`, `crawl`: what a customer does, on a running stack.

Exit codes: 0 the wanted outcome, 1 another one, 2 a mistake in the command or the configuration, 4 no answer.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import click

import bots
from commands import lookups, proofs
from commands.desk import ANSWER, Desk, Place, Row, desk, own_site, place_of
from commands.options import Sentence, in_one_sentence
from commands.printing import as_json, print_json, print_row
from commands.watching import ended, watch
from crawler.rules import gate, sentences
from crawler.rules.tokens import Issued
from models import ids

CHECK = 15.0
"""Seconds: one request with a timeout of 5 s (E07), behind whatever the site is doing."""
VERIFY = 120.0
CRAWL = 4 * 3600.0 + 300
"""Seconds: the deadline of a crawl, and some more."""

PLANS = ("trial", "paid")

address_argument = click.argument("address", metavar="HOST")
account_option = click.option("--account", help="The customer; not needed when only one has saved the site.")


@click.command()
@address_argument
@click.option("--account", required=True, help="The customer whose website it is.")
@click.option("--note", help="Words for the User-Agent, such as site=example.com (E02).")
@click.option("--page", "pages", multiple=True, help="Only these pages, once for each (E22).")
@click.option("--no-schedule", is_flag=True, help="Crawl only when asked.")
@as_json
@click.pass_obj
@in_one_sentence
def save(config: Path | None, /, address: str, account: str, *, as_json: bool, **options: Any) -> None:
    """Save a website's address and settings.

    A new or changed address is asked once whether it answers (E07), up to a limit a day.
    """
    place = place_of(address)
    with desk(config) as at:
        profile = bots.from_environment(bots.load(at.settings.bot), os.environ)
        own_site(place, profile)
        known = at.row(lookups.settings_of(place.site, account))
        event = at.say(
            "address-saved", "address-saved", account=account, address=address, note=options["note"],
            scope=options["pages"] or None, schedule=not options["no_schedule"],
        )  # fmt: skip
        fact = ids.event_id("settings", event)
        saved = at.wait(lambda: at.row(lookups.settings_by_fact(fact)), lambda: f"Saving {place.host} ...")
        asks = profile.address_check.enabled and (known is None or known["start"] != saved["start"])
        checked = _checked(at, place, UUID(ids.job_id("check", event))) if asks else {}
    _show(f"{place.host}, saved for {account}", {**saved, "answers": None, **checked}, as_json)
    if saved["refused"]:
        raise Sentence("Not taken over: " + "; ".join(f"{name}: {why}" for name, why in saved["refused"].items()))
    if checked.get("answers") is False:
        raise Sentence(f"The address is saved, but {place.host} does not answer ({checked['outcome']}).")


def _checked(at: Desk, place: Place, job: UUID) -> Row:
    """Whether the address answers, or why it was not asked (E07)."""
    found = at.wait(lambda: at.row(lookups.check(job)), lambda: f"Asking {place.host} ...", CHECK)
    why = sentences.NOT_CHECKED.get(found["outcome"])
    if why is None:
        return {"answers": found["answers"], "outcome": found["outcome"]}
    at.tell(why)
    return {"answers": None, "not_checked": found["outcome"]}


@click.command()
@address_argument
@account_option
@click.option("--method", type=click.Choice(proofs.METHODS), help="Only this way of proof.")
@as_json
@click.pass_obj
@in_one_sentence
def token(config: Path | None, address: str, account: str | None, method: str | None, *, as_json: bool) -> None:
    """Print an account's token for a site, and where to put it."""
    place = place_of(address)
    with desk(config) as at:
        account = account_for(at, place, account)
        proof, found = _places(at, place, account, method)
    expires = datetime.fromtimestamp(proof.expires, UTC)
    if as_json:
        said = {"site": place.site, "account": account, "token": proof.token, "places": found}
        print_json({**said, "expires": expires.isoformat()})
        return
    click.echo(f"Token of {account} for {place.site}: {proof.token}, to be used before {expires:%Y-%m-%d}")
    for sentence in found.values():
        click.echo(f"  {sentence}")


@click.command()
@address_argument
@account_option
@click.option("--method", type=click.Choice(proofs.METHODS), default="token_file", show_default=True)
@as_json
@click.pass_obj
@in_one_sentence
def verify(config: Path | None, address: str, account: str | None, method: str, *, as_json: bool) -> None:
    """Look for the proof of a site.

    Prints where it should be, looks there once, and says what was found (E08-E10).
    """
    place = place_of(address)
    with desk(config) as at:
        account = account_for(at, place, account)
        _, found = _places(at, place, account, method)
        at.tell(found[method])
        event = at.say(
            "verification-requested", "verification-requested", account=account, address=address, method=method
        )
        job = UUID(ids.job_id("verification", event))
        row = at.wait(
            lambda: at.row(lookups.verification(job)), lambda: f"Looking at {place.host} for the proof ...", VERIFY
        )
    _show(f"{place.site}: {row['kind']}", row, as_json)
    if row["kind"] != "verified":
        raise Sentence(f"No proof was found for {account}: {row['reason']}. {found[method]}; then verify again.")


@click.command()
@address_argument
@account_option
@click.option("--by", default="", help="Who asks; it stands in the audit row.")
@click.option("--plan", type=click.Choice(PLANS), help="The account's plan, where the bot has plans (C02).")
@click.option("--staff", is_flag=True, help="Staff start it: the same gate, without the daily cap (needs --by).")
@click.option(
    "--timeout", type=click.FloatRange(min=1), default=CRAWL, show_default=True, help="Seconds to watch it."
)
@as_json
@click.pass_obj
@in_one_sentence
def crawl(config: Path | None, /, address: str, account: str | None, *, as_json: bool, **options: Any) -> None:
    """Crawl a site and watch until it has ended.

    Exit code 0 only if it completed. Ctrl-C ends the watching (130), never the crawl.
    """
    place = place_of(address)
    if options["staff"] and not options["by"]:
        raise click.UsageError("--staff needs --by: who starts it stands in the audit row.")
    with desk(config) as at:
        account = account_for(at, place, account)
        said = {"account": account, "address": address, "by": options["by"], "plan": options["plan"] or ""}
        topic, kind = ("operator-commands", "start-crawl") if options["staff"] else ("crawl-requested",) * 2
        job = UUID(ids.job_id("crawl", at.say(topic, kind, **said)))
        row = watch(at, place.host, job, ANSWER, options["timeout"])
    _show(f"{place.host}: {row['terminal_kind']}", row, as_json)
    if not row["accepted"]:
        raise Sentence(refusal(row, place, account))
    if not ended(row):
        raise Sentence(f"The crawl ended as {row['terminal_kind']}: {row['terminal_reason'] or 'no reason given'}.")


def refusal(row: Row, place: Place, account: str) -> str:
    """Why the gate refused, and what to do about it."""
    todo = {
        "unverified": f" `licet verify {place.host} --account {account}` says where and looks for it.",
        "suspended": f" `licet resume {place.host}` ends the suspension.",
        "cap": " Staff are not capped: `--staff --by NAME`.",
    }
    refused = row["refusal"]
    return gate.SENTENCES.get(refused, f"Refused: {refused}.") + todo.get(refused, "")


def account_for(at: Desk, place: Place, account: str | None) -> str:
    """The account that was named, or the only one that has saved the site."""
    if account is not None:
        return account
    found = [row["account"] for row in at.rows(lookups.accounts(place.site))]
    if len(found) == 1:
        return str(found[0])
    if not found:
        raise Sentence(
            f"Nobody has saved {place.site} yet. First `licet save {place.host} --account NAME`, then place the proof"
            f" that `licet token {place.host}` names, then `licet verify {place.host}`."
        )
    raise Sentence(f"{place.site} is saved by several: say which with --account ({', '.join(found)}).")


def _places(at: Desk, place: Place, account: str, method: str | None) -> tuple[Issued, dict[str, str]]:
    """The token, and where it goes, of one method or of all that the bot knows."""
    profile = bots.load(at.settings.bot)
    proof = proofs.proof_token(at.settings.token_key(), profile, account, place, time.time())
    found = proofs.places(profile, proof.token, place)
    if method is None and found:
        return proof, found
    if method not in found:
        known = ", ".join(found) or "none"
        raise Sentence(f"{profile.identity.token} does not know this proof; it knows: {known}.")
    return proof, {method: found[method]}


def _show(title: str, row: Row, as_json: bool) -> None:
    if as_json:
        print_json(row)
    else:
        print_row(title, row)
