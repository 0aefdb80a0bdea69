"""The pages of a site, to choose from (E05, E16, E18, E22), and the scope that is chosen."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.rules.urls import path_of
from models.events import PagesListed
from models.web import Kind, Outcome
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found, page

XML = {"Content-Type": "application/xml"}


def sitemap(*paths: str) -> Answer:
    locs = "".join(f"<url><loc>https://shop.example{path}</loc></url>" for path in paths)
    return 200, XML, f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{locs}</urlset>".encode()


def shop(**more: Any) -> Play:
    links = '<a href="/faq">Questions</a> <a href="/hours">Opening hours</a> <a href="/x.pdf">Menu</a>'
    links += '<a href="https://other.example/">Other</a> <a href="/q?x=1">Query</a> <a href="/secret/a">No</a>'
    home = f"<title>The shop</title><main><p>{'We sell pots, and have for long. ' * 4}</p>{links}</main>"
    pages: dict[str, Any] = {
        "/": (200, HTML, home.encode()),
        "/robots.txt": (200, TEXT, b"User-agent: *\nDisallow: /secret/"),
        "/sitemap.xml": sitemap("/hours", "/about", "/secret/b"),
        **more,
    }
    return Play(lambda path: pages.get(path, not_found(path)))


def listed(play: Play) -> PagesListed:
    play.verify()
    play.say("listing-requested")
    play.run()
    found: PagesListed = next(content for content in play.contents if content.type == "pages-listed")
    return found


def test_E18_a_listing_asks_for_robots_sitemaps_and_one_homepage() -> None:
    play = shop()
    found = listed(play)
    assert play.asked() == ["/robots.txt", "/sitemap.xml", "/"]
    assert {path_of(page.url): page.title for page in found.pages} == {
        "/": "The shop", "/faq": "Questions", "/hours": "Opening hours", "/about": "",
    }  # fmt: skip
    assert found.pages[0].url == "https://shop.example/"
    assert play.of("crawl-ended")[0].end == "completed"
    assert play.of("crawl-decided")[0].kind == "listing"


def test_E16_E17_a_listing_has_its_own_pace_and_timeout() -> None:
    play = shop()
    listed(play)
    gaps = [later[0] - earlier[1] for earlier, later in zip(play.requests, play.requests[1:], strict=False)]
    assert gaps == [pytest.approx(0.5)] * 2
    assert {request.timeout for _, _, request in play.requests} == {6.0}


def test_E18_at_most_five_sitemaps_hops_included() -> None:
    index = "".join(f"<sitemap><loc>https://shop.example/s{n}.xml</loc></sitemap>" for n in range(9))
    whole = f"<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{index}</sitemapindex>".encode()
    more = {f"/s{n}.xml": sitemap(f"/p{n}") for n in range(9)}
    play = shop(**{"/sitemap.xml": (200, XML, whole), **more})
    listed(play)
    assert len(play.asked(Kind.SITEMAP)) == 5
    assert len(play.asked(Kind.PAGE)) == 1


def test_E05_a_listing_needs_the_account_s_own_proof() -> None:
    play = shop()
    play.verify("rival")
    play.say("listing-requested")
    play.run()
    assert not play.requests
    fact = play.of("crawl-decided")[0]
    assert (fact.kind, fact.accepted, fact.refusal) == ("listing", False, "unverified")


def test_E21_a_listing_counts_towards_no_day() -> None:
    play = shop()
    listed(play)
    assert play.site.head.starts == {}


def test_E05_a_second_listing_is_refused_while_one_runs_and_a_crawl_is_not() -> None:
    play = shop()
    play.verify()
    play.say("listing-requested")
    play.say("listing-requested")
    play.say("crawl-requested")
    assert [fact.refusal for fact in play.of("crawl-decided")] == [None, "running", None]
    play.run()
    assert len(play.of("crawl-ended")) == 2


@pytest.mark.parametrize(
    ("home", "outcome"),
    [
        ((500, HTML, b""), "http_5xx"),
        ((302, {"Location": "/it/"}, b""), "redirected"),
        ((429, HTML, b""), "rate_limited"),
        (Outcome.TIMEOUT, "timeout"),
        ((403, {**HTML, "cf-mitigated": "challenge"}, b""), "blocked_challenge"),
    ],
)
def test_E18_a_homepage_that_cannot_be_read_leaves_what_the_sitemaps_gave(home: Any, outcome: str) -> None:
    play = shop(**{"/": home})
    found = listed(play)
    assert [path_of(page.url) for page in found.pages] == ["/", "/hours", "/about"]
    assert len(play.asked(Kind.PAGE)) == 1
    assert play.of("request-ended")[-1].outcome == outcome


def test_E14_a_listing_of_a_site_that_robots_closes_is_answered_with_the_reason() -> None:
    play = shop(**{"/robots.txt": (503, TEXT, b"")})
    found = listed(play)
    assert (found.pages, found.end) == ((), "refused_robots")
    assert play.asked() == ["/robots.txt"]


def test_E14_a_homepage_that_robots_denies_is_not_asked_for() -> None:
    play = shop(**{"/robots.txt": (200, TEXT, b"User-agent: *\nDisallow: /$")})
    found = listed(play)
    assert "/" not in play.asked()
    assert [path_of(page.url) for page in found.pages] == ["/hours", "/about", "/secret/b"]
    assert [fact.outcome for fact in play.of("request-ended") if not fact.sent] == ["robots_denied"]


def test_E25_a_suspension_ends_a_listing_and_it_is_answered() -> None:
    play = shop()
    play.verify()
    play.say("listing-requested")
    play.step()
    play.say("suspend-site")
    assert not play.step()
    found = next(content for content in play.contents if content.type == "pages-listed")
    assert (found.end, found.pages) == ("suspended", ())


def test_A03_a_listing_goes_on_at_another_worker() -> None:
    play = shop()
    play.verify()
    play.say("listing-requested")
    for _ in range(2):
        play.step()
        play.restart()
    play.run()
    assert len(next(content for content in play.contents if content.type == "pages-listed").pages) == 4


def test_F44_a_listing_is_cut_before_it_is_too_large_for_the_broker() -> None:
    long = [f"/{'x' * 1900}{number}" for number in range(600)]
    body = "".join(f"<a href='{path}'>{'wide ' * 40}</a>" for path in long)
    play = shop(**{"/": (200, HTML, f"<main>{body}</main>".encode())})
    found = listed(play)
    assert found.cut
    assert 100 < len(found.pages) < 600
    assert len(found.model_dump_json()) < 900_000


# --- the chosen scope


def chosen(*paths: str, **pages: Any) -> Play:
    play = shop(**pages)
    play.verify()
    play.say("address-saved", scope=tuple(f"https://shop.example{path}" for path in paths))
    play.run()
    play.requests.clear()
    play.say("crawl-requested")
    play.run()
    return play


def test_E22_the_chosen_pages_are_all_that_is_read() -> None:
    play = chosen("/hours", "/about", **{"/hours": page("hours", "/more", "/about"), "/about": page("about", "/z")})
    assert play.asked() == ["/robots.txt", "/hours", "/about"]
    assert play.of("crawl-ended")[0].pages == 2


def test_E18_pages_of_questions_are_read_for_their_pairs_alone() -> None:
    faq = "<main><h1>Questions</h1><p>Ask us anything about pots, and we will answer as well as we can.</p>"
    faq += "<details><summary>Are you open on Sundays?</summary><p>Yes, from nine to noon.</p></details></main>"
    pages = {"/hours": page("hours", "/faq", "/other"), "/faq": (200, HTML, faq.encode())}
    play = chosen("/hours", **pages)
    assert play.asked(Kind.PAGE) == ["/hours", "/faq"]
    ended = play.of("crawl-ended")[0]
    assert (ended.pages, ended.requests["page"], ended.requests["page_for_pairs"]) == (1, 1, 1)
    extra = next(content for content in play.contents if content.type == "page-fetched" and content.pairs_only)
    assert (extra.text, extra.facts) == ("", ())
    assert extra.pairs[0]["question"] == "Are you open on Sundays?"


def test_E18_sixty_listed_pages_and_twenty_for_pairs_and_no_more() -> None:
    questions = [f"/faq/q{number}" for number in range(40)]

    def endless(path: str) -> Answer:
        return not_found(path) if path == "/robots.txt" else page(f"page {path} of many words", *questions)

    play = Play(endless)
    play.verify()
    play.say("address-saved", scope=tuple(f"https://shop.example/p{number}" for number in range(60)))
    play.say("crawl-requested")
    play.run()
    ended = play.of("crawl-ended")[0]
    assert (ended.requests["page"], ended.requests["page_for_pairs"]) == (60, 20)
    assert ended.pages <= 60
    assert ended.end == "completed_partial"


@pytest.mark.parametrize(
    "scope",
    [
        (),
        tuple(f"https://shop.example/p{number}" for number in range(61)),
        ("https://other.example/a",),
        ("https://shop.example/a", "https://sub.shop.example/a"),
        ("https://shop.example/a?x=1",),
        ("https://shop.example:8443/a",),
    ],
)
def test_E18_E20_E22_a_scope_that_may_not_be_read_is_refused_whole_and_the_one_before_it_stays(
    scope: tuple[str, ...],
) -> None:
    play = shop()
    play.say("address-saved", scope=("https://shop.example/hours",))
    play.say("address-saved", scope=scope)
    fact = play.of("settings-saved")[-1]
    assert fact.scope == ("https://shop.example/hours",)
    assert fact.refused["scope"]


def test_E22_a_list_that_is_taken_back_in_mid_crawl_does_not_widen_it() -> None:
    play = shop(**{"/hours": page("hours", "/more"), "/about": page("about", "/more")})
    play.verify()
    play.say("address-saved", scope=("https://shop.example/hours", "https://shop.example/about"))
    play.run()
    play.say("crawl-requested")
    play.step()
    play.step()
    play.say("address-saved")
    play.run()
    assert "/more" not in play.asked()


def test_E22_a_hand_listed_site_is_not_crawled_on_the_schedule() -> None:
    play = shop()
    play.verify()
    play.say("address-saved", scope=("https://shop.example/hours",))
    play.say("crawl-requested", requester="schedule")
    assert play.of("crawl-decided")[0].refusal == "scope"


def test_E20_a_start_page_with_a_query_is_asked_for_without_it() -> None:
    play = shop()
    play.verify()
    play.say("crawl-requested", path="/?utm=1")
    play.run()
    assert "/" in play.asked()
    assert not [path for path in play.asked() if "?" in path]
