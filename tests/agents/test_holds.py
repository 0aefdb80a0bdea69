"""Which sites are held: from the command on that every worker hears, until the site's mailbox has decided it."""

from __future__ import annotations

import json
import uuid
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.holds import Holds
from agents.intake import message_of
from models.intake import STAFF_TOPIC
from models.mailbox import Message

SITE = "shop.example"


def record(offset: int, kind: str = "suspend-site", partition: int = 0, site: str = SITE) -> Any:
    data = {"address": site, "by": "ann", "reason": "said so"}
    said = {"id": str(uuid.uuid4()), "type": kind, "version": 1, "producer": "tests", "data": data}
    return SimpleNamespace(partition=partition, offset=offset, timestamp=1000, value=json.dumps(said).encode())


def message(of: Any) -> Message:
    return message_of(STAFF_TOPIC, of.partition, of.offset, 1.0, of.value)


def hearing(begin: int = 0) -> Holds:
    holds = Holds()
    holds.begin({0: begin, 1: begin})
    return holds


def test_E25_a_stop_holds_its_site_until_the_mailbox_has_decided_it() -> None:
    for kind in ("suspend-site", "block-site", "erase-site"):
        holds, stop = hearing(), record(0, kind)
        holds.hear(stop)
        assert holds.held(SITE)
        assert not holds.held("other.example")
        holds.decided(message(stop))
        assert not holds.held(SITE)


def test_E25_a_resumption_is_not_heard_here() -> None:
    holds = hearing()
    holds.hear(record(0))
    holds.hear(record(1, "resume-site"))
    assert holds.held(SITE)


def test_E25_two_stops_hold_until_both_are_decided() -> None:
    holds, first, second = hearing(), record(0), record(0, partition=1)
    holds.hear(first)
    holds.hear(second)
    holds.decided(message(first))
    assert holds.held(SITE)
    holds.decided(message(second))
    assert not holds.held(SITE)


def test_what_is_decided_before_it_is_heard_holds_nothing() -> None:
    holds, stop = hearing(), record(0)
    holds.decided(message(stop))
    holds.hear(stop)
    assert not holds.held(SITE)


def test_what_is_in_a_mailbox_already_is_the_mailbox_s() -> None:
    holds = hearing()
    holds.hear(record(4))
    holds.hear(record(7))
    holds.forwarded({0: 5})
    assert holds.held(SITE)
    holds.forwarded({0: 8})
    assert not holds.held(SITE)


def test_what_cannot_be_read_holds_nobody() -> None:
    holds = hearing()
    holds.hear(SimpleNamespace(partition=0, offset=0, timestamp=0, value=b"not json"))
    holds.hear(SimpleNamespace(partition=0, offset=1, timestamp=0, value=None))
    assert not holds.held(SITE)
    assert holds.positions == {0: 2, 1: 0}


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(0, 3))
def test_E25_whatever_the_order_it_is_held_exactly_from_hearing_to_decision(order: list[int], begin: int) -> None:
    """Commands are heard in order; decisions come in any order, more than once, and before they are heard too."""
    stops = [record(number) for number in range(6)]
    holds, heard, decided = hearing(begin), begin, set(range(begin))
    for step in order:
        if step == 0 and heard < len(stops):
            holds.hear(stops[heard])
            heard += 1
        else:
            holds.decided(message(stops[step]))
            decided.add(step)
        assert holds.held(SITE) == bool(set(range(begin, heard)) - decided)
