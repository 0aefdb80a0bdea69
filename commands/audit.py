"""`licet audit`: were you crawling my domain in this window, and by what right? From the audit rows alone (E24)."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import click

import bots
from commands import lookups, windows
from commands.desk import Desk, Row, desk, place_of
from commands.options import EXIT_CONFIGURATION, Sentence, in_one_sentence
from commands.printing import as_json, print_json, print_rows
from commands.windows import Window, WindowError
from stack.errors import StackError

CRAWLS = (
    "kind", "crawl", "requested", "requester", "requested_by", "account", "host", "decision", "authority", "bot",
    "end", "ended", "in_window",
)  # fmt: skip
NEVER: Row = {"kind": "never"}
"""Nothing was ever said of the site and the operator's list."""
OUTSIDE = ("what", "account", "result", "in_window", "first", "last", "job")


@click.command()
@click.argument("address", metavar="HOST")
@click.option("--from", "begin", required=True, help="By the zone's clocks: 2026-03-02T09:30, or a day.")
@click.option("--to", "end", required=True, help="As --from; of a day, its end.")
@click.option("--zone", required=True, help="The zone of these times, and of those in the answer: Europe/Rome.")
@as_json
@click.pass_obj
@in_one_sentence
def audit(config: Path | None, address: str, begin: str, end: str, zone: str, *, as_json: bool) -> None:
    """Tell what was asked of a site when, by what right.

    The answer to "were you crawling my domain in this window, and on what authority?" (E24), from the audit rows.
    Exit code 0: something was there. 1: nothing was. 2: the question could not be answered.
    """
    place = place_of(address, staff=True)
    try:
        at = windows.window(begin, end, zone)
        with desk(config) as here:
            crawls, outside = _crawls(here, place.site, at), _outside(here, place.site, at)
    except (WindowError, StackError) as error:
        raise Sentence(str(error), EXIT_CONFIGURATION) from None
    said = windows.verdict(place.site, crawls, outside, at)
    show = _print_json if as_json else _print
    show(place.site, at, said, crawls, outside)
    if not crawls and not outside:
        raise SystemExit(1)


def _crawls(here: Desk, site: str, at: Window) -> list[Row]:
    """Every request for a crawl or listing that the window touches, refused ones too, and what it asked there."""
    fetches = here.rows(lookups.fetches_between(site, at.begin, at.end))
    rows = here.rows(lookups.crawls_between(site, at.begin, at.end))
    return [_crawl(here, row, windows.counts(fetches, row["crawl"]), at) for row in rows]


def _crawl(here: Desk, row: Row, requests: dict[str, int], at: Window) -> Row:
    proof = here.row(lookups.proof_behind(row)) if row["verified"] else None
    times = {name: value and at.shown(value) for name, value in row.items() if isinstance(value, datetime)}
    entry = here.row(lookups.listed_then(row["site"], row["decided_at"])) or NEVER if _by_list(row) else None
    authority = windows.authority(row, proof, here.row(lookups.verification(row["crawl"])), at, entry)
    return {**row, **times, "in_window": requests, "authority": authority}


def _by_list(crawl: Row) -> bool:
    """Whether the bot of that crawl reads what its operator has listed (W01)."""
    known = crawl["bot"] in bots.NAMES and crawl["decided_at"] is not None
    return known and bots.load(crawl["bot"]).gate.kind == "operator_list"


def _outside(here: Desk, site: str, at: Window) -> list[Row]:
    """Requests outside of crawls: the check of an address (E07), the looking for a proof (E12)."""
    found: dict[Any, Row] = {}
    for row in here.rows(lookups.fetches_between(site, at.begin, at.end, outside=True)):
        job = found.setdefault(row["job"], {"job": row["job"], "in_window": {}, "first": row["first"]})
        job["in_window"][row["kind"]] = row["requests"]
        job["first"], job["last"] = min(job["first"], row["first"]), max(job.get("last", row["last"]), row["last"])
    return [{**_purpose(here, job), **_shown(job, at)} for job in found.values()]


def _purpose(here: Desk, job: Row) -> Row:
    if (check := here.row(lookups.check(job["job"]))) is not None:
        return {"what": "check of a saved address", "account": check["account"], "result": check["outcome"]}
    if (proof := here.row(lookups.verification(job["job"]))) is not None:
        result = "found" if proof["kind"] == "verified" else proof["result"]
        return {"what": "looking for a proof", "account": proof["account"], "result": result}
    return {"what": "under way", "account": None, "result": None}


def _shown(job: Row, at: Window) -> Row:
    return {**job, "first": at.shown(job["first"]), "last": at.shown(job["last"])}


def _print_json(site: str, at: Window, said: str, crawls: list[Row], outside: list[Row]) -> None:
    asked = {"from": at.shown(at.begin), "to": at.shown(at.end), "zone": at.zone.key}
    answer = {"site": site, "window": asked, "answer": said, "covers": windows.COVERS}
    print_json({**answer, "crawls": crawls, "outside_crawls": outside})


def _print(site: str, at: Window, said: str, crawls: list[Row], outside: list[Row]) -> None:
    click.echo(f"{said}\n{windows.COVERS}")
    print_rows(f"Crawls and listings of {site}", [_told(row, at) for row in crawls], CRAWLS)
    times = [{**row, "first": at.said(row["first"]), "last": at.said(row["last"])} for row in outside]
    print_rows("Requests outside of crawls", times, OUTSIDE)


def _told(row: Row, at: Window) -> Row:
    refused = row["accepted"] is False
    decision = f"refused: {row['refusal']}" if refused else "accepted"
    end = row["terminal_kind"] or "still running"
    times = {"requested": at.said(row["requested_at"]), "ended": at.said(row["terminal_at"])}
    return {**row, **times, "decision": decision, "end": end, "kind": row["kind"] or "crawl"}
