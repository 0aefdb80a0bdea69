"""Holds by themselves: no broker, a clock that is a number."""

from __future__ import annotations

import json
import uuid

import pytest

from agents.holds import LIMIT, Holds
from agents.intake import message_of
from models.mailbox import Message

SITE = "shop.example"


def command(kind: str) -> Message:
    said = {"address": f"www.{SITE}", "by": "ann", "reason": "so"}
    raw = json.dumps({"id": str(uuid.uuid4()), "type": kind, "version": 1, "data": said}).encode()
    return message_of("operator-commands", 0, 0, 0.0, raw)


@pytest.mark.parametrize("kind", ["suspend-site", "block-site", "erase-site", "unlist-site"])
def test_E25_W13_a_stop_holds_its_site_until_the_actor_has_decided_that_very_message(kind: str) -> None:
    decided: set[tuple[str, str]] = set()
    holds = Holds(lambda site, message: (site, message) in decided)
    first, second = command(kind), command(kind)
    holds.say(first, 0.0)
    holds.say(second, 0.0)
    decided.add((SITE, first.id))
    assert holds.held(SITE, 1.0)
    assert not holds.held("other.example", 1.0)
    decided.add((SITE, second.id))
    assert not holds.held(SITE, 1.0)


@pytest.mark.parametrize("kind", ["resume-site", "unblock-site", "list-site"])
def test_E25_a_resumption_neither_holds_nor_ends_a_hold(kind: str) -> None:
    holds = Holds(lambda _site, _message: False)
    holds.say(command(kind), 0.0)
    assert not holds.held(SITE, 0.0)
    holds.say(command("suspend-site"), 0.0)
    holds.say(command(kind), 0.0)
    assert holds.held(SITE, 0.0)


def test_E25_a_command_that_was_decided_before_it_is_heard_holds_nothing() -> None:
    holds = Holds(lambda _site, _message: True)
    holds.say(command("suspend-site"), 0.0)
    assert not holds.held(SITE, 0.0)


def test_E25_a_hold_whose_message_never_comes_is_dropped_and_hearing_it_again_does_not_prolong_it() -> None:
    holds = Holds(lambda _site, _message: False)
    said = command("suspend-site")
    holds.say(said, 0.0)
    holds.say(said, LIMIT - 1)
    holds.sweep(LIMIT)
    assert holds.held(SITE, LIMIT)
    assert not holds.held(SITE, LIMIT + 1)


def test_E25_what_was_said_about_sites_of_others_is_forgotten_in_the_end() -> None:
    holds = Holds(lambda _site, _message: False)
    holds.say(command("suspend-site"), 0.0)
    holds.sweep(2 * LIMIT + 1)
    assert not holds._held
