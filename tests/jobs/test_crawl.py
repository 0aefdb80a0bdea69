"""A crawl as a pure machine: order, budgets, refusals, restarts. The origin's view is `play.requests`."""

from __future__ import annotations

import itertools

import pytest

from crawler.rules import jobs
from models.web import Kind, Outcome
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found, page


def shop(**pages: Answer | Outcome) -> Play:
    """A site with these pages (`_` is `/`), no robots.txt unless given, and 404 elsewhere."""
    paths = {"/" if name == "_" else "/" + name.replace("__", "/"): said for name, said in pages.items()}
    paths.setdefault("/robots.txt", (404, TEXT, b""))
    return Play(lambda path: paths.get(path, not_found(path)))


def robots(text: str) -> Answer:
    return 200, TEXT, text.encode()


def test_E15_robots_is_read_first_and_once() -> None:
    play = shop(_=page("home", "/a", "/b"), a=page("a"), b=page("b"))
    end = play.crawl()
    assert play.asked()[0] == "/robots.txt"
    assert play.asked().count("/robots.txt") == 1
    assert (end.end, end.pages) == ("completed", 3)


@pytest.mark.parametrize("status", [401, 403, 429, 451, 418, 500, 502, 503, 599])
def test_E14_robots_unreadable_disallows_whole_domain(status: int) -> None:
    play = Play(lambda path: (status, HTML, b"") if path == "/robots.txt" else page(path))
    end = play.crawl()
    assert play.asked() == ["/robots.txt"]
    assert (end.end, end.pages) == ("refused_robots", 0)


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.CONNECT, Outcome.TLS, Outcome.DNS])
def test_E14_robots_without_an_answer_disallows_whole_domain(outcome: Outcome) -> None:
    play = Play(lambda path: outcome if path == "/robots.txt" else page(path))
    assert play.crawl().end == "refused_robots"
    assert play.asked() == ["/robots.txt"]


@pytest.mark.parametrize("status", [404, 410])
def test_E14_robots_absent_allows_everything(status: int) -> None:
    play = Play(lambda path: (status, HTML, b"") if path == "/robots.txt" else page(path))
    assert play.crawl().end == "completed"


def test_E14_robots_hops_within_the_site_are_followed_and_paced() -> None:
    hops = {f"/r{n}": (302, {"Location": f"/r{n + 1}"}, b"") for n in range(5)}
    hops["/robots.txt"] = (301, {"Location": "/r1"}, b"")
    hops["/r5"] = robots("User-agent: *\nDisallow: /a")
    play = Play(lambda path: hops.get(path, page(path, "/a")))
    end = play.crawl()
    assert play.asked(Kind.ROBOTS) == ["/robots.txt", "/r1", "/r2", "/r3", "/r4", "/r5"]
    assert "/a" not in play.asked()
    assert end.end == "completed"


def test_E14_robots_sixth_hop_disallows_whole_domain() -> None:
    play = Play(lambda path: (302, {"Location": f"{path}x"}, b""))
    assert play.crawl().end == "refused_robots"
    assert len(play.requests) == 6


def test_E14_robots_redirect_off_the_site_disallows_whole_domain() -> None:
    play = Play(lambda path: (302, {"Location": "https://other.example/robots.txt"}, b""))
    assert play.crawl().end == "refused_robots"
    assert play.asked() == ["/robots.txt"]


def test_E14_disallowed_pages_are_not_asked_for_and_are_recorded() -> None:
    play = shop(
        robots__txt=not_found(""), _=page("home", "/open", "/shut/1", "/shut/2"), open=page("open"),
    )  # fmt: skip
    play.handler = _with(play.handler, {"/robots.txt": robots("User-agent: EmaIngestBot\nDisallow: /shut")})
    end = play.crawl()
    assert not [path for path in play.asked() if path.startswith("/shut")]
    denied = [fact for fact in play.of("request-ended") if fact.outcome == "robots_denied"]
    assert [fact.sent for fact in denied] == [False, False]
    assert end.outcomes["robots_denied"] == 2


def test_E15_crawl_delay_holds_from_the_first_page_on_and_is_capped_at_ten() -> None:
    for said, kept in ((3, 3.0), (0.2, 1.0), (60, 10.0)):
        play = shop(_=page("home", "/a"), a=page("a"))
        play.handler = _with(play.handler, {"/robots.txt": robots(f"User-agent: *\nCrawl-delay: {said}")})
        play.crawl()
        assert min(gaps(play)) == pytest.approx(kept, abs=1e-6)


def test_E16_requests_of_every_kind_are_a_second_apart() -> None:
    play = shop(_=page("home", "/a", "/b"), a=(301, {"Location": "/c"}, b""), b=(503, HTML, b""), c=page("c"))
    play.crawl()
    assert len(play.requests) > 6
    assert min(gaps(play)) >= 1.0 - 1e-6


