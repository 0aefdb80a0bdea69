"""Saving addresses in a loop is no stream of HEADs (E07, stricter)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bots
from agents.intake import Intake
from crawler.rules import sentences
from crawler.rules.checks import MOST_ACCOUNTS, AccountDay
from crawler.rules.site import Policy
from models.mailbox import Message
from models.wire import Unreadable
from tests.authority.events import raw
from tests.jobs.driver import Play, page

DAY = 86_400.0
EMA = bots.load("ema")
MOST = EMA.address_check.per_site_day


def test_E07_the_limits_are_ten_a_site_and_fifty_sites_an_account_and_none_where_no_check_is_announced() -> None:
    assert (MOST, EMA.address_check.per_account_day) == (10, 50)
    for bot in ("wembi", "certant"):
        assert not bots.load(bot).address_check.enabled  # A01


def heads(play: Play) -> int:
    return sum(request.method == "HEAD" for _, _, request in play.requests)


def saved(play: Play, times: int, account: str = "acme") -> None:
    for number in range(times):
        play.say("address-saved", path=f"/{account}{number}", account=account)
        play.run()


def test_E07_one_account_that_saves_in_a_loop_is_checked_so_often_and_no_more() -> None:
    play = Play(page)
    saved(play, 3 * MOST)
    assert heads(play) == MOST
    assert len(play.of("settings-saved")) == 3 * MOST  # never held up
    assert play.site.head.accounts["acme"].start.endswith(f"/acme{3 * MOST - 1}")
    refused = [fact for fact in play.of("address-checked") if fact.outcome == "site_limit"]
    assert len(refused) == 2 * MOST
    assert {fact.reason for fact in refused} == {sentences.NOT_CHECKED["site_limit"]}
    assert not any(fact.answers for fact in refused)


def test_E07_the_limit_is_the_site_s_over_all_accounts_and_over_a_restart() -> None:
    play = Play(page)
    saved(play, MOST - 1, "acme")
    play.restart()
    saved(play, 3, "rival")
    assert heads(play) == MOST


def test_E07_the_next_day_the_site_is_asked_again_and_the_days_before_are_forgotten() -> None:
    play = Play(page)
    for day in range(4):
        saved(play, MOST + 2, f"a{day}")
        play.now += DAY
    assert heads(play) == 4 * MOST
    assert len(play.site.head.checks) <= 2


def test_E07_a_message_that_comes_again_takes_no_place() -> None:
    play = Play(page)
    for _ in range(3 * MOST):
        play.say("address-saved", message_id="m1")
        play.run()
    assert heads(play) == 1
    assert [len(ids) for ids in play.site.head.checks.values()] == [1]


@pytest.mark.parametrize(("said", "why"), [("suspend-site", "suspended"), ("block-site", "blocked")])
def test_E07_E25_W13_a_stopped_site_is_not_asked_and_the_save_says_so(said: str, why: str) -> None:
    play = Play(page)
    play.say(said)
    saved(play, 1)
    assert heads(play) == 0
    assert [(fact.outcome, fact.reason) for fact in play.of("address-checked")] == [(why, sentences.NOT_CHECKED[why])]  # type: ignore[index]
    assert play.site.head.accounts["acme"].saved_at


def test_E07_a_deployment_may_tighten_the_limits_and_not_widen_them() -> None:
    strict = EMA.tightened({"address_check": {"per_site_day": 1, "per_account_day": 0}})
    play = Play(page, policy=Policy(strict, b"k" * 32))
    saved(play, 3)
    assert heads(play) == 1
    for field in ("per_site_day", "per_account_day"):
        with pytest.raises(ValueError, match="at most"):
            EMA.tightened({"address_check": {field: 1000}})


# --- an account over many sites: what one worker's intake knows


class Told:
    """Stands for the way out; keeps what was forwarded."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.letters: list[Unreadable] = []

    async def to_site(self, message: Message) -> None:
        self.messages.append(message)

    async def dead_letter(self, event: Any, error: Unreadable) -> None:
        self.letters.append(error)


async def heard(*said: tuple[str, str, float], most: int = 2) -> list[bool]:
    """For each (account, address, time): whether the site is told that the account's checks are spent."""
    told = Told()
    intake = Intake(told, EMA.tightened({"address_check": {"per_account_day": most}}))  # type: ignore[arg-type]
    for number, (account, address, at) in enumerate(said):
        event = raw("address-saved", account=account, address=address)

        class Event:
            class message:  # noqa: N801 - Faust's own shape
                topic, partition, offset, timestamp, value = "address-saved", 0, number, at, event

        await (await intake._one(Event)).send()
    return [message.account_spent for message in told.messages]


async def test_E07_an_account_that_saves_one_site_after_the_other_is_spent() -> None:
    said = [("acme", f"s{number}.example", 1.8e9) for number in range(4)]
    assert await heard(*said) == [False, False, True, True]
    assert await heard(*said, said[0], said[3]) == [False, False, True, True, False, True]  # delivered again
    assert await heard(*said[:3], ("rival", "s9.example", 1.8e9)) == [False, False, True, False]
    assert await heard(*said[:3], ("acme", "s9.example", 1.8e9 + DAY)) == [False, False, True, False]


def test_E07_a_site_that_hears_so_sends_no_head_and_saves() -> None:
    play = Play(page)
    play.say("address-saved", account_spent=True)  # a customer's field of that name means nothing
    play.run()
    assert heads(play) == 1
    other = Play(page)
    other.spent = True
    other.say("address-saved")
    other.run()
    assert heads(other) == 0
    assert other.of("address-checked")[0].outcome == "account_limit"
    assert other.of("settings-saved")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 30), st.integers(0, 3)), max_size=200))
def test_E07_no_account_has_more_sites_in_a_day_than_the_limit(said: list[tuple[int, int, int]]) -> None:
    rule, let = AccountDay(5), set()
    for account, site, day in sorted(said, key=lambda one: one[2]):
        if not rule.spent(str(account), str(site), day * DAY):
            let.add((account, site, day))
    for account, _, day in let:
        assert sum(1 for one in let if (one[0], one[2]) == (account, day)) <= 5


def test_E07_what_a_worker_remembers_of_accounts_is_bounded() -> None:
    rule = AccountDay(50)
    for number in range(2 * MOST_ACCOUNTS):
        rule.spent(f"a{number}", "shop.example", 0.0)
    assert len(rule.sites) == MOST_ACCOUNTS
