"""What only the other bots' profiles do: robots.txt across crawls (W03), links by the sitemap (W07), pauses (W06)."""

from __future__ import annotations

from dataclasses import replace

import pytest

import bots
from crawler.rules.site import Policy
from crawler.rules.tokens import token
from models.state import Account, Head
from models.web import Kind
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found, page

XML = {"Content-Type": "application/xml"}


def wembi(pages: dict[str, Answer]) -> Play:
    """A site on the operator's list, read as WembiBot."""
    play = Play(lambda path: pages.get(path, not_found(path)), Policy(bots.load("wembi"), b"k" * 32))
    head = {**play.site.head.model_dump(), "accounts": {"acme": Account(host=play.host)}}
    play.site = replace(play.site, head=Head.model_validate(head))
    play.say("list-site", by="anna", reason="picked by hand")
    return play


def run(play: Play) -> None:
    play.say("start-crawl", by="anna")
    assert play.of("crawl-decided")[-1].accepted, play.of("crawl-decided")[-1]
    play.run()


def sitemap(*paths: str) -> Answer:
    urls = "".join(f"<url><loc>https://shop.example{path}</loc></url>" for path in paths)
    return 200, XML, f"<urlset>{urls}</urlset>".encode()


def test_W03_robots_is_kept_across_runs_and_read_again_after_a_day() -> None:
    play = wembi({"/robots.txt": (200, TEXT, b"User-agent: *\nDisallow: /shut"), "/": page("home", "/shut")})
    run(play)
    play.restart()
    run(play)
    assert play.asked(Kind.ROBOTS) == ["/robots.txt"]
    assert "/shut" not in play.asked()
    play.now += 86_401
    run(play)
    assert play.asked(Kind.ROBOTS) == ["/robots.txt", "/robots.txt"]


def test_W03_a_rule_takes_effect_on_the_next_visit_when_the_file_says_so_itself() -> None:
    pages = {
        "/robots.txt": (200, {**TEXT, "Cache-Control": "max-age=3600"}, b""),
        "/": page("home", "/a"),
        "/a": page("a"),
    }
    play = wembi(pages)
    run(play)
    pages["/robots.txt"] = (200, TEXT, b"User-agent: *\nDisallow: /a")
    play.now += 3_601
    asked = len(play.requests)
    run(play)
    assert "https://shop.example/a" not in [request.url for _, _, request in play.requests[asked:]]


def test_E15_robots_is_read_anew_for_every_crawl_of_the_default_bot() -> None:
    play = Play(lambda path: page(path) if path != "/robots.txt" else (200, TEXT, b""))
    play.crawl()
    play.say("crawl-requested", requester="customer")
    play.run()
    assert len(play.asked(Kind.ROBOTS)) == 2


def test_W07_with_a_sitemap_unlisted_pages_are_checked_once_and_their_links_are_not_followed() -> None:
    play = wembi(
        {
            "/robots.txt": (200, TEXT, b""), "/sitemap.xml": sitemap("/", "/listed"), "/": page("home", "/unlisted"),
            "/listed": page("listed"), "/unlisted": page("unlisted", "/deeper"), "/deeper": page("deeper"),
        }
    )  # fmt: skip
    run(play)
    asked = play.asked(Kind.PAGE)
    assert asked.index("/listed") < asked.index("/unlisted")
    assert "/deeper" not in asked


def test_W07_without_a_sitemap_links_within_the_site_are_followed_but_for_nofollow() -> None:
    away = (200, HTML, page("away")[2].replace(b"</main>", b"<a rel='nofollow' href='/no'>no</a></main>"))
    play = wembi({"/robots.txt": (200, TEXT, b""), "/": page("home", "/a"), "/a": page("a", "/b"), "/b": away})
    run(play)
    assert "/b" in play.asked()
    assert "/no" not in play.asked()


def test_W05_three_seconds_and_three_times_the_last_response() -> None:
    play = wembi({"/robots.txt": (200, TEXT, b""), "/": page("home", "/a"), "/a": page("a")})
    play.took = 2.0
    run(play)
    gaps = [later[0] - earlier[1] for earlier, later in zip(play.requests, play.requests[1:], strict=False)]
    assert min(gaps) == pytest.approx(6.0)


def test_W06_a_pause_holds_across_runs_and_restarts() -> None:
    busy = (503, {**HTML, "Retry-After": "7200"}, b"")
    play = wembi({"/robots.txt": (200, TEXT, b""), "/": busy})
    play.say("start-crawl", by="anna")
    for _ in range(4):
        if not play.step():
            break
    until = play.site.head.pause_until
    assert until > play.now
    play.restart()
    assert play.site.head.pause_until == until


def test_C05_the_token_file_of_certant_proves_the_site() -> None:
    path = "/.well-known/certant-verification.txt"
    for theirs, kind in ((False, "verified"), (True, "verification-failed")):
        policy = Policy(bots.load("certant"), b"k" * 32)
        account = "other" if theirs else "acme"
        play = Play(not_found, policy)
        mine = token(policy.token_key, "certant", account, play.host, play.now)
        files = {path: (200, TEXT, mine.encode()), "/robots.txt": (200, TEXT, b"")}
        play.handler = lambda asked, files=files: files.get(asked, not_found(asked))  # type: ignore[misc]
        play.say("verification-requested", method="token_file")
        play.run()
        assert path in play.asked()
        assert play.of(kind), play.facts
