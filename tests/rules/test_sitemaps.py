from __future__ import annotations

import gzip
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules.sitemaps import MAX_ENTRIES, Entry, Sitemap, parse

EMA, WEMBI = bots.load("ema"), bots.load("wembi")
ALL = WEMBI.discovery.sitemap_formats


def read(body: bytes, formats: tuple[str, ...] = ALL, most: int = 10_000_000) -> Sitemap:
    return parse(body, "example.com", WEMBI.scope, formats, most)


def urlset(*locs: str) -> bytes:
    return ("<urlset>" + "".join(f"<url><loc>{loc}</loc></url>" for loc in locs) + "</urlset>").encode()


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.entries]


def test_a_urlset_with_its_hints() -> None:
    body = b"""<?xml version="1.0"?><s:urlset xmlns:s="x" xmlns:image="i"><s:url>
    <s:loc> https://example.com/a </s:loc>
    <image:image><image:loc>https://example.com/i.jpg</image:loc></image:image>
    <s:priority>0.9</s:priority><s:lastmod>2026-01-02</s:lastmod></s:url></s:urlset>"""
    assert read(body).entries == (Entry("https://example.com/a", 0.9, "2026-01-02"),)


def test_other_hosts_go_and_http_is_read_as_https() -> None:
    found = read(
        urlset("https://other.example/a", "http://www.example.com/b", "javascript:x", "https://example.com/b")
    )
    assert urls(found) == ["https://example.com/b"]
    assert found.dropped == 2


def test_E20_urls_with_a_query_are_dropped_for_ema() -> None:
    found = parse(urlset("https://example.com/a?b=1"), "example.com", EMA.scope, ("xml",), 10_000)
    assert (found.entries, found.dropped) == ((), 1)


def test_an_index_names_children() -> None:
    body = b"<sitemapindex><sitemap><loc>https://example.com/s1.xml</loc></sitemap></sitemapindex>"
    assert read(body).children == ("https://example.com/s1.xml",)


@pytest.mark.parametrize("times", [1, 2])
def test_gzip_up_to_twice(times: int) -> None:
    body = urlset("https://example.com/a")
    for _ in range(times):
        body = gzip.compress(body)
    assert urls(read(body)) == ["https://example.com/a"]


def test_truncated_keeps_what_came() -> None:
    body = urlset(*(f"https://example.com/{i}" for i in range(100)))
    found = read(body[: len(body) // 2])
    assert 40 < len(found.entries) < 60
    assert found.error
    zipped = gzip.compress(urlset(*(f"https://example.com/{i * 7919}" for i in range(20_000))))
    assert 0 < len(read(zipped[: len(zipped) // 2]).entries) < 20_000
    assert len(read(zipped[:-5000] + b"\x00" * 5000).entries) > 0


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>https://example.com/&a;</loc></url></urlset>',
        b'<?xml version="1.0"?><!DOCTYPE urlset SYSTEM "file:///etc/passwd"><urlset/>',
    ],
)
def test_a_doctype_is_refused(body: bytes) -> None:
    assert read(body).error == "DOCTYPE refused"
    assert not read(body).entries


def test_E04_ema_reads_xml_only() -> None:
    formats = EMA.discovery.sitemap_formats
    assert formats == ("xml",)
    for body in (
        b"https://example.com/a",
        b"<rss><channel><item><link>https://example.com/a</link></item></channel></rss>",
    ):
        assert not read(body, formats).entries
        assert read(body).entries


def test_atom_and_text() -> None:
    atom = b'<feed><entry><link rel="self" href="/s"/><link href="https://example.com/e"/></entry></feed>'
    assert urls(read(atom)) == ["https://example.com/e"]
    assert urls(read(b"\xef\xbb\xbfhttps://example.com/1\r\n\nhttps://example.com/2")) == [
        "https://example.com/1",
        "https://example.com/2",
    ]
    assert read(b"Not found").error == "no URLs"


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"<html>", "not a sitemap"),
        (b"", "no URLs"),
        (b'<?xml version="1.0" encoding="utf-7"?><urlset/>', "multi-byte"),
    ],
)
def test_what_is_no_sitemap_is_named(body: bytes, error: str) -> None:
    assert error in read(body).error


def test_a_raw_ampersand_keeps_what_stood_before() -> None:
    assert urls(read(urlset("https://example.com/a", "https://example.com/?a=1&b"))) == ["https://example.com/a"]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>" + b"a" * 2_000_000,
        b"<a>" * 600_000,
        gzip.compress(b"\x00" * 50_000_000),
        b"<urlset>" + b"<url>" * 300_000,
        urlset(*(f"https://example.com/{i}" for i in range(MAX_ENTRIES + 10))),
    ],
    ids=["token", "deep", "bomb", "open", "many"],
)
def test_a_hostile_sitemap_costs_a_bounded_time(body: bytes) -> None:
    started = time.process_time()
    assert len(read(body, most=4_000_000).entries) <= MAX_ENTRIES
    assert time.process_time() - started < 5


@given(st.binary(max_size=300) | st.text(alphabet="<>/urlsetoc&;!?[]'\" ahtps:.xm", max_size=120).map(str.encode))
def test_any_bytes_give_a_sitemap_or_a_named_error(body: bytes) -> None:
    for content in (body, b"<urlset>" + body, b"\x1f\x8b" + body, b"<" + body):
        found = read(content)
        assert found.kind or found.error
