"""Proofs in the DNS (E08, C03): real DNS messages over real HTTP on loopback, and when resolvers agree."""

from __future__ import annotations

import asyncio

import dns.flags
import dns.message
import dns.rcode
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from crawler.fetch.doh import Doh
from crawler.fetch.network import Network
from crawler.rules import dns_proof
from crawler.rules.dns_proof import Said, agree
from crawler.rules.site import Policy
from crawler.rules.tokens import token
from models.profile import DnsProof
from models.web import Lookup, Outcome, Reply, Response
from tests.authority.resolver import MEDIA, Answer, Resolver, Says, message, says, zone
from tests.jobs.driver import Play, not_found

KEY = b"k" * 32
NOW = 1_800_000_000.0
MINE = token(KEY, "ema", "acme", "shop.example", NOW)
PROOF = f"ema-site-verification={MINE}"


def rule(bot: str = "ema") -> DnsProof:
    found = bots.load(bot).proofs.dns
    assert found is not None
    return found


async def answers(*resolvers: Says, seconds: float = 2.0, names: tuple[str, ...] = ("shop.example",)) -> Response:
    servers = [await Resolver(one).__aenter__() for one in resolvers]
    network = Network(routes={"x.example": ("127.0.0.1", 9)}, resolvers=tuple(one.url for one in servers))
    doh = Doh((), network)
    try:
        return await doh.ask(Lookup(names, seconds))
    finally:
        await doh.close()
        for one in servers:
            await one.__aexit__()


async def said(resolver: Says, seconds: float = 2.0) -> Said:
    reply = (await answers(resolver, seconds=seconds)).replies[0]
    return dns_proof.read(reply, (MINE,), rule())


@pytest.mark.parametrize(
    "lines",
    [
        (f'@ TXT "{PROOF}"',),
        ('@ TXT "v=spf1 -all"', f'@ TXT "{PROOF}"', '@ TXT "x"'),
        (f'@ TXT "ema-site-" "verification={MINE[:9]}" "{MINE[9:]}"',),
        (f'@ TXT "EMA-Site-Verification={MINE}"',),
        (f'@ TXT "  {PROOF} "',),
        (f'@ TXT "\\"{PROOF}\\""',),
        ("@ CNAME One.Other.Example.", "one.other.example. CNAME two.example.", f'two.example. TXT "{PROOF}"'),
    ],
)
async def test_E08_records_that_prove(lines: tuple[str, ...]) -> None:
    found = await said(says(*lines))
    assert (found.found, found.token, found.authentic) == ("found", MINE, False)


@pytest.mark.parametrize(
    "lines",
    [
        (),
        ('@ TXT "v=spf1 -all"',),
        (f'@ TXT "v=spf1 {PROOF}"',),
        (f'@ TXT "{PROOF}x"',),
        (f'@ TXT "{PROOF.upper()}"',),
        (f'@ TXT "{MINE}"',),
        (f'@ TXT "{PROOF[:20]}"', f'@ TXT "{PROOF[20:]}"'),
        (f'@ TXT "ema-site-verification={token(KEY, "ema", "rival", "shop.example", NOW)}"',),
        (f'elsewhere.example. TXT "{PROOF}"',),
        ("@ CNAME one.example.", f'two.example. TXT "{PROOF}"'),
        (f"@ TXT \"'{PROOF}'\"",),
    ],
)
async def test_E08_records_that_do_not_prove(lines: tuple[str, ...]) -> None:
    assert (await said(says(*lines))).found == "absent"


async def test_E08_no_such_name_is_absent_and_the_ad_bit_is_read() -> None:
    assert (await said(says(rcode=dns.rcode.NXDOMAIN))).found == "absent"
    assert (await said(says(f'@ TXT "{PROOF}"', ad=True))).authentic


def _foreign(query: dns.message.Message) -> Answer:
    other = dns.message.make_query("other.example", "TXT", id=0)
    return 200, MEDIA, message(other, f'other.example. TXT "{PROOF}"')


def _another_id(query: dns.message.Message) -> Answer:
    query.id = 7
    return 200, MEDIA, message(query, f'shop.example. TXT "{PROOF}"')


async def _never(query: dns.message.Message) -> Answer:
    await asyncio.sleep(30)
    raise AssertionError


