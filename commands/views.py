"""`licet show` and `licet pages`: what is known of a site, a crawl, its pages. They only read the database."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import click

from commands import lookups
from commands.desk import Desk, Place, Row, desk, place_of
from commands.options import Sentence, in_one_sentence
from commands.printing import as_json, print_json, print_row, print_rows
from commands.staff import holds
from crawler.reading.site import SiteText
from crawler.rules.gate import still_to_be_proved
from models.reading import Reading
from models.state import Account
from stack.restore import after


@click.command()
@click.argument("what", metavar="HOST|CRAWL")
@as_json
@click.pass_obj
@in_one_sentence
def show(config: Path | None, what: str, *, as_json: bool) -> None:
    """Show what is known of a site, or of one crawl.

    Of a crawl: its audit row and every request. Of a site: accounts, proofs, stops and crawls.
    """
    job = _uuid(what)
    with desk(config) as at:
        if job is not None:
            _show_crawl(at, job, as_json)
        else:
            _show_site(at, place_of(what), as_json)


def _show_crawl(at: Desk, job: UUID, as_json: bool) -> None:
    row = at.row(lookups.crawl(job))
    if row is None:
        raise Sentence(f"No crawl {job} is known here. `licet show HOST` lists those of a site.")
    requests = at.rows(lookups.requests_of(job))
    removed = at.rows(lookups.removed_by(job))
    if as_json:
        print_json({**row, "fetches": requests, "removed": removed})
        return
    print_row(f"{row['site']}: {row['terminal_kind'] or 'running'}", row)
    columns = ("number", "kind", "url", "status", "outcome", "bytes", "started_at")
    print_rows("Requests and URLs taken up", requests, columns)
    why = "Pages removed, since the proof is gone and they are above the standard limit (C06)"
    print_rows(why, removed, ("url", "newer_copy", "page_id"))


def _show_site(at: Desk, place: Place, as_json: bool) -> None:
    found = {
        "settings": at.rows(lookups.settings_of(place.site)),
        "verifications": at.rows(lookups.verifications_of(place.site)),
        "suspensions": at.rows(lookups.suspensions_of(place.site)),
        "address_checks": at.rows(lookups.checks_of(place.site)),
        "crawls": at.rows(lookups.crawls_of(place.site)),
    }
    if not any(found.values()):
        raise Sentence(f"Nothing is known of {place.site}. `licet save {place.host} --account NAME` begins with it.")
    suspended = holds(found["suspensions"], "suspended", "resumed")
    blocked = holds(found["suspensions"], "blocked", "unblocked")
    flagged = unproved(found["verifications"])
    if as_json:
        said = {"site": place.site, "suspended": suspended, "blocked": blocked}
        print_json({**said, "still_to_be_proved": flagged, **found})
        return
    click.echo(f"{place.site}{': SUSPENDED' if suspended else ''}{': BLOCKED' if blocked else ''}")
    for account in flagged:
        click.echo(
            f"STILL TO BE PROVED by {account}: nothing but staff's attestation is on file. `licet token {place.host}"
            f" --account {account}` says what to place, `licet verify {place.host} --account {account}` looks for it."
        )
    print_rows("Accounts", found["settings"], ("account", "start", "note", "scope", "schedule", "saved_at"))
    proofs = ("account", "kind", "method", "weaker", "by", "reason", "at")
    print_rows("Proofs, newest first", found["verifications"], proofs)
    print_rows("Suspensions, newest first", found["suspensions"], ("kind", "by", "reason", "at"))
    print_rows(
        "Address checks, newest first", found["address_checks"], ("account", "answers", "status", "outcome", "at")
    )
    crawls = ("crawl", "requested_at", "requester", "account", "proof", "terminal_kind", "pages", "pairs")
    print_rows("Crawls, newest first", found["crawls"], crawls)


@click.command()
@click.argument("address", metavar="HOST")
@click.option("--crawl", "job", type=click.UUID, help="Of this crawl.  [default: the newest with pages]")
@click.option("--text", is_flag=True, help="With the text of the pages and their pairs.")
@as_json
@click.pass_obj
@in_one_sentence
def pages(config: Path | None, address: str, job: UUID | None, *, text: bool, as_json: bool) -> None:
    """Show the pages that are held of a site."""
    place = place_of(address)
    with desk(config) as at:
        newest = at.row(lookups.newest_crawl_with_pages(place.site)) if job is None else {"crawl": job}
        rows = [] if newest is None else at.rows(lookups.pages_of(newest["crawl"]))
        rows = [row for row in rows if row["site"] == place.site]
        if newest is None or not rows:
            raise Sentence(f"No page of {place.site} is held. `licet crawl {place.host}` reads the site.")
        pairs = at.rows(lookups.pairs_of(newest["crawl"])) if text else []
    if as_json:
        kept = [{name: value for name, value in row.items() if text or name != "text"} for row in rows]
        print_json({"site": place.site, "crawl": newest["crawl"], "pages": kept, "question_answers": pairs})
        return
    columns = ("url", "title", "language", "characters", "pairs", "noindex")
    print_rows(f"{place.site}, crawl {newest['crawl']}", rows, columns)
    for row in rows if text else ():
        click.echo(f"\n===== {row['url']}\n{row['text']}")
    for pair in pairs:
        click.echo(f"\nQ: {pair['question']}\nA: {pair['answer']}\n   ({pair['url']}, {pair['source']})")


@click.command()
@click.argument("address", metavar="HOST")
@click.option("--crawl", "job", type=click.UUID, help="Of this crawl.  [default: the newest with pages]")
@as_json
@click.pass_obj
@in_one_sentence
def text(config: Path | None, address: str, job: UUID | None, *, as_json: bool) -> None:
    """Print the text that an assistant answers from.

    Each page without the template, and one page of facts that all share.
    """
    place = place_of(address)
    with desk(config) as at:
        newest = at.row(lookups.newest_crawl_with_pages(place.site)) if job is None else {"crawl": job}
        rows = [] if newest is None else at.rows(lookups.pages_of(newest["crawl"]))
    if newest is None or not rows:
        raise Sentence(f"No page of {place.site} is held. `licet crawl {place.host}` reads the site.")
    site = SiteText()
    for row in rows:
        reading = Reading(markdown=row["text"], frame=tuple(row["frame"]), menu=tuple(row["menu"]))
        site.put(row["url"], reading)
    template = site.repeated()
    if as_json:
        kept = [{"url": row["url"], "text": site.page(row["url"], template)} for row in rows]
        print_json({"site": place.site, "crawl": newest["crawl"], "pages": kept, "facts": site.facts(template)})
        return
    for row in rows:
        click.echo(f"===== {row['url']}\n{site.page(row['url'], template)}\n")
    click.echo(f"===== {place.site}: what its pages share\n{site.facts(template)}")


def unproved(verifications: list[Row]) -> list[str]:
    """The accounts for which nothing but an attestation is on file (E11), from their rows, newest first."""
    held: dict[str, Account] = {}
    for row in reversed(verifications):
        held[row["account"]] = after(held.get(row["account"], Account()), row)
    return sorted(name for name, account in held.items() if still_to_be_proved(account))


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
