"""Proofs on pages and in files, as pure machines: what proves, what does not, and what the customer is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.rules import proofs
from crawler.rules.site import Policy
from crawler.rules.tokens import PERIOD, accepted, issued, name_for, token
from models.state import Account, Confirmation, Head
from models.web import Kind, Outcome
from tests.jobs.driver import HTML, TEXT, Answer, Play, not_found

KEY = b"k" * 32
CERTANT = Policy(bots.load("certant"), KEY)
NOW = 1_800_000_000.0
MINE = token(KEY, "ema", "acme", "shop.example", NOW)
META = f'<meta name="ema-site-verification" content="{MINE}">'
LINE = f"ema-site-verification={MINE}"


def homepage(body: str | bytes, status: int = 200, headers: dict[str, str] | None = None, **more: Any) -> Play:
    raw = body if isinstance(body, bytes) else body.encode()
    play = Play(lambda path: (status, headers or HTML, raw) if path == "/" else not_found(path), **more)
    play.say("verification-requested", method="homepage")
    play.run()
    return play


@pytest.mark.parametrize(
    "body",
    [
        f"<head>{META}</head>",
        f"<html><head><title>x</title><META NAME='EMA-Site-Verification' CONTENT=' {MINE} '></head><body>x",
        f"<head><meta name=ema-site-verification content=other>{META}</head>",
        ("\ufeff<head>" + META).encode("utf-16-le"),
    ],
)
def test_E10_a_meta_in_the_head_proves(body: str | bytes) -> None:
    play = homepage(body)
    fact = play.of("verified")[0]
    assert (fact.method, fact.weaker, fact.host) == ("homepage_meta", False, "shop.example")
    assert [(r.kind, r.url, r.timeout, r.max_bytes) for _, _, r in play.requests] == [
        (Kind.HOMEPAGE_PROOF, "https://shop.example/", 8.0, 524_288)
    ]


@pytest.mark.parametrize(
    "body",
    [f"<p>{LINE}</p>", f"<footer>Us<br>{LINE}<br>x</footer>", f"<p>\n  {LINE.replace('=', '&#61;')}  \n</p>"],
)
def test_E10_a_whole_visible_line_proves_with_the_weaker_grade(body: str) -> None:
    fact = homepage(body).of("verified")[0]
    assert (fact.method, fact.weaker) == ("homepage_text", True)


@pytest.mark.parametrize(
    "body",
    [
        f"<body>{META}</body>",
        f"<head><!-- {META} --></head><!-- {LINE} -->",
        f"<head><script>'{META}'</script></head><script>{LINE}</script>",
        f"<head><noscript>{META}</noscript><template>{META}</template></head>",
        f"<head><title>{META}</title></head>",
        f"<body><textarea>{META}\n{LINE}</textarea><select><option>{LINE}</select>",
        f"<body><iframe srcdoc='<head>{META}</head>'></iframe><svg><title>{META}</title></svg>",
        f"<body><p title='{LINE}'>x</p><a href='/{LINE}'>x</a><input value='{LINE}'>",
        f"<p>we say {LINE}</p><p>{LINE}x</p><p>x{LINE}</p>",
        f"<p>{MINE}</p>",
        f"<p>{LINE.upper()}</p>",
        f"<div class='Comments'><p>{LINE}</p></div><blockquote>{LINE}</blockquote><div id=disqus_thread>{LINE}</div>",
        f"<div itemtype='https://schema.org/Review'><p>{LINE}</p></div>",
        f'<head><meta property="ema-site-verification" content="{MINE}"></head>',
        f'<head><meta name="ema-site-verification" content="{MINE} or so"></head>',
        f'<head><meta name="x-ema-site-verification" content="{MINE}"></head>',
        "<div>" * 5000 + f"<p>{LINE}</p>",
        "",
    ],
)
def test_E10_what_others_may_write_or_nobody_sees_does_not_prove(body: str) -> None:
    play = homepage(body)
    assert not play.of("verified")
    fact = play.of("verification-failed")[0]
    assert (fact.result, fact.cause) == ("absent", "no_token")


def test_E10_the_first_512_kilobytes_are_read_and_no_more() -> None:
    for padding, proved in ((524_288 - len(META) - 6, True), (524_288 - 20, False)):
        play = homepage("<head>" + " " * padding + META)
        assert bool(play.of("verified")) is proved


def test_E10_five_redirects_within_the_site_are_followed_and_no_sixth() -> None:
    for hops, proved in ((5, True), (6, False)):
        play = Play(not_found)

        def handler(path: str, last: str = f"/h{hops}") -> Answer:
            number = int(path[2:]) if path.startswith("/h") else 0
            return (200, HTML, META.encode()) if path == last else (302, {"Location": f"/h{number + 1}"}, b"")

        play.handler = handler
        play.say("verification-requested", method="homepage")
        play.run()
        assert bool(play.of("verified")) is proved
        assert len(play.requests) == 6


@pytest.mark.parametrize(
    ("answer", "result", "cause"),
    [
        (not_found(""), "absent", "status"),
        ((204, HTML, b""), "absent", "status"),
        ((200, {"Content-Type": "application/pdf"}, META.encode()), "absent", "type"),
        ((200, {}, META.encode()), "absent", "type"),
        ((302, {"Location": "https://other.example/"}, b""), "absent", "redirect_offsite"),
        ((302, {"Location": "https://127.0.0.1/"}, b""), "absent", "redirect"),
        ((403, {**HTML, "cf-mitigated": "challenge"}, b"Just a moment"), "undetermined", "challenge"),
        ((200, {**HTML, "cf-mitigated": "challenge"}, META.encode()), "undetermined", "challenge"),
        ((429, HTML, b""), "undetermined", "unreachable"),
        ((500, HTML, b""), "undetermined", "unreachable"),
        (Outcome.TLS, "undetermined", "unreachable"),
        (Outcome.REFUSED_ADDRESS, "undetermined", "unreachable"),
    ],
)
def test_E10_each_failure_has_a_name_and_a_sentence(answer: Any, result: str, cause: str) -> None:
    play = Play(lambda path: answer)
    play.say("verification-requested", method="homepage")
    play.run()
    fact = play.of("verification-failed")[0]
    assert (fact.result, fact.cause) == (result, cause)
    assert len(fact.reason) > 30
    assert len(play.requests) == 1


def test_E10_a_line_of_text_on_a_platform_proves_nobody_s_ownership() -> None:
    host = "facebook.com"
    mine = token(KEY, "ema", "acme", host, NOW)
    text = Play(lambda _: (200, HTML, f"<p>ema-site-verification={mine}".encode()), host=host)
    text.say("verification-requested", method="homepage")
    text.run()
    assert text.of("verification-failed")[0].cause == "platform"
    tenant = "shop.wordpress.com"
    line = f"<p>ema-site-verification={token(KEY, 'ema', 'acme', tenant, NOW)}"
    own = Play(lambda _: (200, HTML, line.encode()), host=tenant)
    own.say("verification-requested", method="homepage")
    own.run()
    assert own.of("verified")


def test_E12_a_proof_read_leaves_nothing_but_its_own_record() -> None:
    play = homepage(f"<head>{META}</head><p>secret words</p>")
    assert [content.type for content in play.contents] == ["url-named"]
    assert play.asked() == ["/"]
    assert "secret" not in repr(play.facts)


@pytest.mark.parametrize("method", ["dns", "token_file", "homepage"])
def test_W01_a_bot_without_proofs_looks_for_none(method: str) -> None:
    play = Play(not_found, policy=Policy(bots.load("wembi"), KEY))
    play.say("verification-requested", method=method)
    play.run()
    assert not play.requests
    fact = play.of("verification-failed")[0]
    assert (fact.result, fact.cause) == ("refused", "method")


def test_E11_attestations_are_for_the_bot_that_knows_them() -> None:
    for bot in ("wembi", "certant"):
        play = Play(not_found, policy=Policy(bots.load(bot), KEY))
        play.say("attest-site", kept_at="drawer 3")
        assert play.of("verification-failed")[0].cause == "method"
        assert not play.site.head.accounts.get("acme", Account()).proof


def test_E13_one_verification_at_a_time_and_the_second_is_told_so() -> None:
    play = Play(not_found)
    play.say("verification-requested")
    play.say("verification-requested", method="homepage")
    assert play.of("verification-failed")[0].cause == "busy"
    play.run()
    assert len(play.requests) == 1


def test_E13_a_withdrawal_ends_a_verification_that_is_under_way() -> None:
    play = homepage("", status=200)
    play.handler = lambda _: (200, HTML, META.encode())
    play.say("verification-requested", method="homepage")
    play.say("withdraw-verification", reason="sold")
    play.run()
    assert not play.of("verified")


def test_E10_a_weaker_proof_does_not_replace_the_stronger_one() -> None:
    play = homepage(f"<head>{META}")
    play.handler = lambda _: (200, HTML, f"<p>{LINE}".encode())
    play.say("verification-requested", method="homepage")
    play.run()
    assert [fact.method for fact in play.of("verified")] == ["homepage_meta", "homepage_text"]
    assert play.site.head.accounts["acme"].proof.method == "homepage_meta"  # type: ignore[union-attr]


# --- tokens


names = st.text(min_size=1, max_size=30)


@given(names, names, names)
def test_E05_a_token_belongs_to_one_account_and_one_name(account: str, other: str, site: str) -> None:
    mine = accepted(KEY, "ema", account, site, NOW)
    theirs = accepted(KEY, "ema", other, site, NOW)
    assert bool(set(mine) & set(theirs)) is (account == other)
    assert all(len(each) == 32 for each in mine)  # 160 bits


@given(st.floats(0, 4e9), st.floats(0, 2.0))
def test_E09_an_unused_token_expires_when_it_said(at: float, later: float) -> None:
    found = issued(KEY, "ema", "acme", "shop.example", at)
    assert PERIOD <= found.expires - at <= 2 * PERIOD
    used = at + later * 2 * PERIOD
    assert (found.token in accepted(KEY, "ema", "acme", "shop.example", used)) is (used < found.expires)


def test_E06_C03_a_token_is_for_the_site_or_for_the_exact_host() -> None:
    assert name_for(bots.load("ema"), "shop.example", "www.shop.example") == "shop.example"
    assert name_for(bots.load("certant"), "shop.example", "www.shop.example") == "www.shop.example"


def test_E09_an_expired_token_proves_nothing() -> None:
    old = token(KEY, "ema", "acme", "shop.example", NOW - 3 * PERIOD)
    play = Play(lambda _: (200, TEXT, old.encode()))
    play.say("verification-requested")
    play.run()
    assert play.of("verification-failed")[0].cause == "no_token"


@pytest.mark.parametrize("media", ["text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml"])
def test_E09_a_web_page_is_no_token_file_even_with_the_token_in_it(media: str) -> None:
    play = Play(lambda _: (200, {"Content-Type": media}, f"{MINE}\n".encode()))
    play.say("verification-requested")
    play.run()
    assert play.of("verification-failed")[0].cause == "html"


def test_E09_a_token_file_of_a_gigabyte_is_read_for_its_first_1024_bytes() -> None:
    play = Play(lambda _: (200, TEXT, f"{MINE}\n".encode() + b"x" * 5_000_000))
    play.say("verification-requested")
    play.run()
    request = play.requests[0][2]
    assert (request.max_bytes, request.truncate, request.timeout) == (1024, True, 8.0)
    assert play.of("verified")


# --- matching


@pytest.mark.parametrize(
    ("body", "proves"),
    [
        (b"\xef\xbb\xbf{t}\r\n", True),
        (b"ema-site-verification={t}", True),
        (b"x\n\n  {t}\t\n", True),
        (b"{t}{t}", False),
        (b"token: {t}", False),
        (b"x" * 1000 + b"\n{t}", False),  # ends at byte 1,033
        (b"x" * 991 + b"\n{t}", True),
        (b"\x00{t}", False),
        (b"{t}\x00", False),
        (b"", False),
    ],
)
def test_E09_the_file_s_first_1024_bytes_hold_the_token_on_a_line(body: bytes, proves: bool) -> None:
    rule = bots.load("ema").proofs.file
    assert rule is not None
    cut = body.replace(b"{t}", MINE.encode())[: rule.max_bytes]
    assert (proofs.file_proves(cut, (MINE,), rule) == MINE) is proves


@given(st.binary(max_size=200))
def test_E09_no_bytes_without_the_token_prove(body: bytes) -> None:
    rule = bots.load("ema").proofs.file
    assert rule is not None
    assert proofs.file_proves(body, (MINE,), rule) is None


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://uni.example/~ann/", "/~ann"),
        ("https://uni.example/~ann", "/~ann"),
        ("https://uni.example/~ann/a/b?x=1", "/~ann"),
        ("https://uni.example/x/~ann/", ""),
        ("https://shop.example/", ""),
        ("https://www.facebook.com/shop", "/shop"),
        ("https://shop.wordpress.com/x", ""),
    ],
)
def test_C04_what_a_proof_on_a_page_covers(url: str, path: str) -> None:
    assert proofs.covered_path(url) == path


# --- Certant


def certant(begin: str = "/", **pages: Answer) -> Play:
    paths = {"index": "/", "robots_txt": "/robots.txt"}
    found = {paths.get(name, f"/{name}"): page for name, page in pages.items()}
    play = Play(lambda path: found.get(path, not_found(path)), policy=CERTANT)
    play.say("verification-requested", method="homepage", path=begin)
    play.run()
    return play


def theirs(host: str = "shop.example", at: float = NOW) -> str:
    return token(KEY, "certant", "acme", host, at)


def test_C04_C07_the_header_on_the_start_page_proves_and_robots_is_asked_first() -> None:
    play = certant("/start", start=(200, {**HTML, "X-Certant-Verification": theirs()}, b"x"))
    assert play.asked() == ["/robots.txt", "/start"]
    fact = play.of("verified")[0]
    assert (fact.method, fact.path, fact.token) == ("start_page_header", "", theirs())
    assert not play.of("robots-decided")


def test_C04_the_meta_on_the_start_page_proves_and_text_does_not() -> None:
    meta = f'<head><meta name="certant-verification" content="{theirs()}"></head>'
    assert certant(index=(200, HTML, meta.encode())).of("verified")[0].method == "start_page_meta"
    text = certant(index=(200, HTML, f"<p>{theirs()}</p><p>certant-verify={theirs()}</p>".encode()))
    assert text.of("verification-failed")[0].cause == "no_token"


def test_C07_a_proof_that_robots_denies_is_not_read() -> None:
    play = certant(robots_txt=(200, TEXT, b"User-agent: CertantBot\nDisallow: /"))
    assert play.asked() == ["/robots.txt"]
    fact = play.of("verification-failed")[0]
    assert (fact.result, fact.cause) == ("undetermined", "robots")
    assert not [key for key in play.records if "|r|" in key]


def test_C04_a_personal_path_is_all_that_its_proof_covers() -> None:
    header = {**HTML, "X-Certant-Verification": theirs()}
    body = b"<main>" + b"Words about pots. " * 10 + b"</main><a href='/~ann/b'>b</a><a href='/other'>o</a>"
    pages = {"/~ann/": (200, header, body), "/~ann/b": (200, HTML, body + b"b" * 40), "/other": (200, HTML, body)}
    play = Play(lambda path: pages.get(path, not_found(path)), policy=CERTANT)
    play.say("verification-requested", method="homepage", path="/~ann/")
    play.run()
    assert play.of("verified")[0].path == "/~ann"
    play.say("site-confirmed")
    play.say("crawl-requested", path="/~ann/", plan="trial")
    play.run()
    assert play.of("proof-rechecked")[0].page_limit == 1000
    assert "/other" not in play.asked()
    assert "/~ann/b" in play.asked()
    play.say("crawl-requested", path="/", plan="trial")
    assert play.of("crawl-decided")[-1].page_limit == 25
    assert not play.of("crawl-decided")[-1].verified


def rechecked(answer: Answer | Outcome) -> Play:
    """A proved customer on the paid plan, whose token file is now as `answer` says."""
    file = "/.well-known/certant-verification.txt"
    pages: dict[str, Any] = {file: (200, TEXT, theirs().encode())}
    play = Play(lambda path: pages.get(path, not_found(path)), policy=CERTANT)
    play.say("verification-requested")
    play.run()
    assert play.of("verified")
    pages[file] = answer
    play.now += 100 * 86_400
    play.say("site-confirmed")
    play.say("crawl-requested", plan="paid")
    play.run()
    return play


def test_C06_the_proof_is_looked_at_again_and_its_old_token_still_counts() -> None:
    play = rechecked((200, TEXT, theirs().encode()))
    fact = play.of("proof-rechecked")[0]
    assert (fact.result, fact.page_limit) == ("found", 5000)
    asked = play.asked()
    assert asked.index("/robots.txt", 2) < asked.index("/.well-known/certant-verification.txt", 2)


@pytest.mark.parametrize("answer", [not_found(""), (200, TEXT, b"nothing"), (200, HTML, b"<html>")])
def test_C06_absent_takes_the_site_back_to_the_standard_limit(answer: Answer) -> None:
    play = rechecked(answer)
    fact = play.of("proof-rechecked")[0]
    assert (fact.result, fact.page_limit) == ("absent", 100)
    assert play.site.head.accounts["acme"].proof is None


@pytest.mark.parametrize("answer", [Outcome.TIMEOUT, (500, TEXT, b""), (429, TEXT, b"")])
def test_C06_undetermined_removes_nothing_and_adds_no_page_above_the_standard_limit(answer: Any) -> None:
    play = rechecked(answer)
    fact = play.of("proof-rechecked")[0]
    assert (fact.result, fact.page_limit) == ("undetermined", 100)
    assert play.site.head.accounts["acme"].proof is not None


def test_C01_without_the_customer_s_word_there_is_no_crawl_and_with_it_who_and_when_are_recorded() -> None:
    play = Play(not_found, policy=CERTANT)
    play.say("crawl-requested")
    assert play.of("crawl-decided")[-1].refusal == "unconfirmed"
    play.now += 5
    play.say("site-confirmed", by="carl")
    assert (play.of("site-confirmed")[0].by, play.of("site-confirmed")[0].at) == ("carl", play.now)
    play.say("crawl-requested")
    fact = play.of("crawl-decided")[-1]
    assert (fact.accepted, fact.confirmed_by, fact.confirmed_at, fact.verified) == (True, "carl", play.now, False)
    assert not play.requests


def test_C01_another_account_s_word_opens_nothing() -> None:
    play = Play(not_found, policy=CERTANT)
    play.say("site-confirmed", account="rival")
    play.say("crawl-requested")
    assert play.of("crawl-decided")[-1].refusal == "unconfirmed"


def test_C02_twenty_five_pages_are_kept_on_trial() -> None:
    def endless(path: str) -> Answer:
        number = int(path[2:]) if path.startswith("/p") else 0
        body = f"<title>{number}</title><main><p>{f'What stands on page {number} of this shop. ' * 5}</p></main>"
        links = "".join(f"<a href='/p{number * 3 + more}'>x</a>" for more in (1, 2, 3))
        return (200, HTML, (body + links).encode()) if path != "/robots.txt" else not_found(path)

    play = Play(endless, policy=CERTANT)
    play.say("site-confirmed")
    play.say("crawl-requested", plan="trial")
    play.run()
    ended = play.of("crawl-ended")[0]
    assert ended.pages == 25
    assert ended.requests["page"] <= 50


def test_A04_a_recheck_survives_another_owner() -> None:
    pages: dict[str, Any] = {"/.well-known/certant-verification.txt": (200, TEXT, theirs().encode())}
    play = Play(lambda path: pages.get(path, not_found(path)), policy=CERTANT)
    play.say("verification-requested")
    play.run()
    play.say("site-confirmed")
    play.say("crawl-requested")
    play.step()
    play.restart()
    play.run()
    assert len(play.of("proof-rechecked")) == 1
    assert len(play.of("crawl-ended")) == 1


def test_head_round_trip_with_everything_in_it() -> None:
    account = Account(confirmed=Confirmation(at=1.0, by="x"), lost_at=2.0)
    head = Head(site="shop.example", partition=0, accounts={"acme": account})
    assert Head.model_validate_json(head.model_dump_json()) == head
    assert replace(Play(not_found).site, head=head).head.stopped is False
