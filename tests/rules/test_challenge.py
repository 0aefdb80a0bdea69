from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rules.challenge import detect, is_login_url
from tests.rules.answers import answer

PAGE = b"<html><body>" + b"<p>We bake bread and cakes since 1912.</p>" * 200


@pytest.mark.parametrize(
    ("status", "header"),
    [
        (403, ("CF-Mitigated", "challenge")),
        (200, ("cf-mitigated", "challenge")),
        (202, ("x-amzn-waf-action", "challenge")),
        (405, ("x-amzn-waf-action", "captcha")),
        (429, ("x-vercel-mitigated", "challenge")),
        (403, ("x-vercel-mitigated", "deny")),
        (202, ("sg-captcha", "challenge")),
        (403, ("x-datadome", "protected")),
        (401, ("Server", "DataDome")),
    ],
)
def test_E26_C13_headers_that_decide(status: int, header: tuple[str, str]) -> None:
    blocked = detect(answer(status, PAGE, (header,)))
    assert blocked is not None
    assert blocked.kind == "challenge"
    assert header[0].lower() in blocked.by


@pytest.mark.parametrize(
    "mark",
    [
        b"<title>Just a moment...</title>", b"window._cf_chl_opt={}", b"https://geo.captcha-delivery.com/x",
        b"<script>window._pxAppId='x'</script><div id=px-captcha>", b"/_Incapsula_Resource?x", b"bm-verify",
        b"errors.edgesuite.net Reference #18", b"token.awswaf.com", b"Vercel Security Checkpoint",
        b"sucuri_cloudproxy_js", b"/.within.website/x/cmd/anubis/", b"kpsdk",
        b'<meta http-equiv="refresh" content="0;/.well-known/sgcaptcha/?r=1">',
    ],
)  # fmt: skip
def test_E26_C13_bodies_that_decide_in_place_of_a_page(mark: bytes) -> None:
    assert detect(answer(403, PAGE + mark)) is not None
    assert detect(answer(503, PAGE + mark)) is not None
    assert detect(answer(200, mark)) is not None
    assert detect(answer(200, PAGE + mark)) is None  # a page that writes about it


@pytest.mark.parametrize(
    "innocent",
    [
        b'<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
        b'<script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>',
        b'<div class="g-recaptcha" data-sitekey="x"></div><div class="h-captcha"></div>',
    ],
)
def test_C13_forms_with_captchas_are_ordinary_pages(innocent: bytes) -> None:
    headers = (("server", "cloudflare"), ("cf-ray", "x"), ("set-cookie", "__cf_bm=1; datadome=2"))
    assert detect(answer(200, b"<form>" + innocent, headers)) is None
    assert detect(answer(200, PAGE, (("x-datadome", "protected"),))) is None


def test_C13_a_plain_403_is_a_refusal_and_no_challenge() -> None:
    assert detect(answer(403, b"Forbidden")) is None
    assert detect(answer(429)) is None


def test_C13_logins() -> None:
    for response in (
        answer(401),
        answer(302, headers=(("Location", "https://example.com/wp-login.php?redirect_to=%2F"),)),
        answer(403, b'<form><input name=p type="password"></form>'),
    ):
        blocked = detect(response)
        assert blocked is not None
        assert blocked.kind == "login"
    assert detect(answer(302, headers=(("Location", "/loginhilfe-und-mehr"),))) is None


@pytest.mark.parametrize("url", ["/login", "/account/sign-in?x", "https://a.example/sso/", "/anmelden", "/accedi"])
def test_C13_login_urls(url: str) -> None:
    assert is_login_url(url)
    assert not is_login_url("/?next=/login")


@given(st.integers(100, 599), st.binary(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_answer_is_judged(status: int, body: bytes, name: str, value: str) -> None:
    detect(answer(status, body, ((name, value), ("Location", value))))
