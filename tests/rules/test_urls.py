from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.urls import (
    Reason,
    UrlRefused,
    admitted,
    canonical,
    display_host,
    host_from_address,
    host_of,
    is_public_suffix,
    path_of,
    same_site,
    site_key,
    url_id,
)

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://ex%61mple.com/", "https://example.com/"),
        ("https:\\\\example.com\\x", "https://example.com/x"),
        ("https://straße.de/", "https://xn--strae-oqa.de/"),
        ("https://example.com", "https://example.com/"),
        ("HTTPS://EXAMPLE.com:443/A", "https://example.com/A"),
        ("http://example.com/a", "https://example.com/a"),
        ("https://example.com./a", "https://example.com/a"),
        ("https://example.com/a//b", "https://example.com/a//b"),
        ("https://example.com/a?", "https://example.com/a"),
        ("https://example.com/a??", "https://example.com/a??"),
        ("https://example.com/a?b=2&a=1", "https://example.com/a?b=2&a=1"),
        ("https://example.com/a#b?", "https://example.com/a"),
        ("https://example.com/a%2fb%7E%41", "https://example.com/a%2Fb~A"),
        ("https://example.com/x/%2E%2e/y", "https://example.com/y"),
        ("https://example.com/%%34%31", "https://example.com/%%34%31"),
        ("https://example.com/index.html;jsessionid=1", "https://example.com/index.html;jsessionid=1"),
    ],
)
def test_one_canonical_form(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://0x7f.1/", Reason.IP_ADDRESS),
        ("https://2130706433/", Reason.IP_ADDRESS),
        ("https://[::1]/", Reason.IP_ADDRESS),
        ("https://\uff11\uff12\uff17.\uff11/", Reason.IP_ADDRESS),
        ("https://example.com%2f.evil.com/", Reason.UNREADABLE),
        ("https://example.com:99999/", Reason.UNREADABLE),
        ("https://example.com:8443/", Reason.PORT),
        ("http://example.com:443/", Reason.PORT),
        ("https://u@example.com/", Reason.USERINFO),
        ("https://u:p@example.com/", Reason.USERINFO),
        ("ftp://example.com/", Reason.SCHEME),
        ("javascript:alert(1)", Reason.SCHEME),
        ("mailto:a@example.com", Reason.SCHEME),
        ("https://a_b.com/", Reason.HOST),
        ("https://a..b/", Reason.HOST),
        ("https://-a.com/", Reason.HOST),
        ("https://" + "a" * 64 + ".com/", Reason.HOST),
        ("https://xn--a.com/", Reason.HOST),
        ("https://localhost/", Reason.SINGLE_LABEL),
        ("https://example.com/" + "a" * 2048, Reason.TOO_LONG),
        ("https://example.com/\udcff", Reason.UNREADABLE),
    ],
)
def test_a_url_that_does_not_survive_is_refused_by_name(url: str, reason: Reason) -> None:
    with pytest.raises(UrlRefused) as caught:
        canonical(url)
    assert caught.value.reason is reason


def test_a_link_is_resolved_against_its_page() -> None:
    assert canonical("../c?d", "https://example.com/a/b/") == "https://example.com/a/c?d"
    assert canonical("//www.example.com/x", "https://example.com/") == "https://www.example.com/x"


@given(st.text(max_size=60))
def test_canonical_is_idempotent_or_refuses(text: str) -> None:
    for url in (text, f"https://example.com/{text}", f"https://{text}/"):
        try:
            once = canonical(url)
        except UrlRefused:
            continue
        assert canonical(once) == once
        assert once.isascii()
        assert path_of(once).startswith("/")
        assert site_key(host_of(once))


@given(st.text(alphabet="%25eE2F7aA.~/?#", max_size=24))
def test_canonical_is_idempotent_on_escapes(path: str) -> None:
    once = canonical(f"https://example.com/{path}")
    assert canonical(once) == once


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("www.example.com", "example.com"),
        ("example.com", "example.com"),
        ("shop.example.com", "shop.example.com"),
        ("www.github.io", "www.github.io"),
        ("www.com", "www.com"),
        ("www.co.uk", "www.co.uk"),
        ("www.ck", "www.ck"),
        ("www.shop.github.io", "shop.github.io"),
    ],
)
def test_E06_www_is_the_same_site_unless_a_public_suffix_is_left(host: str, site: str) -> None:
    assert site_key(host) == site


