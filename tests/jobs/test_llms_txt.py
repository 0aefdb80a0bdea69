"""One request for `/llms.txt` in a crawl of a whole site, for the bot that announces it (W08, A01)."""

from __future__ import annotations

from typing import Any

import pytest

import bots
from crawler.rules.site import Policy
from models import ids
from models.web import Kind, Outcome
from tests.jobs.driver import HTML, TEXT, Play, page
from tests.jobs.test_policies import run, sitemap, wembi
from tests.jobs.test_revisits import cut_short

MARKDOWN = (200, {"Content-Type": "text/markdown"}, b"# Shop\n\n- [Secret](https://shop.example/secret)\n")


def shop(llms: Any, robots: bytes = b"") -> Play:
    return wembi(
        {
            "/robots.txt": (200, TEXT, robots), "/sitemap.xml": sitemap("/", "/a"), "/llms.txt": llms,
            "/": page("home", "/a", "/llms.txt"), "/a": page("a"),
        }
    )  # fmt: skip


def records(play: Play) -> list[tuple[str, bool, bool]]:
    """Of `/llms.txt`: outcome, whether it was sent, whether it was the last word."""
    wanted = ids.url_id("https://shop.example/llms.txt")
    return [(fact.outcome, fact.sent, fact.final) for fact in play.of("request-ended") if fact.url_id == wanted]


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (MARKDOWN, "ok"),
        ((200, TEXT, b"x"), "ok"),
        ((200, HTML, b"<p>x</p>"), "refused_type"),
        ((200, TEXT, b"x" * 600_000), "too_large"),
        ((404, HTML, b""), "http_4xx"),
        ((500, HTML, b""), "http_5xx"),
        ((401, HTML, b""), "blocked_login"),
        ((301, {"Location": "/a"}, b""), "redirected"),
        (Outcome.TIMEOUT, "timeout"),
    ],
)
def test_W08_one_request_whatever_comes_and_the_crawl_goes_on(said: Any, outcome: str) -> None:
    play = shop(said)
    run(play)
    assert play.asked()[:3] == ["/robots.txt", "/llms.txt", "/sitemap.xml"]
    assert play.asked().count("/llms.txt") == 1
    assert records(play) == [(outcome, True, True)]
    end = play.of("crawl-ended")[0]
    assert (end.end, end.pages, end.requests["page"], end.requests["llms_txt"]) == ("completed", 2, 2, 1)
    assert "/secret" not in play.asked()
    assert not [fact for fact in play.contents if fact.type == "page-fetched" and fact.url.endswith("llms.txt")]


def test_W05_W08_it_keeps_the_pace() -> None:
    play = shop(MARKDOWN)
    run(play)
    gaps = [later[0] - earlier[1] for earlier, later in zip(play.requests, play.requests[1:], strict=False)]
    assert min(gaps) >= 3.0


def test_W06_W08_a_refusal_pauses_the_site_and_is_not_tried_again() -> None:
    play = shop((503, {**HTML, "Retry-After": "7200"}, b""))
    play.say("start-crawl", by="anna")
    play.step()
    play.step()
    assert play.asked() == ["/robots.txt", "/llms.txt"]
    assert play.site.head.pause_until >= play.now + 7_199
    play.run()
    assert play.asked().count("/llms.txt") == 1


def test_W03_W08_robots_txt_may_deny_it() -> None:
    play = shop(MARKDOWN, b"User-agent: *\nDisallow: /llms.txt\n")
    run(play)
    assert "/llms.txt" not in play.asked()
    assert records(play) == [("robots_denied", False, True)]


def test_W08_one_that_was_cut_short_is_not_made_again() -> None:
    play = shop(MARKDOWN)
    play.say("start-crawl", by="anna")
    cut_short(play, "/llms.txt")
    play.restart()
    play.run()
    assert records(play) == [("interrupted", True, False), ("over_budget", False, True)]
    assert play.of("crawl-ended")[0].end == "completed"


def test_W08_not_for_a_list_of_pages() -> None:
    play = shop(MARKDOWN)
    play.say("address-saved", scope=("https://shop.example/a",))
    run(play)
    assert play.asked(Kind.LLMS_TXT) == []


def test_W08_the_next_crawl_asks_once_more() -> None:
    play = shop(MARKDOWN)
    run(play)
    run(play)
    assert play.asked().count("/llms.txt") == 2


@pytest.mark.parametrize("bot", ["ema", "certant"])
def test_A01_W08_no_other_bot_asks_for_it(bot: str) -> None:
    play = Play(
        lambda path: page(path) if path != "/robots.txt" else (200, TEXT, b""), Policy(bots.load(bot), b"k" * 32)
    )
    play.verify()
    play.say("site-confirmed")
    play.say("start-crawl")
    play.run()
    assert len(play.asked(Kind.PAGE)) == 1
    assert "/llms.txt" not in play.asked()
