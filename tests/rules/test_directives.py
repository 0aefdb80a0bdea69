from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.directives import base_of, canonical_hint, directives, is_nofollow, refresh_target

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))
BASE = "https://example.com/a/b"


def of(*headers: str, metas: tuple[tuple[str, str], ...] = (), token: str = "CertantBot") -> tuple[bool, bool]:
    found = directives(headers, metas, token)
    return found.noindex, found.nofollow


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("noindex", (True, False)),
        ("NoIndex , NOFOLLOW", (True, True)),
        ("none", (True, True)),
        ("all", (False, False)),
        ("googlebot: noindex", (False, False)),
        ("certantbot: noindex", (True, False)),
        ("CertantBot/1.0: noindex, nofollow", (True, True)),
        ("googlebot: noindex, certantbot: nofollow", (False, True)),
        ("nofollow, googlebot: noindex", (False, True)),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", (True, False)),
        ("max-snippet: 50, noindex", (True, False)),
        ("max-image-preview:large", (False, False)),
        ("noindexed", (False, False)),
    ],
)
def test_C09_x_robots_tag_with_its_owners(header: str, expected: tuple[bool, bool]) -> None:
    assert of(header) == expected


def test_C09_several_header_lines_add_up() -> None:
    assert of("googlebot: noindex", "nofollow", "noindex") == (True, True)


@pytest.mark.parametrize("name", ["robots", "ROBOTS", " robots ", "certantbot", "CertantBot"])
def test_C09_the_robots_meta_and_our_own(name: str) -> None:
    assert of(metas=((name, "NoIndex"),)) == (True, False)


def test_C09_another_bots_meta_is_not_ours() -> None:
    assert of(metas=(("googlebot", "noindex"), ("description", "noindex"))) == (False, False)


def test_C09_general_and_own_rules_are_united() -> None:
    assert of("noindex", metas=(("certantbot", "nofollow"), ("robots", "index, follow"))) == (True, True)


def test_C09_a_noindex_page_is_skipped_by_certant_and_recorded_by_ema() -> None:
    assert CERTANT.discovery.noindex == "skip"
    assert EMA.discovery.noindex == "record"  # E28
    assert directives(("noindex",), (("robots", "noarchive"),), "EmaIngestBot").raw == (
        "x-robots-tag: noindex",
        "robots: noarchive",
    )


@pytest.mark.parametrize(
    ("rel", "expected"),
    [
        ("nofollow", True),
        ("NOFOLLOW noopener", True),
        ("ugc", False),
        ("sponsored", False),
        ("nofollowed", False),
        ("", False),
    ],
)
def test_W07_links_marked_nofollow_are_not_followed(rel: str, expected: bool) -> None:
    assert is_nofollow(rel) is expected
    assert WEMBI.discovery.obey_nofollow


def test_W07_a_page_marked_nofollow_by_meta_or_header() -> None:
    assert of(metas=(("robots", "nofollow"),), token="WembiBot")[1]
    assert of("wembibot: nofollow", token="WembiBot")[1]


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/x", "https://example.com/x"),
        ("5; URL='c'", "https://example.com/a/c"),
        ('0, url="https://other.example/"', "https://other.example/"),
        ("0 ; /y", "https://example.com/y"),
        ("30", None),
        ("0;url=javascript:alert(1)", None),
        ("", None),
    ],
)
def test_a_meta_refresh_is_a_link(content: str, target: str | None) -> None:
    assert refresh_target(content, BASE) == target


def test_base_is_used_only_if_it_is_a_web_address() -> None:
    assert base_of(BASE, "/c/") == "https://example.com/c/"
    assert base_of(BASE, "data:text/html,x") == BASE
    assert base_of(BASE, None) == BASE


def test_canonical_is_read_from_the_link_or_the_header() -> None:
    assert canonical_hint("/c", (), BASE) == "https://example.com/c"
    assert canonical_hint("", ('</d>; rel="canonical", </e>; rel=next',), BASE) == "https://example.com/d"
    assert canonical_hint("", ("</e>; rel=next",), BASE) is None
    assert canonical_hint("mailto:x", (), BASE) is None


@given(
    st.lists(st.text(max_size=80), max_size=4),
    st.lists(st.tuples(st.text(max_size=12), st.text(max_size=60)), max_size=4),
)
def test_any_directives_are_read(headers: list[str], metas: list[tuple[str, str]]) -> None:
    directives(headers, metas, "CertantBot")
    for text in headers:
        refresh_target(text, BASE)
        canonical_hint("", [text], BASE)
        base_of(BASE, text)
        is_nofollow(text)
