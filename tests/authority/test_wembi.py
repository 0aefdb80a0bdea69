"""WembiBot on the running house: what it knows of pages, and a pause, outlive the broker's data (A03, W06, W09)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from models import ids
from stack.postgres import Postgres
from stack.restore import restore
from stack.tansu import Tansu
from tests.authority.test_house import all_down, decided, staff, up_without_memory
from tests.authority.wembi_shops import BESIDE, BUSY, KEPT, LINKS, tag
from tests.house.house import House
from tests.support.origin import Asked

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


async def test_A03_W06_W09_the_broker_s_data_gone_a_pause_holds_and_pages_are_asked_for_conditionally(
    postgres: Postgres, tmp_path: Path
) -> None:
    async with House(tmp_path, Tansu(tmp_path / "one"), postgres, [KEPT, BUSY]) as house:
        house.bot = "wembi"
        async with house.broker:
            await house.start(1, "tests.authority.wembi_shops:serve")
            first = await _lived(house)
            await all_down(house)
        async with Tansu(tmp_path / "two") as house.broker:
            await up_without_memory(house)
            await restore(house.broker.bootstrap, house.url)
            await _as_before(house, first)


async def _lived(house: House) -> str:
    """A shop that was read, and a site whose own refusal paused it."""
    for name in (KEPT, BUSY):
        await staff(house, "list-site", name)
    crawls = [await started(house, name) for name in (KEPT, BUSY)]
    row = (await house.ended(crawls[0], seconds=90))[0]
    assert (row["terminal_kind"], row["pages"]) == ("completed", len(LINKS)), row
    await house.until(lambda: house.rows("SELECT 1 FROM pauses WHERE site = %s", BUSY), 60, "the pause is known")
    held = "SELECT 1 FROM pages WHERE crawl = %s"
    await house.until(lambda: len(house.rows(held, crawls[0])) == len(LINKS), 30, "the pages are stored")
    assert [asked.target for asked in pages(house, BUSY)] == ["/"]
    assert not [asked for asked in pages(house, KEPT) if asked.header("If-None-Match")]
    return crawls[0]


async def _as_before(house: House, first: str) -> None:
    busy, kept = [await started(house, name) for name in (BUSY, KEPT)]
    row = (await house.ended(kept, seconds=90))[0]
    assert (row["terminal_kind"], row["pages"]) == ("completed", len(LINKS)), row
    assert row["outcomes"]["not_modified"] == len(LINKS)
    again = pages(house, KEPT)[len(LINKS) :]
    assert {(asked.target, asked.header("If-None-Match"), asked.status) for asked in again} == {
        (target, tag(target), 304) for target in LINKS
    }
    seen = "SELECT page_id FROM sightings WHERE crawl = %s"
    rows = await house.until(lambda: rows if len(rows := house.rows(seen, kept)) == 3 else None, 30, "it is recorded")
    assert {found["page_id"] for found in rows} == {ids.page_id(first, f"https://{KEPT}{target}") for target in LINKS}
    assert {str(found["crawl"]) for found in house.rows("SELECT crawl FROM pages")} == {first}
    assert [asked.target for asked in pages(house, BUSY)] == ["/"]  # the whole time of the other's crawl
    paused = house.rows("SELECT until FROM pauses WHERE site = %s", BUSY)[0]["until"].timestamp()
    assert time.time() + 2_400 < paused < time.time() + 3_600
    running = house.rows("SELECT accepted, terminal_kind FROM crawls WHERE crawl = %s", busy)[0]
    assert (running["accepted"], running["terminal_kind"]) == (True, None)


async def started(house: House, host: str) -> str:
    """A crawl that staff began, and its id."""
    event = await house.say("operator-commands", "start-crawl", account="op", address=host, by="ann")
    row = await decided(house, event)
    assert row["accepted"], row
    return str(row["crawl"])


def pages(house: House, site: str) -> list[Asked]:
    """The requests for pages of a site, in the order of their arrival."""
    found = [asked for asked in house.asked() if asked.site == site]
    return [asked for asked in found if asked.target not in BESIDE]
