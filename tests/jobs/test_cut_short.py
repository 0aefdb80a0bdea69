"""Requests that were cut short, or never sent: what they cost, and that every URL has one outcome all the same."""

from __future__ import annotations

from collections import Counter

import pytest

from crawler.rules import jobs
from crawler.rules.actor import REMEMBERED, mark_of
from models.state import PAIRS_ONLY
from models.web import Kind
from tests.jobs.driver import Play, not_found, page


def started(**pages: object) -> Play:
    named = {"/" + path.removeprefix("_"): answer for path, answer in pages.items()}
    play = Play(lambda path: named.get(path, not_found(path)))  # type: ignore[arg-type]
    play.verify()
    play.say("crawl-requested", requester="customer")
    return play


def intended(play: Play) -> jobs.Send:
    """The next request, as far as its intent."""
    while isinstance(plan := jobs.plan(play.site, play.now, play.policy), jobs.Done):
        play.commit(plan.change)
    assert isinstance(plan, jobs.Send)
    play.commit(jobs.intend(play.site, plan, "w", play.now).change)
    return plan


def unsent(play: Play) -> None:
    (intent,) = play.site.head.intents
    play.commit(jobs.unsent(play.site, intent, play.now))


def to(play: Play, kind: Kind) -> None:
    """Step until a request of this kind is next."""
    while True:
        plan = jobs.plan(play.site, play.now, play.policy)
        if isinstance(plan, jobs.Done):
            play.commit(plan.change)
        elif isinstance(plan, jobs.Send) and plan.ask.kind == kind:
            return
        else:
            assert play.step()


@pytest.mark.parametrize("kind", [Kind.ROBOTS, Kind.SITEMAP, Kind.PAGE])
def test_E18_a_request_that_was_never_sent_costs_neither_a_try_nor_the_budget(kind: Kind) -> None:
    play = started(_=page("home", "/a"), a=page("a"))
    to(play, kind)
    for _ in range(10):  # a broker that is slow for long
        assert intended(play).ask.attempt == 1
        unsent(play)
        play.restart()
    play.run()
    end = play.of("crawl-ended")[-1]
    assert end.end == "completed"
    assert end.pages == 2
    sent = Counter(fact.kind for fact in play.of("request-ended") if fact.sent)
    assert end.requests == {name: count for name, count in sent.items() if count}
    assert "interrupted" not in end.outcomes


def test_A04_a_request_that_was_never_sent_is_recorded_so_and_is_no_outcome() -> None:
    play = started(_=page("home"))
    intended(play)
    unsent(play)
    (record,) = play.of("request-ended")
    assert (record.sent, record.final, record.outcome) == (False, False, "interrupted")
    play.run()
    numbers = [fact.number for fact in play.of("request-ended")]
    assert len(numbers) == len(set(numbers)), "its number is spent"


def test_A04_one_that_was_never_sent_before_its_crawl_was_stopped_has_its_outcome() -> None:
    play = started(_=page("home"))
    intended(play)
    play.say("suspend-site", by="ann", reason="so")
    unsent(play)
    (record,) = play.of("request-ended")
    assert (record.sent, record.final) == (False, True)


def test_E18_a_listed_page_for_pairs_is_given_back_to_its_own_budget() -> None:
    play = started(_=page("home"))
    to(play, Kind.PAGE)
    intended(play)
    (job,) = play.site.head.jobs
    assert job.ask is not None
    asked = job.model_copy(
        update={"ask": job.ask.model_copy(update={"pairs_only": True}), "requests": {PAIRS_ONLY: 1}}
    )
    play.site = type(play.site)(play.site.head.model_copy(update={"jobs": (asked,)}))
    (intent,) = play.site.head.intents
    assert jobs.unsent(play.site, intent, play.now).head.jobs[0].requests == {}


def test_A04_a_sitemap_that_is_cut_short_for_the_fifth_time_has_its_outcome() -> None:
    """Two sitemaps: tries are given up after three, so the fifth request is the second one's second."""
    robots = (
        200,
        {"Content-Type": "text/plain"},
        b"Sitemap: https://shop.example/1.xml\nSitemap: https://shop.example/2.xml\n",
    )
    named = {"/": page("home"), "/robots.txt": robots}
    play = Play(lambda path: named.get(path, not_found(path)))
    play.verify()
    play.say("crawl-requested", requester="customer")
    for _ in range(5):
        to(play, Kind.SITEMAP)
        intended(play)
        play.restart()
        play.commit(jobs.interrupted(play.site, play.site.head.intents, play.now, play.policy))
    play.run()
    finals = Counter(fact.url_id for fact in play.of("request-ended") if fact.final)
    asked = {fact.url_id for fact in play.of("request-ended")}
    assert set(finals) == asked
    assert set(finals.values()) == {1}
    end = play.of("crawl-ended")[-1]
    assert (end.end, end.requests["sitemap"]) == ("completed", 5)
    assert sum(end.outcomes.values()) == len(finals)


def test_F30_a_crawl_is_recognised_when_its_event_comes_again_after_more_than_are_remembered() -> None:
    play = started(_=page("home"))
    play.run()
    first = play.messages[0]
    for number in range(REMEMBERED + 5):
        play.say("address-saved", note=f"note {number}"[:20])
        play.run()
    assert mark_of(first.id) not in play.site.seen
    before = (len(play.requests), len(play.facts))
    play.hear(first)
    play.run()
    assert (len(play.requests), len(play.facts)) == before


def test_F30_one_that_comes_behind_a_later_one_is_heard() -> None:
    """After a rebalance an event can be handed on behind its successor; order is no proof of repetition."""
    play = started(_=page("home"))
    play.run()
    first = play.messages[0]
    for offset in (9, 8):
        origin = first.origin.model_copy(update={"offset": offset})
        play.hear(first.model_copy(update={"id": f"event {offset}", "origin": origin}))
        play.run()
    assert len(play.of("crawl-decided")) == 3
