"""On request everything held from a site is deleted, and stays out (E25)."""

from __future__ import annotations

import copy
import random
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine

from crawler.rules import jobs
from crawler.rules.site import RobotsCache
from models import ids, intake
from models.events import Erased, Fact
from models.state import cache_key
from models.web import Kind, Request
from tests.jobs.driver import HTML, TEXT, Play, page
from tests.sink.histories import SITE, START, apply, dump
from tests.sink.histories import page as text_page

CANARY = "xanthippe"
"""On each page, in its title, its address, its pairs, its menu and footer, its data; and in robots.txt."""
AUDIT = {"crawls", "fetches", "digests", "verifications", "address_checks", "suspensions", "sites", "settings"}


def canary(path: str) -> Any:
    if path == "/robots.txt":
        return 200, TEXT, f"User-agent: *\nDisallow: /{CANARY}-secret\nCrawl-delay: 1\n".encode()
    if path.startswith(("/.well-known", "/sitemap")):
        return 404, HTML, b"nothing here"
    status, headers, body = page(f"{CANARY} {path}", f"/{CANARY}", "/b", f"/{CANARY}/c")
    data = f'<script type="application/ld+json">{{"@type": "Store", "name": "{CANARY}"}}</script>'
    asked = f"<details><summary>Who is {CANARY}?</summary><p>{CANARY} keeps the counter, every day.</p></details>"
    extras = f'{data}{asked}<meta name="description" content="{CANARY}"><footer>{CANARY} 9-17</footer>'
    return status, headers, body + extras.encode()


def everything(play: Play) -> list[Fact]:
    return [*play.facts, *play.contents]


@pytest.fixture(scope="module")
def played() -> Play:
    """A site that was saved, listed and crawled, and is being crawled again, with a request on the wire."""
    found = Play(canary)
    found.say("address-saved")
    found.run()
    found.verify()
    found.say("listing-requested")
    found.run()
    found.crawl()
    found.say("start-crawl")
    for _ in range(3):
        found.step()
    return found


@pytest.fixture
def play(played: Play) -> Play:
    return copy.deepcopy(played)


def erase(play: Play) -> Any:
    play.say("erase-site", ticket="T-7", reason="asked by mail")
    return play.of("erased")[-1]


def test_E25_an_erasure_suspends_ends_what_runs_and_empties_the_memory(play: Play) -> None:
    cache = RobotsCache(
        "https://shop.example/robots.txt", "shop.example", play.now, next(iter(play.site.robots.values()))
    )
    key = cache_key("shop.example")
    play.records[key] = cache.to_bytes()
    play.restart()
    assert play.site.cached is not None
    asked = len(play.requests)
    fact = erase(play)
    assert (fact.by, fact.reason, fact.ticket) == ("ann", "asked by mail", "T-7")
    assert play.of("crawl-ended")[-1].end == "suspended"
    assert [one.by for one in play.of("suspended")] == ["ann"]
    assert CANARY not in repr(play.records) + play.site.head.model_dump_json()
    assert key not in play.records
    assert play.site.cached is None
    assert not play.site.frontiers
    assert not play.site.robots
    play.say("crawl-requested")
    play.run()
    assert len(play.requests) == asked
    assert play.of("crawl-decided")[-1].refusal == "suspended"


def test_E25_an_erasure_of_a_suspended_site_says_nothing_of_suspension(play: Play) -> None:
    play.say("suspend-site")
    erase(play)
    assert len(play.of("suspended")) == 1
    assert play.site.head.suspended is not None
    play.say("resume-site")
    assert play.site.head.suspended is None


def test_E25_nothing_of_the_text_is_left_in_any_table_and_the_audit_is(play: Play, engine: Engine) -> None:
    apply(engine, everything(play))
    before = dump(engine)
    assert all(CANARY in repr(before[table]) for table in ("pages", "pairs", "urls", "listings"))
    told = len(play.facts)
    erase(play)
    apply(engine, play.facts[told:])
    after = dump(engine)
    assert [table for table, rows in after.items() if CANARY in repr(rows)] == []
    assert all(after[table] == [] for table in ("pages", "pairs", "urls", "listings"))
    for table in AUDIT - {"crawls", "sites"}:
        assert {*map(repr, before[table])} <= {*map(repr, after[table])}, table
    assert len(after["crawls"]) == len(before["crawls"])
    assert len(after["erasures"]) == 1
    apply(engine, everything(play))  # a replay
    assert dump(engine) == after


