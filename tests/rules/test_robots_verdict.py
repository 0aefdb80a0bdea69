from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.robots_verdict import Ground, Verdict, judge, lifetime
from models.profile import Profile
from models.web import Outcome, Response
from tests.rules.answers import answer

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))
FIRST = "https://example.com/robots.txt"
PAGE = "https://example.com/a"
TEXT = (("Content-Type", "text/plain"),)


def verdict(response: Response, profile: Profile = EMA, hops: int = 0, at: str = FIRST) -> Verdict:
    judged = judge(response, at, FIRST, hops, profile)
    assert isinstance(judged, Verdict)
    return judged


def redirect(location: str, profile: Profile = EMA, hops: int = 0, at: str = FIRST) -> Verdict | str:
    return judge(answer(301, headers=(("Location", location),)), at, FIRST, hops, profile)


@pytest.mark.parametrize("status", [404, 410])
def test_E14_absence_allows_everything(status: int) -> None:
    assert verdict(answer(status)).ground is Ground.ABSENT
    assert verdict(answer(status)).allows(PAGE)


@pytest.mark.parametrize("status", [s for s in range(200, 600) if s not in (200, 404, 410)])
def test_E14_any_other_status_disallows_the_whole_domain(status: int) -> None:
    judged = judge(answer(status), FIRST, FIRST, 0, EMA)
    assert isinstance(judged, Verdict)
    assert judged.denies_all
    assert not judged.allows(PAGE)
    assert not judged.decide(PAGE).allowed


@pytest.mark.parametrize(
    "outcome", [Outcome.TIMEOUT, Outcome.CONNECT, Outcome.TLS, Outcome.DNS, Outcome.PROTOCOL, Outcome.REFUSED_ADDRESS]
)
@pytest.mark.parametrize("profile", [EMA, WEMBI, CERTANT], ids=lambda p: p.name)
def test_E14_W03_C07_no_answer_disallows_the_whole_domain(outcome: Outcome, profile: Profile) -> None:
    assert verdict(answer(None, outcome=outcome), profile).denies_all


def test_E14_robots_is_obeyed_for_the_product_token() -> None:
    body = b"User-agent: EmaIngestBot\nDisallow: /a\nUser-agent: *\nDisallow: /b\n"
    judged = verdict(answer(200, body, TEXT))
    assert not judged.allows(PAGE)
    assert judged.allows("https://example.com/b")
    assert judged.decide(PAGE).rule == "disallow: /a"


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (b"<!DOCTYPE html><title>x</title>", "text/html"),
        (b"\n <html><body>User-agent: *</body></html>", "text/plain"),
        (b"Not found", "text/html; charset=utf-8"),
        (b"User-agent: *\n<HTML>\nAllow: /", "text/plain"),
    ],
)
def test_E14_a_200_that_is_an_html_page_is_not_a_readable_file(body: bytes, media: str) -> None:
    assert verdict(answer(200, body, (("Content-Type", media),))).ground is Ground.HTML


@pytest.mark.parametrize(
    ("body", "media"),
    [(b"%PDF-1.7", "application/pdf"), (b"{}", "application/json"), (b"\x89PNG\x00\x00", "text/plain")],
)
def test_E14_what_is_no_text_is_not_a_readable_file(body: bytes, media: str) -> None:
    assert verdict(answer(200, body, (("Content-Type", media),))).ground is Ground.NOT_TEXT


@pytest.mark.parametrize("media", ["text/plain", "text/html", "application/octet-stream", ""])
def test_E14_a_plain_file_is_readable_whatever_it_is_called(media: str) -> None:
    judged = verdict(answer(200, b"User-agent: *\nDisallow: /a\n", (("Content-Type", media),)))
    assert judged.ground is Ground.READABLE
    assert not judged.allows(PAGE)


def test_E14_an_empty_file_is_readable_and_allows() -> None:
    assert verdict(answer(200, b"", TEXT)).allows(PAGE)


def test_E14_a_redirect_within_the_site_is_followed_at_most_five_hops() -> None:
    assert redirect("https://www.example.com/robots.txt") == "https://www.example.com/robots.txt"
    assert redirect("/r.txt", hops=4) == "https://example.com/r.txt"
    last = redirect("/r.txt", hops=5)
    assert isinstance(last, Verdict)
    assert last.ground is Ground.HOPS