UNDETERMINED: dict[str, Says] = {
    "SERVFAIL": says(rcode=dns.rcode.SERVFAIL),
    "REFUSED": says(rcode=dns.rcode.REFUSED),
    "cut off": says(f'@ TXT "{PROOF}"', tc=True),
    "another question": _foreign,
    "another id": _another_id,
    "the question itself": lambda query: (200, MEDIA, query.to_wire()),
    "garbage": lambda _: (200, MEDIA, b"\x00\x00garbage"),
    "half a message": lambda query: (200, MEDIA, message(query, f'@shop TXT "{PROOF}"')[:-9]),
    "nothing": lambda _: (200, MEDIA, b""),
    "HTML": lambda _: (200, "text/html", b"<html>"),
    "HTML that says it is DNS": lambda _: (200, MEDIA, b"<html>" * 90),
    "JSON": lambda _: (200, "application/dns-json", b'{"Status":0}'),
    "an error": lambda query: (500, MEDIA, message(query, f'@shop TXT "{PROOF}"')),
    "a redirect": lambda _: (302, MEDIA, b""),
    "too much": lambda _: (200, MEDIA, b"\x00" * 70_000),
    "a loop": says("@ CNAME one.example.", "one.example. CNAME shop.example."),
    "silence": _never,
}


@pytest.mark.parametrize("name", UNDETERMINED)
async def test_E08_F54_what_is_no_answer_is_undetermined_and_says_why(name: str) -> None:
    found = await said(UNDETERMINED[name], seconds=0.5 if name == "silence" else 2.0)
    assert found.found == "undetermined", found
    assert len(found.why) > 5


async def test_E08_F54_a_resolver_that_is_not_there_is_undetermined() -> None:
    network = Network(routes={"x.example": ("127.0.0.1", 9)}, resolvers=("http://127.0.0.1:1/dns-query",))
    doh = Doh((), network)
    response = await doh.ask(Lookup(("shop.example",), 2.0))
    await doh.close()
    assert response.outcome is Outcome.DNS
    assert "cannot be reached" in response.replies[0].error


async def test_E08_both_names_are_asked_of_every_resolver_and_nothing_of_us_but_the_question() -> None:
    async with Resolver(says()) as one, Resolver(says()) as two:
        network = Network(routes={"x.example": ("127.0.0.1", 9)}, resolvers=(one.url, two.url))
        doh = Doh((), network)
        await doh.ask(dns_proof.lookup(rule(), "shop.example"))
        await doh.close()
        for server in (one, two):
            assert sorted(server.asked) == ["_ema-verify.shop.example", "shop.example"]
            assert server.heads[0]["Accept"] == MEDIA
            assert "Cookie" not in server.heads[0]


async def test_A02_a_network_with_routes_never_asks_the_internet_s_resolvers() -> None:
    doh = Doh(("https://dns.example/dns-query",), Network(routes={"x.example": ("127.0.0.1", 9)}))
    assert (await doh.ask(Lookup(("shop.example",), 1.0))).replies == ()
    with pytest.raises(ValueError, match="loopback"):
        Network(routes={"x.example": ("127.0.0.1", 9)}, resolvers=("http://192.0.2.1/dns-query",))
    with pytest.raises(ValueError, match="loopback"):
        Network(resolvers=("http://127.0.0.1/dns-query",))


async def test_E08_a_name_that_is_too_long_is_an_answer_and_no_crash() -> None:
    long = ".".join(["a" * 60] * 4) + ".example"
    assert all(reply.error for reply in (await answers(says(), names=(f"_ema-verify.{long}",))).replies)


@given(st.binary(max_size=300))
def test_E08_any_bytes_are_one_of_three_answers(raw: bytes) -> None:
    for start in (b"", dns_proof.query("shop.example")[:12]):
        found = dns_proof.read(Reply("r", "shop.example", start + raw), (MINE,), rule())
        assert found.found in ("absent", "undetermined")


# --- agreement


def one(resolver: str, found: str, name: str = "shop.example", ad: bool = False) -> Said:
    return Said(resolver, name, found, MINE if found == "found" else "", ad, "why")  # type: ignore[arg-type]


F, A, U = "found", "absent", "undetermined"


@pytest.mark.parametrize(
    ("first", "second", "attempt", "result"),
    [
        (F, F, 1, "found"),
        (F, A, 1, "undetermined"),
        (F, A, 2, "undetermined"),
        (F, U, 1, "again"),
        (F, U, 2, "found"),
        (A, A, 1, "absent"),
        (A, U, 1, "absent"),
        (U, U, 1, "again"),
        (U, U, 2, "undetermined"),
    ],
)
def test_E08_F54_the_agreement_rule(first: str, second: str, attempt: int, result: str) -> None:
    assert agree([one("one", first), one("two", second)], attempt).result == result
    assert agree([one("two", second), one("one", first)], attempt).result == result


