from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rules.robots import Decision, Rules, parse
from crawler.rules.robots_match import path_as_matched

CASES = json.loads((Path(__file__).parent.parent / "data" / "robots_cases.json").read_text())
# RFC 9309 is ambiguous here: whether `%3F` is `?`, and whether an anchored rule also means a literal `$`.
AMBIGUOUS = {"enc-question-kept-2", "dollar-anchor-not-literal", "dollar-anchor-not-literal-2"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_C07_every_case_of_the_table(case: dict[str, str]) -> None:
    rules = parse(base64.b64decode(case["robots_base64"]), case["token"])
    assert rules.allows(case["url"]) is case["allowed"]
    assert rules.decide(case["url"]).allowed is case["allowed"]
    assert Rules.from_bytes(rules.to_bytes()) == rules


def test_C07_the_ambiguous_cases_are_in_the_table() -> None:
    assert {case["id"] for case in CASES} >= AMBIGUOUS


def allows(text: str, path: str = "/", token: str = "CatBot") -> bool:
    return parse(text.encode(), token).allows(f"https://shop.example{path}")


@pytest.mark.parametrize(
    "record", ["Crawl-delay: 3", "Sitemap: https://shop.example/s", "Host: x", "Clean-param: r", "foo: bar"]
)
def test_C07_other_records_never_end_a_group(record: str) -> None:
    assert not allows(f"User-agent: CatBot\n{record}\nUser-agent: *\nDisallow: /")


def test_C07_own_rules_else_those_of_the_star() -> None:
    both = "User-agent: *\nDisallow: /\n\nUser-agent: CatBot\nDisallow: /x\n"
    assert allows(both)
    assert not allows(both, "/x")
    assert not allows(both, token="DogBot")


def test_C07_a_typo_in_a_permission_permits_nothing() -> None:
    assert not allows("User-agent: *\nDisallow: /\nAllowed: /a", "/a")


def test_C07_the_token_is_exact_and_the_argument_is_cut() -> None:
    assert allows("User-agent: Cat\nDisallow: /")
    assert allows("User-agent: shop\nDisallow: /", token="CatBot/1.0 (+https://x.example/; site=shop.example)")
    assert not allows("User-agent: catbot\nDisallow: /", token="CatBot/1.0 (x)")


@pytest.mark.parametrize("smuggled", ["\x0c", "\x0b", "\x1c", "\u0085", "\u2028"])
def test_C07_a_comment_cannot_smuggle_a_rule_in(smuggled: str) -> None:
    assert not allows(f"User-agent: *\nDisallow: /\n# x{smuggled}Allow: /")


def test_C07_the_cut_at_512_kib_is_at_the_end_of_a_line() -> None:
    filler = b"# " + b"x" * 61 + b"\n"
    body = b"User-agent: *\nDisallow: /\n" + filler * 8191 + b"Allow: /open/but/not/here\n" * 40
    assert len(body) > 512 * 1024
    rules = parse(body, "CatBot")
    assert rules.dropped
    assert {pattern for allow, pattern in rules.rules if allow} <= {b"/open/but/not/here"}


def test_C07_the_decision_names_group_and_rule() -> None:
    rules = parse(b"User-agent: *\nDisallow: /cart\nAllow: /cart/help\n", "CatBot")
    assert rules.decide("https://a.example/cart/1") == Decision(False, "*", "disallow: /cart")
    assert rules.decide("https://a.example/cart/help") == Decision(True, "*", "allow: /cart/help")
    assert rules.decide("https://a.example/x") == Decision(True, "*", "")
    assert rules.decide("https://a.example/robots.txt?x").allowed
    assert len(rules.sha256) == 64


def test_C07_what_was_not_read_is_told() -> None:
    rules = parse(b"\xef\xbb\xbfUser-agent: \x00CatBot\nthis is no record\nDisallow: /\n", "CatBot")
    assert len(rules.dropped) == 3
    assert not rules.allows("https://a.example/")


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: CatBot\nCrawl-delay: 5\nCrawl-delay: 2", 5.0),
        ("User-agent: CatBot\nCrawl-delay: 2.5", 2.5),
        ("User-agent: CatBot\nCrawl-delay: -1", None),
        ("User-agent: CatBot\nCrawl-delay: nan", None),
        ("User-agent: CatBot\nCrawl-delay: inf", None),
        ("User-agent: CatBot\nCrawl-delay: \u0663", None),
        ("User-agent: CatBot\nCrawl-delay: 1e9", None),
        ("User-agent: *\nCrawl-delay: 4", 4.0),
        ("User-agent: *\nCrawl-delay: 4\nUser-agent: CatBot\nDisallow:", None),
        ("User-agent: CatBot\nCrawl-delay: 4\nUser-agent: DogBot\nDisallow: /", 4.0),
        ("User-agent: DogBot\nCrawl-delay: 4\nUser-agent: CatBot\nDisallow: /", None),
    ],
)
def test_C08_crawl_delay_is_read_for_our_groups(text: str, delay: float | None) -> None:
    assert parse(text.encode(), "CatBot").crawl_delay == delay


