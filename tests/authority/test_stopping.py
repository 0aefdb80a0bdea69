"""Stops (E25, W13): suspension, blocklist, stop requests and their dates; and sentences for addresses."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

import bots
from agents.intake import message_of
from commands.stopping import state
from crawler.rules import sentences
from crawler.rules.site import Policy
from crawler.rules.stops import due
from crawler.rules.urls import Reason
from models.wire import Unreadable
from tests.authority.events import raw
from tests.jobs.driver import Play, not_found, page

EASTER_MONDAY = (date(2026, 4, 6),)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("received", "until"),
    [
        ("2026-03-02T09:30", "2026-03-03T09:30"),  # Monday
        ("2026-03-06T17:00", "2026-03-09T17:00"),  # Friday
        ("2026-03-07T08:00", "2026-03-10T00:00"),  # Saturday: from Monday on
        ("2026-03-08T23:59", "2026-03-10T00:00"),
        ("2026-04-03T12:00", "2026-04-07T12:00"),  # Friday before a holiday on Monday
        ("2026-04-06T12:00", "2026-04-08T00:00"),  # on the holiday
        ("2026-12-31T12:00", "2027-01-01T12:00"),
    ],
)
def test_E25_a_stop_request_is_due_within_one_business_day(received: str, until: str) -> None:
    assert due(at(received), bots.load("ema"), EASTER_MONDAY) == at(until)


def test_W13_a_stop_request_is_due_within_24_hours_whatever_the_day() -> None:
    for received, until in (("2026-03-06T17:00", "2026-03-07T17:00"), ("2026-04-05T12:00", "2026-04-06T12:00")):
        assert due(at(received), bots.load("wembi"), EASTER_MONDAY) == at(until)


def shop(**more: Any) -> Play:
    return Play(lambda path: not_found(path) if path == "/robots.txt" else page(path, "/a", "/b"), **more)


@pytest.mark.parametrize(("stop", "fact"), [("suspend-site", "suspended"), ("block-site", "blocked")])
def test_E25_W13_a_stop_ends_every_job_before_its_next_request(stop: str, fact: str) -> None:
    play = shop()
    play.verify()
    play.say("crawl-requested")
    play.say("verification-requested")
    play.say("listing-requested")
    play.step()
    asked = len(play.requests)
    play.say(stop)
    play.run()
    assert len(play.requests) == asked
    assert {one.end for one in play.of("crawl-ended")} == {"suspended"}
    assert play.of("verification-failed") or play.of("verified")
    assert play.of(fact)[0].by == "ann"


@pytest.mark.parametrize("stop", ["suspend-site", "block-site"])
@pytest.mark.parametrize("kind", ["address-saved", "verification-requested", "crawl-requested", "listing-requested"])
def test_E25_W13_a_stopped_site_is_asked_nothing_whatever_is_asked_for(stop: str, kind: str) -> None:
    play = shop()
    play.verify()
    play.say(stop)
    play.say(kind)
    play.say("start-crawl")
    play.run()
    assert not play.requests


@pytest.mark.parametrize("stop", ["suspend-site", "block-site"])
def test_E25_what_is_asked_for_while_stopped_is_answered_and_does_not_wait_for_the_end_of_it(stop: str) -> None:
    play = shop()
    play.say(stop)
    play.say("verification-requested")
    play.say("address-saved")
    assert play.of("verification-failed")[0].result == "undetermined"
    assert not play.site.head.jobs
    play.say("resume-site")
    play.say("unblock-site")
    play.run()
    assert not play.requests


def test_W13_a_resume_does_not_lift_a_block_nor_the_other_way_round() -> None:
    play = shop()
    play.verify()
    play.say("block-site")
    play.say("suspend-site")
    play.say("resume-site")
    play.say("crawl-requested")
    assert play.of("crawl-decided")[-1].refusal == "blocked"
    play.say("suspend-site")
    play.say("unblock-site")
    play.say("crawl-requested")
    assert play.of("crawl-decided")[-1].refusal == "suspended"
    play.say("resume-site")
    play.say("crawl-requested")
    assert play.of("crawl-decided")[-1].accepted


def test_W13_the_block_stands_before_anything_is_on_file() -> None:
    play = shop(policy=Policy(bots.load("wembi"), b"k" * 32))
    play.say("block-site")
    play.say("list-site")
    play.say("start-crawl")
    assert play.of("crawl-decided")[-1].refusal == "blocked"


def test_W01_a_site_is_read_while_it_is_on_the_list_and_no_longer() -> None:
    play = shop(policy=Policy(bots.load("wembi"), b"k" * 32))
    play.say("start-crawl")
    assert play.of("crawl-decided")[-1].refusal == "unlisted"
    play.say("list-site", by="olga", reason="project 3")
    assert play.of("listed")[0].by == "olga"
    play.say("start-crawl")
    play.step()
    assert play.asked() == ["/robots.txt"]
    play.say("unlist-site")
    play.run()
    assert play.asked() == ["/robots.txt"]
    assert play.of("crawl-ended")[0].end == "failed"


def test_E25_W13_a_stop_request_is_recorded_done_with_the_stop_and_confirmed() -> None:
    play = shop()
    times = {"received_at": play.now - 60, "due_at": play.now + 86_400}
    play.say("record-stop", stop_request="mail-7", from_whom="the owner", **times)
    play.say("suspend-site", stop_request="mail-7")
    play.say("suspend-site")
    play.say("confirm-stop", stop_request="mail-7", by="bob")
    recorded, done, told = (play.of(kind) for kind in ("stop-requested", "stop-done", "stop-confirmed"))
    assert (recorded[0].from_whom, recorded[0].received_at, recorded[0].due_at) == ("the owner", *times.values())
    assert [(one.stop_request, one.by) for one in done] == [("mail-7", "ann")]
    assert [(one.stop_request, one.by) for one in told] == [("mail-7", "bob")]


def test_E25_a_recorded_request_alone_does_not_stop_a_site() -> None:
    play = shop()
    play.verify()
    play.say("record-stop", stop_request="mail-7", from_whom="somebody", received_at=1.0, due_at=2.0)
    play.say("crawl-requested")
    assert play.of("crawl-decided")[0].accepted


@pytest.mark.parametrize(
    ("done", "confirmed", "hours", "ema", "wembi"),
    [
        (False, False, 1, "to be done", "to be done"),
        (False, False, 25, "OVERDUE: the site is not stopped", "OVERDUE: the site is not stopped"),
        (True, False, 1, "done, to be confirmed", "done, to be confirmed"),
        (True, False, 25, "done, to be confirmed", "OVERDUE: whoever asked has not been told"),
        (True, True, 25, "done and confirmed", "done and confirmed"),
    ],
)
def test_W13_E25_what_is_late_says_so(done: bool, confirmed: bool, hours: float, ema: str, wembi: str) -> None:
    """W13 promises the answer within 24 hours, E25 the suspension alone."""
    begin = at("2026-03-02T09:30")
    row = {"due_at": begin + timedelta(hours=24), "done_at": done or None, "confirmed_at": confirmed or None}
    now = begin + timedelta(hours=hours)
    assert [state(row, now, confirm=confirm) for confirm in (False, True)] == [ema, wembi]


# --- addresses


ADDRESSES: dict[str, tuple[str, ...]] = {
    Reason.EMPTY: ("", " ", "\t\u00a0"),
    Reason.TOO_LONG: (f"shop.example/{'a' * 2048}", f"shop.example/{'x' * 20_000}"),
    Reason.PUBLIC_SUFFIX: (
        "co.uk",
        "github.io",
        "wixsite.com",
        "myshopify.com",
        "pages.dev",
        "s3.amazonaws.com",
        "GitHub.IO.",
        "公司.cn",
        "xn--55qx5d.cn",
    ),
    Reason.SINGLE_LABEL: ("shop", "com", "localhost."),
    Reason.SPECIAL_NAME: (
        "shop.local",
        "a.internal",
        "shop.test",
        "x.onion",
        "router.home.arpa",
        "a.localhost",
        "nas.lan",
        "shop.corp",
        "1.0.0.127.in-addr.arpa",
        "shop.home",
        "ＳＨＯＰ。ｌｏｃａｌ",
        "a.local.",
    ),
    Reason.PORT: (
        "shop.example:8443",
        "https://shop.example:80/",
        "127.0.0.1:8080",
        "http://shop.example:443",
        "shop.example:0",
        "shop.example:99999",
    ),
    Reason.IP_ADDRESS: (
        "127.0.0.1",
        "https://[::1]/",
        "2130706433",
        "0x7f.1",
        "１２７.0.0.1",
        "1.2.3",
        "http://[::ffff:7f00:1]/",
        "0177.0.0.1",
        "①②⑦.0.0.1",
        "127.0.0.1.",
        "256.1.1.1",
        "1.2.3.4.5",
        "shop.123",
        "shop.0x1",
        "::1",
        "[::1]",
    ),
    Reason.USERINFO: ("https://ann@shop.example/", "https://shop.example:x@evil.example/"),
    Reason.SCHEME: (
        "ftp://shop.example/",
        "javascript://shop.example/%0aalert(1)",
        "file:///etc/passwd",
        "mailto:a@shop.example",
        "javascript:alert(1)",
        "tel:+39080",
    ),
    Reason.SPACE: ("sh op.example", "shop.example www.shop.example", "https://shop\u3000.example/x"),
    Reason.HOST: (
        "a_b.example",
        "-a.example",
        "xn--a.example",
        f"{'a' * 64}.example",
        "x';drop.example",
        "xn--zzzzzz99999999.example",
        "a" * 3000,
        "*.shop.example",
        "a..example",
        "shop.example, b.example".replace(" ", ""),
    ),
    Reason.UNREADABLE: ("shop.example%2f.evil.example", "https://", "℀.example", "shop.example:x"),
}


@pytest.mark.parametrize(("reason", "address"), [(r, a) for r, found in ADDRESSES.items() for a in found])
def test_E07_each_bad_address_is_refused_by_name_and_in_a_sentence(reason: str, address: str) -> None:
    with pytest.raises(Unreadable) as refused:
        message_of("address-saved", 0, 1, 0.0, raw("address-saved", account="acme", address=address))
    assert refused.value.cause == f"address_{reason}"
    assert sentences.of(Reason(reason)) in str(refused.value)


@pytest.mark.parametrize("address", ["facebook.com/shop", "https://www.medium.com/@anna", "x.com", "github.com"])
def test_E05_C04_a_page_among_many_peoples_is_no_site_of_a_customer_s_but_where_a_path_can_be_proved(
    address: str,
) -> None:
    """A crawl of one that staff have attested is still asked for as ever."""
    said = raw("address-saved", account="acme", address=address)
    with pytest.raises(Unreadable) as refused:
        message_of("address-saved", 0, 1, 0.0, said, bots.load("ema"))
    assert refused.value.cause == "address_platform"
    assert sentences.of(Reason.PLATFORM) in str(refused.value)
    for bot in ("certant", "wembi"):
        assert message_of("address-saved", 0, 1, 0.0, said, bots.load(bot)).site
    asked = raw("crawl-requested", account="acme", address=address)
    assert message_of("crawl-requested", 0, 1, 0.0, asked, bots.load("ema")).site
    tenant = raw("address-saved", account="acme", address="anna.wordpress.com")
    assert message_of("address-saved", 0, 1, 0.0, tenant, bots.load("ema")).site == "anna.wordpress.com"


def test_every_reason_has_its_sentence() -> None:
    assert set(sentences.ADDRESS) == set(Reason)
    assert len(set(sentences.ADDRESS.values())) == len(Reason)


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("WWW.Shop.Example.", "shop.example"),
        ("straße.example", "xn--strae-oqa.example"),
        ("faß.de", "xn--fa-hia.de"),
        ("shop。example", "shop.example"),
        ("ｓｈｏｐ.example", "shop.example"),
        ("www.github.io", "www.github.io"),
        ("tenant.github.io", "tenant.github.io"),
        ("https:\\\\shop.example\\x", "shop.example"),
        ("sho\u00adp.example", "shop.example"),
    ],
)
def test_E06_E07_addresses_that_look_odd_and_mean_one_site(address: str, site: str) -> None:
    message = message_of("address-saved", 0, 1, 0.0, raw("address-saved", account="acme", address=address))
    assert message.site == site


def test_E11_staff_may_attest_for_a_name_that_many_owners_share_and_nobody_else_names_it() -> None:
    said = {"account": "acme", "address": "github.io", "by": "ann", "kept_at": "drawer 3", "reason": "so"}
    for kind in ("attest-site", "start-crawl", "suspend-site", "withdraw-verification"):
        assert message_of("operator-commands", 0, 1, 0.0, raw(kind, **said)).site == "github.io"
    for topic in ("address-saved", "crawl-requested", "verification-requested", "listing-requested"):
        with pytest.raises(Unreadable, match="Many owners"):
            message_of(topic, 0, 1, 0.0, raw(topic, **said))


@pytest.mark.parametrize("topic", ["address-saved", "crawl-requested", "verification-requested", "listing-requested"])
@pytest.mark.parametrize(
    "kind",
    [
        "attest-site",
        "start-crawl",
        "resume-site",
        "list-site",
        "unblock-site",
        "restore-site",
        "withdraw-verification",
    ],
)
def test_E05_E11_no_staff_command_is_heard_on_a_customer_s_topic(topic: str, kind: str) -> None:
    said = {"account": "acme", "address": "shop.example", "by": "ann", "kept_at": "x", "reason": "x", "marker": True}
    with pytest.raises(Unreadable) as refused:
        message_of(topic, 0, 1, 0.0, raw(kind, **said))
    assert refused.value.cause == "unsupported_type"


def test_A03_restore_is_heard_on_no_intake_topic_at_all() -> None:
    with pytest.raises(Unreadable, match="restore-site"):
        message_of("operator-commands", 0, 1, 0.0, raw("restore-site", address="shop.example", marker=True))


@pytest.mark.parametrize(
    "said",
    [
        {"requester": "staff"},
        {"requester": "admin"},
        {"account": ""},
        {"account": None},
        {"account": " "},
        {"plan": 7},
    ],
)
def test_E05_E21_a_claimed_role_is_no_event(said: dict[str, Any]) -> None:
    whole = {"account": "acme", "address": "shop.example", **said}
    with pytest.raises(Unreadable) as refused:
        message_of("crawl-requested", 0, 1, 0.0, raw("crawl-requested", **whole))
    assert refused.value.cause == "schema"


@pytest.mark.parametrize("missing", ["by", "kept_at"])
@pytest.mark.parametrize("value", [None, "", "   "])
def test_E11_F50_an_attestation_without_who_or_where_is_none(missing: str, value: str | None) -> None:
    said = {"account": "acme", "address": "shop.example", "by": "ann", "kept_at": "drawer 3", missing: value}
    with pytest.raises(Unreadable) as refused:
        message_of("operator-commands", 0, 1, 0.0, raw("attest-site", **said))
    assert refused.value.cause == "schema"