def test_E06_same_site_with_and_without_www_and_no_other_subdomain() -> None:
    assert same_site("https://www.example.com/x", "example.com")
    assert not same_site("https://shop.example.com/x", "example.com")


def test_E20_links_to_other_hosts_are_refused() -> None:
    for url in ("https://other.example/", "https://shop.example.com/", "https://example.com.evil.example/"):
        with pytest.raises(UrlRefused) as caught:
            admitted(url, "example.com", EMA.scope)
        assert caught.value.reason is Reason.OFFSITE


def test_E20_a_url_with_a_query_is_never_fetched() -> None:
    with pytest.raises(UrlRefused) as caught:
        admitted("https://example.com/a?x=1", "example.com", EMA.scope)
    assert caught.value.reason is Reason.QUERY
    assert admitted("https://example.com/a?", "example.com", EMA.scope) == "https://example.com/a"


def test_E20_a_body_is_abandoned_past_two_million_bytes() -> None:
    assert EMA.bodies.page == EMA.bodies.sitemap == 2_000_000


def test_E20_the_twin_is_folded_to_the_authority_of_the_job() -> None:
    assert admitted("http://example.com/a", "www.example.com", EMA.scope) == "https://www.example.com/a"
    assert admitted("/a", "example.com", EMA.scope, "https://www.example.com/b") == "https://example.com/a"


def test_C12_stays_on_the_site_that_was_added() -> None:
    with pytest.raises(UrlRefused):
        admitted("https://blog.example.com/", "example.com", CERTANT.scope)


def test_tracking_parameters_go_and_others_stay_in_order() -> None:
    url = "https://example.com/a?b=2&utm_source=x&a=1&gclid=9&c"
    assert admitted(url, "example.com", WEMBI.scope) == "https://example.com/a?b=2&a=1&c"
    assert admitted("https://example.com/a?UTM_x=1", "example.com", WEMBI.scope) == "https://example.com/a"


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("example.com", "example.com"),
        (" WWW.Example.com/x ", "www.example.com"),
        ("http:example.com", "example.com"),
        ("//example.com", "example.com"),
        ("example.com.", "example.com"),
        ("straße.de", "xn--strae-oqa.de"),
        ("foo.github.io", "foo.github.io"),
    ],
)
def test_E07_what_somebody_types_is_read(address: str, host: str) -> None:
    assert host_from_address(address) == host


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("", Reason.EMPTY),
        ("co.uk", Reason.PUBLIC_SUFFIX),
        ("github.io", Reason.PUBLIC_SUFFIX),
        ("printer.local", Reason.SPECIAL_NAME),
        ("x.onion", Reason.SPECIAL_NAME),
        ("router.home.arpa", Reason.SPECIAL_NAME),
        ("192.168.0.1", Reason.IP_ADDRESS),
        ("example", Reason.SINGLE_LABEL),
        ("info@example.com", Reason.USERINFO),
        ("example.com:8080", Reason.PORT),
        ("ftp://example.com", Reason.SCHEME),
        ("a b.com", Reason.SPACE),
    ],
)
def test_E07_what_is_no_website_is_refused_by_name(address: str, reason: Reason) -> None:
    with pytest.raises(UrlRefused) as caught:
        host_from_address(address)
    assert caught.value.reason is reason


def test_E11_staff_may_attest_for_a_public_suffix() -> None:
    assert host_from_address("github.io", allow_public_suffix=True) == "github.io"


@given(st.text(max_size=80))
def test_E07_any_input_gives_a_host_or_a_named_refusal(text: str) -> None:
    try:
        host = host_from_address(text)
    except UrlRefused:
        return
    assert host == host_of(canonical(f"https://{host}/"))
    assert not is_public_suffix(host)


def test_unicode_hosts_have_one_key_and_are_shown_as_written() -> None:
    assert host_from_address("fa\u00df.de") != host_from_address("fass.de")
    assert host_from_address("caf\u00e9.example") == host_from_address("cafe\u0301.example")
    assert display_host("xn--strae-oqa.de") == "straße.de"


def test_url_id_is_a_hash_and_no_text() -> None:
    assert len(url_id("https://example.com/")) == 64