def test_sitemaps_are_canonical_and_belong_to_no_group() -> None:
    text = b"Sitemap: http://A.example/s.xml\nUser-agent: x\nSitemap: https://a.example/s.xml\nSitemap: /rel\n"
    assert parse(text, "CatBot").sitemaps == ("https://a.example/s.xml",)


def test_A05_signals_are_recorded_and_not_obeyed() -> None:
    rules = parse(b"User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x\nLicense: https://x.example/l", "CatBot")
    assert rules.signals == (("content-signal", "ai-train=no"), ("license", "https://x.example/l"))
    assert rules.allows("https://a.example/")


@given(st.binary(max_size=400), st.text(max_size=12))
def test_any_bytes_give_rules_that_survive_storing(body: bytes, token: str) -> None:
    rules = parse(body, token)
    assert Rules.from_bytes(rules.to_bytes()) == rules
    rules.decide("https://a.example/x?y")


_LINES = st.sampled_from(
    [
        b"User-agent: CatBot",
        b"User-agent: *",
        b"Disallow: /a",
        b"Disallow: /a*b$",
        b"Allow: /a/b",
        b"Allow: /%C3%A9",
        b"x",
    ]
)


@given(st.lists(_LINES, max_size=12), st.sampled_from(["/", "/a", "/a/b", "/axb", "/\u00e9", "/a/b?c"]))
def test_allows_and_decide_agree(lines: list[bytes], path: str) -> None:
    rules = parse(b"\n".join(lines), "CatBot")
    url = f"https://a.example{path}"
    decision = rules.decide(url)
    assert decision.allowed is rules.allows(url)
    assert decision.allowed is not decision.rule.startswith("disallow")


@given(st.lists(_LINES, max_size=12))
def test_one_more_prohibition_never_permits(lines: list[bytes]) -> None:
    before = parse(b"\n".join([b"User-agent: CatBot", b"Disallow:", *lines]), "CatBot")
    after = parse(b"\n".join([b"User-agent: CatBot", b"Disallow: /a", *lines]), "CatBot")
    assert before.allows("https://a.example/a") or not after.allows("https://a.example/a")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\n" + b"Disallow: /*a*b$\n" * 600_000,
        b"\n" * 10_000_000,
        b"User-agent: x\n" * 700_000,
        b"User-agent: *\n" + b"".join(b"Disallow: /%d*x\n" % i for i in range(30_000)),
        b"User-agent: *\nDisallow: /" + b"*a" * 5_000 + b"$\n",
    ],
    ids=["wildcards", "blank", "agents", "many", "stars"],
)
def test_a_hostile_file_costs_a_bounded_time_and_room(body: bytes) -> None:
    started = time.process_time()
    rules = parse(body, "CatBot")
    rules.allows("https://a.example/" + "a" * 2000)
    assert time.process_time() - started < 2
    assert len(rules.to_bytes()) < 900_000


def test_a_stored_verdict_never_outgrows_the_file() -> None:
    body = b"User-agent: *\n" + b"".join(
        b"Disallow: /%s\n" % base64.b64encode(i.to_bytes(20, "big")) for i in range(13_000)
    )
    assert len(parse(body, "CatBot").to_bytes()) < len(body)


def test_path_as_matched_writes_both_sides_alike() -> None:
    assert path_as_matched("/%7ea%c3%A9*$") == "/~a%C3%A9%2A%24"
