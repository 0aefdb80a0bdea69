"""Windows of time in somebody's zone, and the answer in words (E24)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import windows
from commands.windows import WindowError, window

ROME = "Europe/Rome"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("begin", "end", "first", "last"),
    [
        ("2026-03-02T09:30", "2026-03-02T10:00", "2026-03-02T08:30", "2026-03-02T09:00"),  # winter
        ("2026-07-02T09:30", "2026-07-02T10:00", "2026-07-02T07:30", "2026-07-02T08:00"),  # summer
        ("2026-03-02", "2026-03-02", "2026-03-01T23:00", "2026-03-02T23:00"),  # a day
        ("2026-03-29", "2026-03-29", "2026-03-28T23:00", "2026-03-29T22:00"),  # a day of 23 hours
        ("2026-10-25", "2026-10-25", "2026-10-24T22:00", "2026-10-25T23:00"),  # a day of 25 hours
        ("2026-10-25T02:30", "2026-10-25T02:30", "2026-10-25T00:30", "2026-10-25T01:30"),  # it comes twice
        ("2026-03-02T09:30Z", "2026-03-02T10:30-01:00", "2026-03-02T09:30", "2026-03-02T11:30"),  # zones of their own
    ],
)
def test_E24_a_window_is_told_by_the_clocks_of_the_zone(begin: str, end: str, first: str, last: str) -> None:
    found = window(begin, end, ROME)
    assert (found.begin, found.end) == (utc(first), utc(last))


@pytest.mark.parametrize(
    ("begin", "end", "zone", "said"),
    [
        ("2026-03-02", "2026-03-03", "Europe/Rom", "no time zone"),
        ("2026-03-02", "2026-03-03", "", "no time zone"),
        ("2026-03-02", "2026-03-03", "Europe", "no time zone"),
        ("2026-03-02", "2026-03-03", "../../etc/passwd", "no time zone"),
        ("2026-03-02", "2026-03-03", "/etc/localtime", "no time zone"),
        ("2026-03-02", "2026-03-03", "A\x00", "no time zone"),
        ("yesterday", "2026-03-03", ROME, "no time such as"),
        ("2026-02-30", "2026-03-03", ROME, "no time such as"),
        ("0001-01-01", "2026-03-03", ROME, "no time such as"),
        ("2026-03-29T02:30", "2026-03-30", ROME, "never showed"),
        ("2026-03-02T10:00", "2026-03-02T10:00", ROME, "before it begins"),
        ("2026-03-04", "2026-03-02", ROME, "before it begins"),
    ],
)
def test_E24_a_wrong_zone_or_time_is_one_sentence(begin: str, end: str, zone: str, said: str) -> None:
    with pytest.raises(WindowError, match=said) as raised:
        window(begin, end, zone)
    assert "\n" not in str(raised.value)


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=30))
def test_E24_whatever_is_typed_gives_a_window_or_a_sentence(begin: str, end: str, zone: str) -> None:
    try:
        found = window(begin, end, zone)
    except WindowError:
        return
    assert found.begin < found.end


def test_E24_an_hour_that_comes_twice_is_told_apart() -> None:
    at = window("2026-10-25", "2026-10-25", ROME)
    assert at.said(utc("2026-10-25T00:30")) == "2026-10-25 02:30:00 CEST"
    assert at.said(utc("2026-10-25T01:30")) == "2026-10-25 02:30:00 CET"
    assert at.said(None) == "-"


def crawl(**more: Any) -> dict[str, Any]:
    row = {"accepted": True, "verified": True, "proof": "dns", "verified_at": utc("2026-03-01T11:00")}
    return {**row, "confirmed_at": None, "confirmed_by": None, "in_window": {"page": 3, "robots": 1}, **more}


def test_E24_the_authority_is_a_sentence() -> None:
    at = window("2026-03-02", "2026-03-02", ROME)
    assert windows.authority(crawl(), None, None, at) == "a DNS record, on file since 2026-03-01 12:00:00 CET"
    paper = {"by": "ann", "kept_at": "drawer 3"}
    assert "(attested by ann, kept at drawer 3)" in windows.authority(crawl(proof="attestation"), paper, None, at)
    assert windows.authority(crawl(), None, {"result": "absent"}, at).endswith(
        "looked for again at the start: absent"
    )
    word = crawl(verified=False, confirmed_at=utc("2026-03-01T11:00"), confirmed_by="carl")
    said = windows.authority(word, None, None, at)
    assert said == "no proof on file; the right to it confirmed by carl on 2026-03-01 12:00:00 CET"


def test_E24_W01_the_authority_of_a_listed_site_is_the_operator_s_hand() -> None:
    at = window("2026-03-02", "2026-03-02", ROME)
    bare = crawl(verified=False)
    entry = {"kind": "listed", "by": "ann", "reason": "project 3", "at": utc("2026-03-01T11:00")}
    said = windows.authority(bare, None, None, at, entry)
    assert said == "on the operator's list since 2026-03-01 12:00:00 CET, put there by ann (project 3)"
    off = windows.authority(bare, None, None, at, {**entry, "kind": "unlisted"})
    assert off == "off the operator's list since 2026-03-01 12:00:00 CET, taken off by ann (project 3)"
    assert windows.authority(bare, None, None, at, {"kind": "never"}) == "never on the operator's list"
    assert windows.authority(crawl(), None, None, at, entry).endswith(
        "; a DNS record, on file since 2026-03-01 12:00:00 CET"
    )


def test_E24_the_answer_counts_what_reached_the_site() -> None:
    at = window("2026-03-02", "2026-03-02", "UTC")
    refused, check = crawl(accepted=False, in_window={}), {"in_window": {"address_check": 1}}
    asked = {"in_window": {"dns_proof": 2}}
    told = windows.verdict("shop.test", [crawl(), refused], [check], at)
    assert told.startswith("Yes: 5 requests to shop.test, from 2026-03-02 00:00:00 UTC until 2026-03-03")
    assert told.endswith("1 crawl or listing, and 1 refused.")
    assert windows.verdict("shop.test", [refused], [], at).startswith("No: 0 requests to shop.test")
    assert windows.verdict("shop.test", [], [asked], at).startswith("No: 0 requests")
    assert windows.verdict("shop.test", [], [], at).startswith("No: nothing was asked of shop.test")