def test_E18_sixty_pages_are_kept_and_then_the_crawl_ends() -> None:
    play = Play(lambda path: endless(path) if path != "/robots.txt" else not_found(path))
    end = play.crawl()
    assert (end.end, end.pages) == ("completed", 60)
    assert len({content.url for content in play.contents if content.type == "page-fetched"}) == 60


def test_E18_at_most_120_page_requests_redirects_and_retries_within() -> None:
    def handler(path: str) -> Answer:
        number = int(path.strip("/p") or 0) if path.strip("/p").isdigit() or path == "/" else 0
        if path == "/robots.txt":
            return not_found(path)
        if path == "/":
            return page("home", *(f"/p{n}" for n in range(1, 200)))
        return (301, {"Location": f"/p{number + 1000}"}, b"") if number % 2 else (503, HTML, b"")

    play = Play(handler)
    end = play.crawl()
    assert len(play.asked(Kind.PAGE)) == 120
    assert end.requests["page"] == 120
    assert end.end == "completed_partial"


def test_E18_at_most_five_sitemap_requests_hops_included() -> None:
    index = b"<sitemapindex>" + b"".join(b"<sitemap><loc>/s%d.xml</loc></sitemap>" % n for n in range(20))
    xml = {"Content-Type": "application/xml"}

    def handler(path: str) -> Answer:
        if path == "/sitemap.xml":
            return 301, {"Location": "/index.xml"}, b""
        if path == "/index.xml":
            return 200, xml, index.replace(b"<loc>", b"<loc>https://shop.example") + b"</sitemapindex>"
        if path.startswith("/s"):
            return 200, xml, b"<urlset><url><loc>https://shop.example%s-page</loc></url></urlset>" % path.encode()
        return page(path) if path != "/robots.txt" else not_found(path)

    play = Play(handler)
    play.crawl()
    assert play.asked(Kind.SITEMAP) == ["/sitemap.xml", "/index.xml", "/s0.xml", "/s1.xml", "/s2.xml"]
    assert "/s0.xml-page" in play.asked(Kind.PAGE)


def test_E19_a_refused_page_is_asked_for_twice_more_the_wait_doubling() -> None:
    play = shop(_=page("home", "/busy", "/later"), busy=(503, HTML, b""), later=page("later"))
    end = play.crawl()
    asked = [(start, stop) for start, stop, r in play.requests if r.url.endswith("/busy")]
    waits = [later[0] - first[1] for first, later in itertools.pairwise(asked)]
    assert waits == pytest.approx([1.0, 2.0])
    assert "/later" in play.asked()
    assert end.end == "completed"
    finals = [fact.final for fact in play.of("request-ended") if fact.outcome == "rate_limited"]
    assert finals == [False, False, True]


def test_E19_a_long_retry_after_means_no_retry_and_404_is_never_retried() -> None:
    play = shop(_=page("home", "/busy", "/gone"), busy=(429, {"Retry-After": "13", **HTML}, b""))
    play.crawl()
    assert play.asked().count("/busy") == 1
    assert play.asked().count("/gone") == 1


def test_E20_other_hosts_queries_and_subdomains_are_never_asked_for() -> None:
    links = ("/a?x=1", "https://other.example/", "https://blog.shop.example/", "mailto:a@b.c", "javascript:x", "/a")
    play = shop(_=page("home", *links), a=(302, {"Location": "https://other.example/x"}, b""))
    play.crawl()
    assert play.asked(Kind.PAGE) == ["/", "/a"]
    assert play.of("request-ended")[-1].outcome == "redirected_offsite"


def test_E20_a_body_over_two_million_bytes_is_recorded_as_too_large() -> None:
    play = shop(
        _=page("home", "/big", "/fits"), big=(200, HTML, b"x" * 2_000_001), fits=(200, HTML, b"y " * 1_000_000)
    )
    end = play.crawl()
    assert end.outcomes["too_large"] == 1


def test_E06_links_to_the_www_twin_are_pages_of_the_same_site() -> None:
    play = shop(_=page("home", "https://www.shop.example/a", "/a"), a=page("a"))
    play.crawl()
    assert play.asked(Kind.PAGE) == ["/", "/a"]


def test_E06_E15_a_start_page_that_moves_to_the_twin_moves_the_crawl_and_reads_its_robots() -> None:
    def handler(url: str) -> Answer:
        host, _, path = url.removeprefix("https://").partition("/") if "://" in url else ("", "", url[1:])
        if host != "www.shop.example":
            return (
                (301, {"Location": f"https://www.shop.example/{path}"}, b"")
                if path != "robots.txt"
                else not_found("")
            )
        return (
            robots("User-agent: *\nDisallow: /shut") if path == "robots.txt" else page(f"w{path}", "/open", "/shut")
        )

    play = Play(handler)
    end = play.crawl()
    assert end.pages == 2
    assert not [url for url in play.asked() if url.endswith("/shut")]
    assert play.asked().count("https://www.shop.example/robots.txt") == 1