def test_E08_one_validated_match_is_enough() -> None:
    assert agree([one("one", F, ad=True), one("two", A)], 1).result == "found"
    assert agree([one("one", A, ad=True), one("two", F)], 1).result == "undetermined"


def test_E08_each_resolver_is_judged_by_the_name_that_has_the_record() -> None:
    """A resolver without an apex record that fails on the second name has not said that it is absent there."""
    both = [one("one", A), one("one", F, "_ema-verify.shop.example"), one("two", A)]
    assert agree([*both, one("two", U, "_ema-verify.shop.example")], 2).result == "found"
    assert agree([*both, one("two", A, "_ema-verify.shop.example")], 2).result == "undetermined"
    assert agree([*both, one("two", F, "_ema-verify.shop.example")], 1).result == "found"


def test_E08_no_resolver_at_all_is_undetermined() -> None:
    assert agree([], 2).result == "undetermined"


# --- the job


def reply(resolver: str, name: str, says: Says) -> Reply:
    status, _, body = says(dns.message.from_wire(dns_proof.query(name)))  # type: ignore[misc]
    return Reply(resolver, name, body if status == 200 else b"", "" if status == 200 else "error")


def play(says: dict[str, Says], bot: str = "ema", host: str = "shop.example") -> Play:
    found = Play(not_found, policy=Policy(bots.load(bot), KEY), host=host)
    found.resolve = lambda resolver, name: reply(resolver, name, says[resolver])
    found.say("verification-requested", method="dns")
    found.run()
    return found


def test_E08_a_record_at_either_name_proves_and_the_site_is_asked_nothing() -> None:
    for name in ("shop__example", "_ema-verify__shop__example"):
        both = zone(**{name: PROOF})
        found = play({"one": both, "two": both})
        assert found.of("verified")[0].method == "dns"
        assert not found.requests
        assert found.lookups[0].names == ("shop.example", "_ema-verify.shop.example")
        assert (found.site.head.last_end, found.site.head.intents) == (0.0, ())


def test_E06_E08_www_is_never_looked_up() -> None:
    both = zone(shop__example=PROOF)
    found = play({"one": both, "two": both}, host="www.shop.example")
    assert found.of("verified")[0].host == "shop.example"
    assert found.lookups[0].names == ("shop.example", "_ema-verify.shop.example")


def test_C03_the_exact_host_is_looked_up_and_proves_itself_alone() -> None:
    mine = token(KEY, "certant", "acme", "www.shop.example", NOW)
    both = zone(**{"_certant-verify__www__shop__example": f"certant-verify={mine}"})
    found = play({"one": both, "two": both}, "certant", "www.shop.example")
    assert found.lookups[0].names == ("_certant-verify.www.shop.example",)
    assert found.of("verified")[0].host == "www.shop.example"
    apex = play({"one": both, "two": both}, "certant", "shop.example")
    assert apex.of("verification-failed")[0].cause == "no_record"


def test_E08_the_customer_is_told_what_each_resolver_said() -> None:
    found = play({"one": zone(shop__example=PROOF), "two": zone()})
    fact = found.of("verification-failed")[0]
    assert (fact.result, fact.cause) == ("undetermined", "resolvers")
    assert "spreading" in fact.reason
    assert "two about shop.example" in fact.reason


def test_E08_one_broken_resolver_is_asked_twice_and_locks_nobody_out() -> None:
    broken = says(rcode=dns.rcode.SERVFAIL)
    found = play({"one": zone(shop__example=PROOF), "two": broken})
    assert len(found.lookups) == 2
    assert found.of("verified")
    nobody = play({"one": broken, "two": broken})
    assert nobody.of("verification-failed")[0].result == "undetermined"
    assert len(nobody.lookups) == 2


def test_C06_a_dns_proof_is_looked_at_again_where_it_was_found() -> None:
    mine = token(KEY, "certant", "acme", "shop.example", NOW)
    both = zone(**{"_certant-verify__shop__example": f"certant-verify={mine}"})
    found = play({"one": both, "two": both}, "certant")
    found.say("site-confirmed")
    found.now += 90 * 86_400
    found.say("crawl-requested", plan="trial")
    found.run()
    assert found.of("proof-rechecked")[0].result == "found"
    gone = zone()
    found.resolve = lambda resolver, name: reply(resolver, name, gone)
    found.say("crawl-requested", plan="trial")
    found.run()
    assert found.of("proof-rechecked")[1].result == "absent"
    assert found.of("proof-rechecked")[1].page_limit == 25
