"""The pre-scan: pages that the parser cannot take in bounded time are read as flat text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.reading.guard import flat_text, is_trap
from crawler.reading.page import read_html

URL = "https://shop.example/"
TRAPS = {
    "nested": "<div>" * 40_000,
    "formatting": "<b i>" * 2_000 + "<i i>" * 2_000 + "x</b>" * 2_000,
    "anchors": "<p><a href=AAAAAAAAAAAAAAAAAAAA>a" * 3_000,
    "nearly too deep": "<div>" * 511 + "x",
    "attributes": "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">x",
}
HEAVY = {
    "less-than signs": "<" * 500_000,
    "open scripts": "<script " * 100_000,
    "tables": "<table><tr><td>1<td>2<tr><td>3<td>4</table>" * 3_000,
    "one id": "<button aria-controls=x id=x>what is it?</button>" * 5_000,
    "terms": "<dl>" + "<dt>What is it?<dd>b" * 5_000 + "</dl>",
    "questions": "<h2>What is this?</h2><p>x</p>" * 5_000,
    "line breaks": "what is it?\n<br>" * 30_000,
    "brackets": '<script type="application/ld+json">' + "[" * 100_000 + "</script>",
    "unclosed breaks": '<script type="application/ld+json">{"@type":"Question","name":"q?","acceptedAnswer":{"text":"'
    + "<br" * 50_000
    + '"}}</script>',
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_not_parsed(name: str) -> None:
    start = time.process_time()
    assert read_html(TRAPS[name], URL).trapped
    assert time.process_time() - start < 1.0


@pytest.mark.parametrize("name", HEAVY)
def test_reading_stays_linear(name: str) -> None:
    start = time.process_time()
    read_html(HEAVY[name], URL)
    assert time.process_time() - start < 3.0


def test_an_ordinary_page_is_no_trap() -> None:
    page = "<ul>" + "<li><a href=/x>one</a><br><img src=x>" * 2_000 + "</ul>"
    assert not is_trap(page)


def test_a_trapped_page_still_gives_its_text() -> None:
    page = "<script>var x</script><style>y</style>" + "<div>" * 600 + "Open from 9:00 to 17:00<p>Call us"
    assert read_html(page, URL).markdown == "Open from 9:00 to 17:00\nCall us"


@given(st.text(alphabet="<>/ab !-=\"'\n", max_size=200))
def test_any_str_has_a_flat_text_and_a_reading(text: str) -> None:
    assert isinstance(flat_text(text), str)
    assert isinstance(read_html(text, URL).markdown, str)


def test_a_long_quoted_value_is_one_attribute() -> None:
    page = '<div data-preloaded="' + "{&quot;a&quot;: 1} " * 5_000 + '">x</div><p>Open from 9:00 to 17:00</p>'
    assert not is_trap(page)
    assert is_trap("<a " + "".join(f'a{n}="1"' for n in range(5_000)) + ">x" + " " * 60_000)


def test_a_long_script_is_no_long_tag() -> None:
    page = "<script>" + "var a = 1;\n" * 10_000 + "</script><p>Open from 9:00 to 17:00</p>"
    assert not is_trap(page)
    assert is_trap(page + "<a " + "".join(f"a{n}=1 " for n in range(5_000)) + ">x")


@pytest.mark.parametrize(
    "text",
    ["<script>var a = '{}'</script>", "<style>/* {} */</style>", "<!-- {} -->", "<textarea>{}</textarea>"],
)
def test_tags_in_raw_text_nest_nothing(text: str) -> None:
    page = text.format("<div>" * 600) + "<p>Open from 9:00 to 17:00</p>"
    assert not is_trap(page)
    assert read_html(page, URL).markdown.endswith("Open from 9:00 to 17:00")


@pytest.mark.parametrize(
    "opening",
    ["<script></script>", "<!--<script>-->", "<title><script></title>", "<svg><style>", "<script-x>", "<noscript>"],
)
def test_raw_text_hides_no_trap(opening: str) -> None:
    assert is_trap(opening + "<div>" * 600 + "</style></script>")


@pytest.mark.parametrize("piece", ["<script>", "<!--", "<svg>", "<style></script>", "<title", "</script"])
def test_raw_text_without_an_end_is_looked_at_in_linear_time(piece: str) -> None:
    page = "<div>" * 600 + piece * 100_000
    start = time.process_time()
    is_trap(page)
    assert time.process_time() - start < 2.0


def test_minified_code_has_no_attributes() -> None:
    page = "<script>for(;s<n;s++){" + "a = 1; " * 10_000 + "}</script><p>Open from 9:00 to 17:00</p>"
    assert not is_trap(page)
