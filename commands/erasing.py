"""`licet erase`: everything that is held from a site is deleted, on request (E25)."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import click

from commands import lookups
from commands.desk import Desk, desk, place_of
from commands.options import in_one_sentence
from commands.printing import as_json, print_json, print_row
from commands.staff import by_option, reason_option
from models import ids
from models.intake import STAFF_TOPIC


@click.command()
@click.argument("address", metavar="HOST")
@by_option
@reason_option
@click.option("--ticket", default="", help="Where the request is kept; it is recorded.")
@as_json
@click.pass_obj
@in_one_sentence
def erase(config: Path | None, /, address: str, *, as_json: bool, **said: str) -> None:
    """Delete everything that is held from a site.

    The site is suspended, too. The audit rows stay; they hold no page's text (E25).
    """
    place = place_of(address, staff=True)
    with desk(config) as at:
        before = _held(at, place.site)
        event = at.say(STAFF_TOPIC, "erase-site", address=address, **said)
        wanted = UUID(ids.event_id("erased", event))
        row = at.wait(lambda: at.row(lookups.erasure(wanted)), lambda: f"Erasing {place.site} ...")
        after = _held(at, place.site)
    found = {**row, "deleted": {name: max(0, before[name] - after[name]) for name in before}, "left": after}
    if as_json:
        print_json(found)
    else:
        print_row(f"{place.site}: erased, and suspended until `licet resume`", found)


def _held(at: Desk, site: str) -> dict[str, int]:
    """How much content is held of a site."""
    return dict(at.rows(lookups.held_of(site))[0])
