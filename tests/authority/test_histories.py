"""Before there is authority a site sees nothing but what is announced: over a thousand histories (E05, E07, E12).

Producers are other people's programs: every message goes through the intake as bytes, with whatever claims a forger
would put into it. What is checked is the rule itself, told again in a few lines: an account may read a site while its
own authority stands, and nothing else opens it.
"""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import bots
from agents.intake import message_of
from crawler.rules.actor import decide
from crawler.rules.site import Policy
from crawler.rules.tokens import issued
from models.web import Kind
from models.wire import Unreadable
from tests.jobs.driver import TEXT, Answer, Play, not_found, page

ACCOUNTS = ("acme", "rival", "staff", "admin", "")
INTAKE = ("address-saved", "verification-requested", "crawl-requested", "listing-requested", "operator-commands")
STAFF = (
    "start-crawl", "suspend-site", "resume-site", "attest-site", "withdraw-verification", "block-site", "list-site",
)  # fmt: skip
FORGED = {
    "role": "staff", "verified": True, "proof": {"method": "dns"}, "requester": "staff", "by": "root", "staff": True,
    "kept_at": "x", "reason": "x", "suspended": None, "marker": True,
    "accounts": {"acme": {"proof": {}}}, "plan": "paid", "confirmed": True, "listed": {"by": "x"},
    "site": "other.example", "token": "x" * 32, "type": "attest-site",
}  # fmt: skip
BEFORE = {
    "ema": {Kind.ADDRESS_CHECK, Kind.TOKEN_FILE, Kind.HOMEPAGE_PROOF},
    "certant": {Kind.TOKEN_FILE, Kind.HOMEPAGE_PROOF, Kind.ROBOTS},
    "wembi": set(),
}
HOST = "shop.example"


class Histories(RuleBasedStateMachine):
    """One site, many producers, an owner who may place a proof, and staff."""

    bot = "ema"

    @initialize()
    def begin(self) -> None:
        self.play = Play(self.site, policy=Policy(bots.load(self.bot), b"k" * 32), took=0.01)
        self.placed: str | None = None
        self.number = 0
        self.open: set[str] = set()
        """Accounts whose authority stands, by the few lines below and not by the product's."""

    def site(self, path: str) -> Answer:
        if path.startswith("/.well-known/") and self.placed is not None:
            return 200, TEXT, self.token(self.placed).encode()
        if path == "/robots.txt" or path.startswith(("/.well-known/", "/sitemap")):
            return not_found(path)
        return page(f"page {path}", "/a", "/faq")

    def token(self, account: str) -> str:
        return issued(b"k" * 32, self.bot, account, HOST, self.play.now).token

    def say(self, topic: str, kind: str, data: dict[str, Any]) -> None:
        """Bytes on a topic; what cannot be read changes nothing."""
        self.number += 1
        envelope = {"id": str(uuid.UUID(int=self.number)), "type": kind, "version": 1, "role": "staff", "data": data}
        with suppress(Unreadable):
            message = message_of(topic, 0, self.number, self.play.now, json.dumps(envelope).encode())
            assert message.site == HOST
            before = len(self.play.facts)
            self.play.commit(decide(self.play.site, message, self.play.now, self.play.policy))
            self.follow(before)

    def follow(self, before: int) -> None:
        """What opens and closes a site for an account, told again from the facts."""
        for fact in self.play.facts[before:]:
            kind = fact.type  # type: ignore[attr-defined]
            if (kind == "verified" and self.bot == "ema") or (kind == "site-confirmed" and self.bot == "certant"):
                self.open.add(fact.account)  # type: ignore[attr-defined]
            elif kind == "verification-withdrawn" and self.bot == "ema":
                self.open.discard(fact.account)  # type: ignore[attr-defined]
            elif kind == "crawl-decided" and fact.accepted:  # type: ignore[attr-defined]
                assert self.bot == "wembi" or fact.account in self.open, fact  # type: ignore[attr-defined]

    @rule(
        topic=st.sampled_from(INTAKE[:-1]),
        kind=st.sampled_from((*INTAKE, *STAFF, "restore-site", "site-confirmed")),
        account=st.sampled_from(ACCOUNTS),
        data=st.sets(st.sampled_from(sorted(FORGED)), max_size=6),
    )
    def forge(self, topic: str, kind: str, account: str, data: set[str]) -> None:
        """Any producer, any type on any topic but the staff's, every field forged. C01's word is the customer's."""
        if kind == "site-confirmed" and topic == "address-saved":
            return
        claims = {name: FORGED[name] for name in data}
        method = {"method": "homepage"} if "token" in claims else {}
        self.say(topic, kind, {**claims, **method, "account": account, "address": HOST})

    @rule(topic=st.sampled_from(INTAKE[:-1]), account=st.sampled_from(ACCOUNTS))
    def ask(self, topic: str, account: str) -> None:
        """An honest customer."""
        self.say(topic, topic, {"account": account, "address": HOST})

    @rule(account=st.sampled_from(("acme", None)))
    def place(self, account: str | None) -> None:
        """The owner places the token of an account, or takes it away."""
        self.placed = account

    @rule(steps=st.integers(1, 8))
    def work(self, steps: int) -> None:
        for _ in range(steps):
            before = len(self.play.facts)
            more = self.play.step()
            self.follow(before)
            if not more:
                break

    @rule(kind=st.sampled_from(STAFF), account=st.sampled_from(ACCOUNTS[:2]))
    def command(self, kind: str, account: str) -> None:
        """Staff, on their own topic."""
        if self.bot == "wembi" and kind == "list-site":
            return  # its histories are those before any authority
        data = {"account": account, "address": HOST, "by": "ann", "reason": "so", "kept_at": "drawer 3"}
        self.say("operator-commands", kind, data)

    @rule()
    def restart(self) -> None:
        self.play.restart()

    @invariant()
    def nothing_but_what_is_announced(self) -> None:
        if not hasattr(self, "play"):
            return
        if not any(getattr(fact, "accepted", False) for fact in self.play.facts):
            assert {request.kind for _, _, request in self.play.requests} <= BEFORE[self.bot]
        if self.play.site.head.stopped:
            assert not self.play.site.head.jobs


@pytest.mark.parametrize(("bot", "histories"), [("ema", 1000), ("certant", 300), ("wembi", 300)])
def test_E05_E07_E12_W01_C01_before_authority_only_what_is_announced(bot: str, histories: int) -> None:
    machine = type(f"Histories_{bot}", (Histories,), {"bot": bot})
    run_state_machine_as_test(
        machine,  # type: ignore[arg-type]
        settings=settings(
            max_examples=histories, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_the_histories_do_reach_a_crawl() -> None:
    """The machine is worth nothing if it never gets through the gate."""
    machine = Histories()
    machine.begin()
    machine.place("acme")
    machine.ask("verification-requested", "acme")
    machine.work(2)
    machine.ask("crawl-requested", "acme")
    machine.work(3)
    assert machine.play.of("crawl-decided")[0].accepted
    assert machine.play.asked(Kind.PAGE)
