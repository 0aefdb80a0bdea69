"""A proof that is certainly gone: pages above the standard limit are removed and listed (C06)."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import Engine

import bots
from commands.line import licet
from crawler.rules.site import Policy
from crawler.rules.tokens import token
from models import events, ids
from models.events import Fact
from models.web import Outcome
from tests.authority.test_restoring import restored
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found
from tests.sink.histories import apply, dump

CERTANT = Policy(bots.load("certant"), b"k" * 32)
FILE = "/.well-known/certant-verification.txt"
NUMBER, STANDARD = 32, 25
GONE = "/contact"
"""The best of the pages, by its name; the second crawl finds it no more."""


def shop(path: str) -> Answer:
    if path == "/robots.txt":
        return not_found(path)
    links = "".join(f"<a href='/p{number}'>x</a>" for number in range(NUMBER)) if path == "/" else ""
    links += f"<a href='{GONE}'>Contact</a>" if path == "/" else ""
    said = f"What stands on page {path} of this shop is told nowhere else, and {ids.url_id(path)} is its number. " * 3
    asked = f"<details><summary>What is {path}?</summary><p>It is the page {path} of this shop.</p></details>"
    return 200, HTML, f"<title>{path}</title><main><p>{said}</p>{asked}</main>{links}".encode()


def played(
    later: Answer | Outcome, *, lost: bool = False, now: float = 1.8e9, policy: Policy = CERTANT, **settings: Any
) -> Play:
    """A crawl of a proved customer on trial, then one at whose start the token file is as `later` says.

    `lost`: the second goes as far as that and a few pages, and no further.
    """
    name = "shop.example"
    pages: dict[str, Any] = {FILE: (200, TEXT, token(CERTANT.token_key, "certant", "acme", name, now).encode())}
    play = Play(lambda path: pages.get(path) or shop(path), policy=policy, now=now)
    play.say("verification-requested")
    play.run()
    play.say("site-confirmed")
    play.say("crawl-requested", plan="trial")
    play.run()
    pages.update({FILE: later, GONE: not_found(GONE)})
    play.now += 3 * 86_400
    if settings:
        play.say("address-saved", **settings)
    play.say("crawl-requested", plan="trial")
    while not lost or len(play.of("page-kept")) < NUMBER + 2 + 3:
        if not play.step():
            break
    return play


@pytest.fixture(scope="module")
def absent() -> Play:
    return played(not_found(FILE))


@pytest.fixture
def play(absent: Play) -> Play:
    return copy.deepcopy(absent)


def everything(play: Play) -> list[Fact]:
    return [*play.facts, *play.contents]


def held(engine: Engine, crawl: str) -> set[str]:
    """The pages that are held of a crawl, by their ids."""
    return {row[0] for row in dump(engine)["pages"] if str(row[1]) == crawl}


def urls(play: Play, crawl: str) -> dict[str, str]:
    return {
        fact.id: fact.url for fact in play.contents if isinstance(fact, events.PageFetched) and fact.crawl == crawl
    }


def crawls(play: Play) -> list[str]:
    return [fact.crawl for fact in play.of("crawl-ended")]


def test_C06_the_pages_above_the_standard_limit_go_when_the_proof_is_absent(play: Play, engine: Engine) -> None:
    first, second = crawls(play)
    ends = play.of("crawl-ended")
    assert [end.remove_above for end in ends] == [None, STANDARD]
    assert (ends[0].pages, ends[1].pages) == (NUMBER + 2, STANDARD)
    apply(engine, everything(play))
    before, now = urls(play, first), urls(play, second)
    assert held(engine, second) == set(now)
    assert held(engine, first) == set()
    found = dump(engine)
    assert {row[1] for row in found["removals"]} == set(before)
    kept = {row[0] for row in found["pages"]}
    assert {row[0] for row in found["pairs"]} == kept
    assert len(found["digests"]) == len(before) + len(now)  # the audit stays


@pytest.mark.parametrize("later", [Outcome.TIMEOUT, (500, TEXT, b"")])
def test_C06_nothing_is_removed_when_the_proof_could_not_be_looked_at(later: Any, engine: Engine) -> None:
    play = played(later)
    assert play.of("proof-rechecked")[-1].result == "undetermined"
    assert play.of("crawl-ended")[-1].remove_above is None
    apply(engine, everything(play))
    assert (len(dump(engine)["removals"]), len(held(engine, crawls(play)[0]))) == (0, NUMBER + 2)


def test_C06_a_list_of_two_pages_leaves_as_many_as_the_standard_limit(engine: Engine) -> None:
    """The list cuts what is read, not what may be held; of the older pages the last in priority go."""
    play = played(not_found(FILE), scope=["https://shop.example/", "https://shop.example/p3"])
    first, second = crawls(play)
    apply(engine, everything(play))
    assert len(held(engine, second)) == 2
    pages = [fact for fact in play.contents if isinstance(fact, events.PageFetched) and fact.crawl == first]
    best = sorted((fact.rank, fact.id) for fact in pages)[: STANDARD - 2]
    assert held(engine, first) == {name for _, name in best}
    assert f"https://shop.example{GONE}" in {fact.url for fact in pages if fact.id in held(engine, first)}


@pytest.mark.parametrize("seed", range(4))
def test_C06_F31_the_same_pages_go_in_any_order_and_again(play: Play, engine: Engine, seed: int) -> None:
    apply(engine, everything(play))
    expected = dump(engine)
    apply(engine, everything(play))
    assert dump(engine) == expected
    with engine.begin() as connection:
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for table in expected:
            connection.exec_driver_sql(f"DELETE FROM {table}")
    facts, dice = everything(play) * 2, random.Random(seed)
    dice.shuffle(facts)
    apply(engine, facts, batch=dice.choice((7, 40, 1000)))
    assert dump(engine) == expected


def test_A03_C06_a_crawl_that_is_lost_with_the_broker_still_removes(engine: Engine) -> None:
    play = played(not_found(FILE), lost=True)
    apply(engine, everything(play))
    first, second = (fact.crawl for fact in play.of("crawl-decided"))
    assert (len(held(engine, first)), len(held(engine, second))) == (NUMBER + 2, 3)
    after = restored(engine, play)
    apply(engine, everything(after))
    assert (len(held(engine, first)), len(held(engine, second))) == (STANDARD - 3, 3)


def test_C06_what_is_no_part_of_the_account_s_pages_then_takes_no_place_and_stays(play: Play, engine: Engine) -> None:
    """Pages of another site, pages that were read later, and pages that were read for their pairs alone."""
    first, second = play.of("crawl-decided")
    end = play.of("crawl-ended")[-1].at
    contents = [fact for fact in play.contents if isinstance(fact, events.PageFetched) and fact.crawl == first.crawl]

    def again(name: str, number: int = 30, **more: Any) -> tuple[str, list[Fact]]:
        crawl = ids.job_id("crawl", name)
        about = {key: value for key, value in more.items() if key == "site"}
        decided = first.model_copy(update={"id": name, "crawl": crawl, **about})
        pages = [fact.model_copy(update={"crawl": crawl, **more}) for fact in contents[:number]]
        return crawl, [decided, *pages]

    elsewhere, one = again("elsewhere", site="other.example")
    later, two = again("later", at=end + 100.0)
    for_pairs, three = again("for-pairs", pairs_only=True, text="")
    apply(engine, [*everything(play), *one, *two, *three])
    assert [len(held(engine, crawl)) for crawl in (elsewhere, later, for_pairs)] == [30, 30, 30]
    assert (len(held(engine, first.crawl)), len(held(engine, second.crawl))) == (0, STANDARD)


def test_C06_F31_an_end_that_comes_before_all_decisions_removes_when_they_come(play: Play, engine: Engine) -> None:
    decided = play.of("crawl-decided")
    apply(engine, [fact for fact in everything(play) if fact not in decided])
    assert dump(engine)["removals"] == []
    apply(engine, decided)
    assert len(dump(engine)["removals"]) == NUMBER + 2


def test_C06_a_deployment_s_shorter_lists_do_not_shorten_what_may_be_held() -> None:
    strict = Policy(CERTANT.profile.tightened({"budget": {"listed_pages": 2}}), CERTANT.token_key)
    play = played(not_found(FILE), policy=strict, scope=["https://shop.example/p3"])
    assert play.of("proof-rechecked")[-1].page_limit == 2
    assert play.of("crawl-ended")[-1].remove_above == STANDARD


def test_C06_another_account_keeps_its_own(play: Play, engine: Engine) -> None:
    rival = play.of("crawl-decided")[0].model_copy(
        update={"id": "d9", "crawl": ids.job_id("crawl", "r"), "account": "rival"}
    )
    contents = [fact for fact in play.contents if isinstance(fact, events.PageFetched)]
    own = [fact.model_copy(update={"crawl": rival.crawl}) for fact in contents[: NUMBER + 2]]
    apply(engine, [*everything(play), rival, *own])
    assert len(held(engine, rival.crawl)) == NUMBER + 2


def test_C06_the_report_lists_what_was_removed(play: Play, engine: Engine, database_url: str) -> None:
    apply(engine, everything(play))
    first, second = crawls(play)
    env = {"LICET_DATABASE_URL": database_url, "LICET_KAFKA": "127.0.0.1:9"}
    shown = CliRunner().invoke(licet, ("show", second), env=env, catch_exceptions=False).stdout
    assert "Pages removed, since the proof is gone" in shown
    report = shown[shown.index("Pages removed") :]
    gone, newer = set(urls(play, first).values()), set(urls(play, second).values())
    told = {
        cells[1]: cells[2] for line in report.splitlines() if len(cells := line.replace("│", " │ ").split("│")) > 3
    }
    told = {url.strip(): copy.strip() for url, copy in told.items() if url.strip().startswith("https")}
    assert told == {url: "yes" if url in newer else "no" for url in gone}
    assert report.index("/p") < report.index(GONE)  # the last in priority first
    assert "Pages removed" not in CliRunner().invoke(licet, ("show", first), env=env).stdout
