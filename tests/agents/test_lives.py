"""What shortens a wait, and what ends a worker: only certainty, and a younger process under the same name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.health import Health
from agents.lives import Lives, NameTaken
from agents.pump import MARGIN, takeover_wait
from agents.vitals import DEAF, LOST, Vitals
from models.lives import TOPIC, Life, full_name, new_life
from models.state import Head, Intent
from stack.kafka import Kafka
from stack.obituaries import Obituaries
from stack.tansu import Tansu
from stack.topics_admin import apply
from tests.agents.asking import ask
from tests.conftest import until

WALL = 1_700_000_000.0


@dataclass
class Record:
    value: bytes
    offset: int


def record(offset: int, worker: str, life: str, state: str = "started") -> Record:
    return Record(Life(worker=worker, life=life, state=state).model_dump_json().encode(), offset)  # type: ignore[arg-type]


def listener(mine: int | None = 5) -> tuple[Lives, list[BaseException]]:
    rivals: list[BaseException] = []
    lives = Lives("nowhere:1", Life(worker="worker-1", life="me", state="started"), rivals.append)
    lives._mine = mine
    return lives, rivals


def test_A03_only_a_reaped_process_is_certainly_dead() -> None:
    lives, _ = listener()
    lives.hear(record(0, "worker-2", "a"))
    lives.hear(record(1, "worker-2", "b"))
    lives.hear(record(2, "worker-2", "a", "gone"))
    assert lives.certainly_dead(full_name("worker-2", "a"))
    assert not lives.certainly_dead(full_name("worker-2", "b"))
    assert not lives.certainly_dead("worker-2")


@pytest.mark.parametrize(
    ("offset", "name", "life", "ends"),
    [
        (6, "worker-1", "other", True),
        (4, "worker-1", "other", False),
        (6, "worker-2", "x", False),
        (6, "worker-1", "me", False),
    ],
)
def test_A03_the_older_of_two_under_one_name_ends(offset: int, name: str, life: str, ends: bool) -> None:
    lives, rivals = listener()
    lives.hear(record(offset, name, life))
    assert [type(rival) for rival in rivals] == ([NameTaken] if ends else [])
    assert all("under the name worker-1" in str(rival) for rival in rivals)


def test_an_earlier_process_of_the_name_is_reckoned_with_until_it_is_buried() -> None:
    lives, _ = listener()
    lives.hear(record(1, "worker-1", "before"))
    assert lives.namesake
    lives.hear(record(2, "worker-1", "before", "gone"))
    assert not lives.namesake


def test_what_is_no_record_of_ours_is_passed_over() -> None:
    lives, rivals = listener()
    for value in (b"", b"{", b'{"worker": 1}', b"\xff"):
        lives.hear(Record(value, 9))
    assert rivals == []


@pytest.mark.stack
async def test_a_death_that_a_supervisor_published_is_known_before_the_group_is_joined(broker: Kafka | Tansu) -> None:
    await apply(broker.bootstrap)
    name, said = f"w-{new_life()}", []
    obituaries = Obituaries(broker.bootstrap, broker.kind, lambda _n, line: said.append(line))
    rivals: list[BaseException] = []
    first = Lives(broker.bootstrap, Life(worker=name, life="one", state="started"), rivals.append)
    second = Lives(broker.bootstrap, Life(worker=name, life="two", state="started"), rivals.append)
    try:
        await first.start()
        await obituaries.publish("someone", "gone-life")
        await second.start()
        assert second.certainly_dead("someone@gone-life")
        assert second.namesake
        await until(lambda: bool(rivals))
        assert [str(rival) for rival in rivals] == [
            f"another process was started under the name {name}: this one, the older, ends"
        ]
        await obituaries.publish(name, "one")
        await until(lambda: not second.namesake)
    finally:
        await asyncio.gather(first.stop(), second.stop(), obituaries.close())
    assert said == []
    assert TOPIC == "worker-lives"


def head(*intents: Intent, wait: float = 1.0) -> Head:
    return Head(site="a.example", partition=0, intents=intents, wait=wait, last_end=WALL - 5)


def intent(worker: str, at: float = WALL) -> Intent:
    return Intent(
        number=1, job="j", kind="page", method="GET", url_id="u", attempt=1, worker=worker, at=at, timeout=30.0
    )


def test_A03_an_open_request_is_waited_out_unless_its_worker_is_certainly_dead() -> None:
    dead = {"w@dead"}.__contains__
    assert takeover_wait(head(intent("w@alive")), WALL, 1.0, dead) == 30.0 + MARGIN + 1.0
    assert takeover_wait(head(intent("w@dead")), WALL, 1.0, dead) == 1.0
    assert takeover_wait(head(intent("w@dead"), intent("w@alive")), WALL, 1.0, dead) == 33.0


@given(st.floats(-1e6, 1e6), st.booleans(), st.floats(0, 60))
def test_F29_no_clock_shortens_the_takeover_below_the_delay_or_stretches_it_for_a_day(
    skew: float, dead: bool, wait: float
) -> None:
    found = takeover_wait(head(intent("w@x", WALL + skew), wait=wait), WALL, 1.0, lambda _name: dead)
    assert 1.0 <= found <= max(wait, 30.0 + MARGIN + 1.0)


def vitals(session: float = 6.0, *, asks_group: bool = True) -> Vitals:
    found = Vitals("nowhere:1", "g", "me", interval=1.0, session=session, asks_group=asks_group)
    found.assigned = True
    return found


@pytest.mark.parametrize(("field", "words"), [("member", "out of the group"), ("progress", "taking no messages")])
def test_F11_deaf_is_who_is_out_of_work_although_the_broker_is_there(field: str, words: str) -> None:
    deaf = vitals()
    setattr(deaf.pulse, field, deaf.pulse.broker - DEAF - 1)
    assert deaf.deaf().startswith(words)


def test_F11_who_is_no_member_and_does_not_know_it_is_deaf_sooner() -> None:
    found = vitals()
    found.pulse.member -= LOST + 1
    assert found.deaf() == ""
    found.absent = True
    assert found.deaf().startswith("out of the group")
    found.assigned = False  # a rebalance is under way, or it has not joined yet
    assert found.deaf() == ""


def test_F11_a_worker_that_is_never_assigned_is_deaf() -> None:
    deaf = vitals()
    deaf.assigned = False
    deaf.pulse.assigned -= DEAF + 1
    assert deaf.deaf().startswith("without an assignment")
    assert deaf.unready() == "not assigned"


def test_F14_nobody_is_deaf_while_the_broker_is_away() -> None:
    for member, assigned in product((0.0, 1e4), (True, False)):
        found = vitals()
        found.assigned = assigned
        found.pulse.broker -= 100
        found.pulse.member -= member
        assert found.deaf() == ""
        assert found.unready() != ""
        found.pulse.broker += 100  # it is back: everybody gets the time to come back too
        assert found.deaf() == ""


def test_F6_half_a_session_without_the_broker_s_word_is_doubt() -> None:
    found = vitals()
    assert not found.doubtful()
    found.pulse.member -= 3.5
    assert found.doubtful()
    assert not vitals(asks_group=False).doubtful()


async def test_E16_the_broker_s_word_that_we_are_no_member_is_doubt_at_once() -> None:
    class Admin:
        error, members = 0, [("", "a-worker")]

        async def describe_consumer_groups(self, _groups: list[str]) -> list[Any]:
            return [SimpleNamespace(groups=[(self.error, "", "", "", "", self.members)])]

    found, admin = vitals(), Admin()
    found._client_id = "a-worker"
    for members, error, doubt in ([("", "a-worker")], 0, False), ([("", "other")], 0, True), ([], 15, False):
        admin.members, admin.error = members, error
        await found._answer(admin, None)  # type: ignore[arg-type]
        assert found.doubtful() is doubt


async def test_live_and_ready_say_different_things() -> None:

    health = Health()
    await health.start()
    try:
        assert await ask(health.port, "live") == (200, "")
        assert await ask(health.port, "ready") == (503, "starting")
        health.set_ready(True)
        assert await ask(health.port, "ready") == (200, "")
        health.unready = lambda: "the broker has not answered for 9 s"
        assert await ask(health.port, "ready") == (503, "the broker has not answered for 9 s")
        assert await ask(health.port, "live") == (200, "")
        health.deaf = lambda: "out of the group for 50 s"
        assert await ask(health.port, "live") == (503, "out of the group for 50 s")
    finally:
        await health.stop()