def test_E04_other_types_are_refused_and_the_crawl_goes_on() -> None:
    pdf = (200, {"Content-Type": "application/pdf"}, b"%PDF")
    end = shop(_=page("home", "/doc", "/a"), doc=pdf, a=page("a")).crawl()
    assert (end.outcomes["refused_type"], end.pages) == (1, 2)


def test_E26_a_challenge_is_reported_and_not_retried() -> None:
    wall = (429, {"cf-mitigated": "challenge", **HTML}, b"")
    play = shop(_=page("home", "/wall"), wall=wall)
    play.crawl()
    assert play.asked().count("/wall") == 1
    assert play.of("request-ended")[-1].outcome == "blocked_challenge"


def test_A04_every_url_taken_up_has_one_final_outcome_and_the_crawl_one_end() -> None:
    play = Play(lambda path: endless(path) if path != "/robots.txt" else not_found(path))
    end = play.crawl()
    finals = [fact.url_id for fact in play.of("request-ended") if fact.final]
    assert len(finals) == len(set(finals))
    assert sum(end.outcomes.values()) == len(finals)
    assert len(play.of("crawl-ended")) == 1


def test_A03_a_crawl_goes_on_where_it_was_when_another_worker_takes_over() -> None:
    straight, broken = (
        Play(lambda path: endless(path, 30) if path != "/robots.txt" else not_found(path)) for _ in "ab"
    )
    straight.crawl()
    broken.verify()
    broken.say("crawl-requested", requester="customer")
    while broken.step():
        broken.restart()
    assert broken.asked() == straight.asked()
    assert [fact.id for fact in broken.facts] == [fact.id for fact in straight.facts]


def test_E18_A04_a_request_cut_short_is_counted_recorded_and_asked_again() -> None:
    play = shop(_=page("home", "/a"), a=page("a"))
    play.verify()
    play.say("crawl-requested", requester="customer")
    play.step()
    plan = jobs.plan(play.site, play.now, play.policy)
    assert isinstance(plan, jobs.Send)
    play.commit(jobs.intend(play.site, plan, "w", play.now).change)  # and the worker dies here
    play.restart()
    play.run()
    end = play.of("crawl-ended")[-1]
    assert [f.outcome for f in play.of("request-ended")].count("interrupted") == 1
    assert end.requests["sitemap"] == 2
    assert end.end == "completed"


def test_A04_a_url_that_kills_its_worker_is_given_up_after_three_tries() -> None:
    play = shop(_=page("home"))
    play.verify()
    play.say("crawl-requested", requester="customer")
    for _ in range(20):
        plan = jobs.plan(play.site, play.now, play.policy)
        if isinstance(plan, jobs.Send):
            play.commit(jobs.intend(play.site, plan, "w", play.now).change)
        elif isinstance(plan, jobs.Done):
            play.commit(plan.change)
        else:
            break
        if left := jobs.left_open(play.site, ()):
            play.commit(jobs.interrupted(play.site, left, play.now, play.policy))
    assert [fact.end for fact in play.of("crawl-ended")] == ["refused_robots"]
    assert len(play.of("request-ended")) == 3


def test_E25_suspension_ends_the_crawl_before_its_next_request() -> None:
    play = Play(lambda path: endless(path) if path != "/robots.txt" else not_found(path))
    play.verify()
    play.say("crawl-requested", requester="customer")
    for _ in range(5):
        play.step()
    before = len(play.requests)
    play.say("suspend-site", by="anna", reason="asked by mail")
    assert not play.step()
    assert len(play.requests) == before
    assert [fact.end for fact in play.of("crawl-ended")] == ["suspended"]
    play.say("crawl-requested", requester="customer")
    assert play.of("crawl-decided")[-1].refusal == "suspended"
    play.say("resume-site", by="anna", reason="owner agreed")
    play.say("crawl-requested", requester="customer")
    assert play.of("crawl-decided")[-1].accepted


def endless(path: str, most: int = 10_000) -> Answer:
    number = int("".join(filter(str.isdigit, path)) or 0)
    return page(f"page number {number}", *(f"/p{n}" for n in range(number * 3 + 1, min(most, number * 3 + 4))))


def gaps(play: Play) -> list[float]:
    return [later[0] - earlier[1] for earlier, later in itertools.pairwise(play.requests)]


def _with(handler, more):  # type: ignore[no-untyped-def]
    return lambda path: more.get(path) or handler(path)