def test_E14_a_redirect_off_the_site_disallows_the_whole_domain() -> None:
    judged = redirect("https://other.example/robots.txt")
    assert isinstance(judged, Verdict)
    assert judged.ground is Ground.OFFSITE
    assert judged.denies_all


@pytest.mark.parametrize(
    "location", ["", "ftp://example.com/", "https://example.com:8443/", "/robots.txt?x=1", "\udce9"]
)
def test_E14_a_redirect_that_cannot_be_followed_disallows(location: str) -> None:
    judged = redirect(location)
    assert isinstance(judged, Verdict)
    assert judged.denies_all


def test_E14_a_redirect_to_itself_is_a_loop() -> None:
    judged = redirect("http://example.com/robots.txt")
    assert isinstance(judged, Verdict)
    assert judged.ground is Ground.HOPS


@pytest.mark.parametrize("profile", [EMA, WEMBI, CERTANT], ids=lambda p: p.name)
@pytest.mark.parametrize("status", [200, 202, 403, 404, 429, 503])
def test_E14_W03_C07_a_challenge_disallows_whatever_its_status(profile: Profile, status: int) -> None:
    judged = verdict(answer(status, b"x", (("cf-mitigated", "challenge"),)), profile)
    assert judged.ground is Ground.BLOCKED
    assert judged.denies_all


def test_E15_the_verdict_survives_storing() -> None:
    for response in (answer(200, b"User-agent: *\nDisallow: /a\nCrawl-delay: 7", TEXT), answer(404), answer(500)):
        judged = verdict(response)
        again = Verdict.from_bytes(judged.to_bytes())
        assert again == judged
        assert again.allows(PAGE) is judged.allows(PAGE)
        assert again.crawl_delay == judged.crawl_delay


def test_E15_ema_reads_robots_for_each_crawl() -> None:
    assert lifetime(verdict(answer(200, b"", TEXT)), answer(200), EMA) == 0


@pytest.mark.parametrize("profile", [WEMBI, CERTANT], ids=lambda p: p.name)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_W03_C07_rfc_9309_a_4xx_allows(profile: Profile, status: int) -> None:
    assert verdict(answer(status), profile).allows(PAGE)


@pytest.mark.parametrize("profile", [WEMBI, CERTANT], ids=lambda p: p.name)
@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_W03_C07_rfc_9309_a_5xx_and_a_429_disallow(profile: Profile, status: int) -> None:
    assert verdict(answer(status), profile).denies_all


@pytest.mark.parametrize("profile", [WEMBI, CERTANT], ids=lambda p: p.name)
def test_W03_C07_rfc_9309_redirects_cross_authorities_up_to_five_hops(profile: Profile) -> None:
    assert redirect("https://cdn.example/r.txt", profile) == "https://cdn.example/r.txt"
    assert isinstance(redirect("https://cdn.example/r.txt", profile, hops=5), Verdict)


def test_W03_an_html_page_has_no_rules() -> None:
    assert verdict(answer(200, b"<html>", (("Content-Type", "text/html"),)), WEMBI).allows(PAGE)


@pytest.mark.parametrize(
    ("cache", "seconds"),
    [
        ("", 86_400),
        ("max-age=3600", 3_600),
        ("max-age=999999", 86_400),
        ("max-age=1", 600),
        ("no-store", 600),
        ("public, max-age=7200, x", 7_200),
        ("max-age=abc", 86_400),
    ],
)
def test_W03_cached_at_most_a_day(cache: str, seconds: float) -> None:
    response = answer(200, b"", (*TEXT, ("Cache-Control", cache)))
    assert lifetime(verdict(response, WEMBI), response, WEMBI) == seconds


def test_W03_a_failed_reading_is_asked_again_soon() -> None:
    response = answer(500)
    assert lifetime(verdict(response, WEMBI), response, WEMBI) == 600


@given(
    st.integers(0, 999) | st.none(),
    st.binary(max_size=80),
    st.lists(st.tuples(st.sampled_from(["Location", "Content-Type", "Server"]), st.text(max_size=30)), max_size=3),
    st.sampled_from(list(Outcome)),
)
def test_any_answer_gives_a_verdict_or_a_hop(
    status: int | None, body: bytes, headers: list[tuple[str, str]], outcome: Outcome
) -> None:
    for profile in (EMA, WEMBI):
        judged = judge(answer(status, body, tuple(headers), outcome), FIRST, FIRST, 0, profile)
        if isinstance(judged, Verdict):
            assert Verdict.from_bytes(judged.to_bytes()) == judged
        else:
            assert judged.startswith("https://")
