"""Faults of hostile origins that the rules and the reading meet, by their ids; the fetcher meets the others."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.reading.bodies import read_page
from crawler.rules.robots import parse
from crawler.rules.site import Policy
from crawler.rules.urls import UrlRefused, canonical, host_from_address
from models.page import PageRead
from models.state import Account, Head
from models.web import Kind, Outcome, Response
from tests.jobs.driver import TEXT, Answer, Play, not_found, page


def site(pages: dict[str, Answer]) -> Play:
    return Play(lambda path: pages.get(path, not_found(path)))


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b$", "/" + "*" * 500, "/*a*a*a*a*a*a*a*a*a*a*a*b$"])
def test_F68_wildcards_in_robots_cost_no_time(pattern: str) -> None:
    rules = parse(f"User-agent: *\nDisallow: {pattern}\n".encode() * 50, "EmaIngestBot")
    began = time.process_time()
    for _ in range(20):
        rules.allows("https://shop.example/" + "a" * 1500)
    assert time.process_time() - began < 2.0


def test_F69_E15_a_robots_that_changes_during_the_crawl_holds_from_the_next_one_on() -> None:
    said = [b"User-agent: *\nDisallow: /b\n", b"User-agent: *\nDisallow: /a\n"]
    pages = {"/": page("home", "/a", "/b"), "/a": page("a"), "/b": page("b")}

    def handler(path: str) -> Answer:
        if path == "/robots.txt":
            return 200, TEXT, said[0]
        return pages.get(path, not_found(path))

    play = Play(handler)
    play.verify()
    play.say("crawl-requested", requester="customer")
    play.step()
    said.pop(0)
    play.run()
    assert {"/", "/a"} == set(play.asked(Kind.PAGE))
    play.say("crawl-requested", requester="customer")
    play.run()
    assert play.asked(Kind.PAGE)[2:] == ["/", "/b"]


@pytest.mark.parametrize("kind", ["calendar", "repeated", "fan"])
def test_F72_a_trap_ends_at_the_budget_and_says_so(kind: str) -> None:
    def handler(path: str) -> Answer:
        if path == "/robots.txt":
            return not_found(path)
        number = len(path)
        links = {
            "calendar": [f"/calendar/2026/{number}/{n}" for n in range(5)],
            "repeated": [f"{path.rstrip('/')}/a", f"{path.rstrip('/')}/a/b"],
            "fan": [f"/p{number}x{n}" for n in range(3000)],
        }[kind]
        return page(path, *links)

    play = Play(handler)
    end = play.crawl()
    assert len(play.asked(Kind.PAGE)) <= 120
    assert end.end in ("completed", "completed_partial")
    assert sum(map(len, play.records.values())) < 1_000_000


def response(body: bytes, media: str = "text/html") -> Response:
    return Response(Outcome.OK, 0.0, 0.0, 0.0, 200, (("Content-Type", media),), body)


@given(
    body=st.binary(max_size=400),
    media=st.sampled_from(["text/html", "text/html; charset=utf-7", "text/html; charset=x"]),
)
def test_F74_any_bytes_give_clean_text(body: bytes, media: str) -> None:
    read = read_page(response(b"<title>t</title><p>" + body, media), "https://shop.example/", "EmaIngestBot")
    assert isinstance(read, PageRead)
    text = read.reading.markdown + read.reading.title
    assert "\x00" not in text
    assert not any("\ud800" <= char <= "\udfff" for char in text)
    assert text.encode()


@given(host=st.text(min_size=1, max_size=30))
def test_F75_one_canonical_host_or_a_refusal(host: str) -> None:
    try:
        first = host_from_address(host)
    except UrlRefused:
        return
    assert host_from_address(first) == first
    assert host_from_address(unicodedata.normalize("NFD", host)) == first


@pytest.mark.parametrize(
    "url",
    ["//shop.example/a", "/./a", "/%61", "/a#x", "HTTPS://SHOP.EXAMPLE/a", "https://www.shop.example/a", "/b/../a"],
)
def test_F78_one_page_by_many_urls_is_asked_for_once(url: str) -> None:

    play = site({"/": page("home", "/a", url), "/a": page("a"), "/robots.txt": not_found("")})
    play.crawl()
    assert play.asked(Kind.PAGE) == ["/", "/a"]


@pytest.mark.parametrize(
    "url",
    [
        "mailto:a@b.c",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://shop.example/a",
        "/a?b=1",
        "tel:+39",
        "/" + "x" * 10_000,
    ],
)
def test_F79_other_schemes_queries_and_endless_paths_are_never_asked_for(url: str) -> None:
    play = site({"/": page("home", url), "/robots.txt": not_found("")})
    play.crawl()
    assert play.asked(Kind.PAGE) == ["/"]


def with_robots_meta(name: str, content: str) -> Answer:
    status, headers, body = page("home", "/a")
    return status, headers, body.replace(b"<title>", f'<meta name="{name}" content="{content}"><title>'.encode())


def test_F81_E28_noindex_is_recorded_and_withholds_nothing_from_the_owner() -> None:
    play = site({"/": with_robots_meta("robots", "noindex"), "/a": page("a"), "/robots.txt": not_found("")})
    play.crawl()
    kept = {content.url: content.noindex for content in play.contents if content.type == "page-fetched"}
    assert kept == {"https://shop.example/": True, "https://shop.example/a": False}


@pytest.mark.parametrize("name", ["robots", "CertantBot"])
def test_F81_C09_a_page_marked_noindex_is_not_added_by_certant(name: str) -> None:
    pages = {"/": with_robots_meta(name, "noindex"), "/a": page("a"), "/robots.txt": (200, TEXT, b"")}
    play = Play(lambda path: pages.get(path, not_found(path)), Policy(bots.load("certant"), b"k" * 32))
    head = {
        **play.site.head.model_dump(),
        "accounts": {"acme": Account(host=play.host, start="https://shop.example/")},
    }
    play.site = replace(play.site, head=Head.model_validate(head))
    play.say("site-confirmed", by="carla")
    play.say("crawl-requested", requester="customer")
    play.run()
    assert [c.url for c in play.contents if c.type == "page-fetched"] == ["https://shop.example/a"]
    assert "noindex" in [fact.outcome for fact in play.of("request-ended")]


@pytest.mark.parametrize(
    ("said", "kept"), [("0", 1.0), ("0.5", 1.0), ("1e9", 1.0), ("NaN", 1.0), ("-3", 1.0), ("999999999", 10.0)]
)
def test_F85_E15_nonsense_in_crawl_delay_is_ignored_and_excess_is_capped(said: str, kept: float) -> None:
    robots = (200, TEXT, f"User-agent: *\nCrawl-delay: {said}\n".encode())
    play = site({"/": page("home", "/a"), "/a": page("a"), "/robots.txt": robots})
    play.crawl()
    gaps = [later[0] - earlier[1] for earlier, later in zip(play.requests, play.requests[1:], strict=False)]
    assert min(gaps) == pytest.approx(kept, abs=1e-6)


def test_F79_http_links_of_the_site_are_asked_for_over_https() -> None:
    play = site({"/": page("home", "http://shop.example/a"), "/a": page("a"), "/robots.txt": not_found("")})
    play.crawl()
    assert {request.url.partition(":")[0] for _, _, request in play.requests} == {"https"}
    assert canonical("http://shop.example/a") == "https://shop.example/a"