@pytest.mark.parametrize("seed", range(4))
def test_E25_in_any_order_and_batch_the_same_is_left(play: Play, engine: Engine, seed: int) -> None:
    """Facts and texts come by different topics, so a page may arrive before, with or after its erasure."""
    erase(play)
    facts, dice = everything(play) * 2, random.Random(seed)
    dice.shuffle(facts)
    apply(engine, facts, batch=dice.choice((1, 3, 50, 1000)))
    found = dump(engine)
    assert [table for table, rows in found.items() if CANARY in repr(rows)] == []
    assert len(found["erasures"]) == 1
    assert len(found["crawls"]) == 3


@pytest.mark.parametrize("skew", [-90.0, 0.0, 90.0])
def test_E25_a_request_on_the_wire_brings_nothing_back(play: Play, engine: Engine, skew: float) -> None:
    """The worker's clock and the broker's may differ either way."""
    plan = jobs.plan(play.site, play.now + 5, play.policy)
    assert isinstance(plan, jobs.Send)
    play.now += 5 + skew
    intended = jobs.intend(play.site, plan, "w", play.now)
    play.commit(intended.change)
    assert isinstance(plan.request, Request)
    response = play.answer(plan.request)
    play.now -= skew
    erase(play)
    assert response.ended_at is not None
    read = play.read(plan, response)
    play.commit(jobs.absorb(play.site, intended.intent, plan.ask, response, read, play.policy))
    apply(engine, everything(play))
    found = dump(engine)
    assert [table for table, rows in found.items() if CANARY in repr(rows)] == []
    asked = [fact for fact in play.of("request-ended") if fact.kind == Kind.PAGE]
    assert asked[-1].number == intended.intent.number  # that it was asked stays on record (A04)


@pytest.mark.parametrize("ahead", ["last_end", "intent"])
def test_E25_an_erasure_reaches_as_far_as_any_clock_has_gone(play: Play, ahead: str) -> None:
    """Pages are stamped by a worker's clock; what it has stamped, or will stamp, later than the broker is erased, too."""
    head = play.site.head
    if ahead == "last_end":
        head = head.model_copy(update={"last_end": play.now + 90})
    else:
        plan = jobs.plan(play.site, play.now + 5, play.policy)
        assert isinstance(plan, jobs.Send)
        head = jobs.intend(play.site, plan, "w", play.now + 90).change.head
    play.site = replace(play.site, head=head)
    assert erase(play).until == play.now + 90


def test_E25_only_the_site_s_content_goes_and_up_to_the_ledger_s_time(engine: Engine) -> None:
    """The same batch brings another site's pages, and pages from before, between and after two erasures."""

    def read(at: float, site: str = SITE) -> Fact:
        return text_page(f"https://{site}/p{at}", ids.job_id("crawl", str(at)), at=START + at).model_copy(
            update={"site": site}
        )

    def erased(name: str, at: float, until: float) -> Fact:
        event = ids.event_id("erased", name)
        return Erased(id=event, at=START + at, site=SITE, until=START + until, by="ann", reason="so")

    pages = [read(10), read(30), read(60), read(80), read(10, "other.test")]
    apply(engine, [erased("first", 20, 20), erased("second", 40, 70), *pages])
    kept = {row[2] + str(row[4]).rpartition("/")[2] for row in dump(engine)["pages"]}
    left = {(fact.site, fact.url) for fact in pages if fact.site == "other.test" or fact.at == START + 80}  # type: ignore[attr-defined]
    assert {(row[2], row[4]) for row in dump(engine)["pages"]} == left, kept


def test_E25_what_is_read_after_a_resume_is_kept(play: Play, engine: Engine) -> None:
    erase(play)
    play.say("resume-site")
    play.now += 60
    end: Any = play.crawl()
    apply(engine, everything(play) * 2)
    found = dump(engine)
    assert len(found["pages"]) == end.pages > 0
    assert CANARY in repr(found["pages"])


def test_E25_an_erasure_said_twice_is_one(play: Play, engine: Engine) -> None:
    play.say("erase-site", message_id="00000000-0000-0000-0000-00000000abcd")
    play.say("erase-site", message_id="00000000-0000-0000-0000-00000000abcd")
    assert len(play.of("erased")) == 1


def test_E25_only_staff_erase() -> None:
    assert [topic for topic, types in intake.type_of_topic.items() if "erase-site" in types] == [intake.STAFF_TOPIC]
