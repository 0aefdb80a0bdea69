"""The model: production actors, memory, pump and zombies under a state machine that does to them what it likes.

Everything but Faust, the broker, the web and the clock is production code (`tests.chaos.node`). The machine kills,
freezes, cuts off, terminates and starts workers, slows the broker down, delivers mailboxes again, asks for crawls and
suspends sites, in any order; at the end everything is healed, and all checkers must find nothing.

What it does not do, since no look of a worker's own can prevent the harm (`docs/survival.md`): stop a worker between
its last look and the send, for longer than a session. `test_torture.py` does that at every call and counts it.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.chaos.broker import NOBODY, PARTITIONS, SESSION
from tests.chaos.web import Shop
from tests.chaos.world import World

SITES = [f"shop{number}.example" for number in range(3)]
MOST_WORKERS = 3
PHASES = (Phase.explicit, Phase.generate)
"""No shrinking: a run of minutes is replayed from its printed steps instead."""
EXAMPLES = int(os.environ.get("LICET_MODEL_EXAMPLES", "25"))
sites = st.sampled_from(SITES)


class House(RuleBasedStateMachine):
    """What may happen to a house."""

    @initialize(
        seed=st.integers(0, 1000),
        slow=st.sampled_from([0.1, 4.0, 12.0, 35.0]),
        busy=st.booleans(),
        buffer=st.sampled_from([0.0, 0.0005, 0.05]),
    )
    def begin(self, seed: int, slow: float, busy: bool, buffer: float) -> None:
        pages = frozenset({2}) if busy else frozenset()
        shops = [Shop(name, pages=4 + number, slow={"/p/1": slow}, busy=pages) for number, name in enumerate(SITES)]
        self.world = World(shops, seed)
        self.world.broker.buffer = buffer
        for number in (1, 2):
            self.world.start(f"worker-{number}")
        for name in SITES:
            self.world.say("verification-requested", name)
        self.world.run(8)

    def running(self, number: int) -> str:
        names = sorted(name for name, node in self.world.nodes.items() if node.process.state == "running")
        return names[number % len(names)] if names else ""

    @rule(seconds=st.sampled_from([0.05, 0.3, 1.0, 3.0, 8.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.run(seconds)

    @rule(site=sites)
    def crawl(self, site: str) -> None:
        self.world.crawl(site)

    @rule(site=sites, seconds=st.sampled_from([3.0, 15.0]))
    def suspend(self, site: str, seconds: float) -> None:
        self.world.operator("suspend-site", site)
        self.world.run(seconds)
        self.world.operator("resume-site", site)

    @rule(number=st.integers(0, 2))
    def kill(self, number: int) -> None:
        if len(self.world.nodes) > 1 and (name := self.running(number)):
            self.world.kill(name)

    @rule(number=st.integers(0, 2))
    def terminate(self, number: int) -> None:
        if len(self.world.nodes) > 1 and (name := self.running(number)):
            self.world.nodes.pop(name).terminate()

    @rule()
    def start(self) -> None:
        if len(self.world.nodes) < MOST_WORKERS:
            self.world.start(f"worker-{len(self.world.past) + 1}")

    @rule(number=st.integers(0, 2), sessions=st.sampled_from([0.3, 0.9, 1.5, 4.0]))
    def freeze(self, number: int, sessions: float) -> None:
        if name := self.running(number):
            self.world.freeze(name)
            node = self.world.nodes[name]
            self.world.loop.call_later(sessions * SESSION, node.process.thaw, context=NOBODY)

    @rule(number=st.integers(0, 2), seconds=st.sampled_from([0.5, 2.0, SESSION - 2.5]))
    def cut_off(self, number: int, seconds: float) -> None:
        if name := self.running(number):
            self.world.cut(name)
            self.world.run(seconds)
            if name in self.world.nodes:
                self.world.cut(name, is_cut=False)

    @rule(latency=st.sampled_from([0.002, 0.01, 0.05]))
    def broker_slows(self, latency: float) -> None:
        self.world.broker.latency = latency

    @rule(partition=st.integers(0, PARTITIONS - 1))
    def redeliver(self, partition: int) -> None:
        self.world.redeliver(partition)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            assert self.world.settle(400)
            assert [str(anomaly) for anomaly in self.world.anomalies()] == []
            assert self.world.forgotten() == set()
            assert self.world.loop.errors == []


@pytest.mark.parametrize("steps", [25])
def test_A03_whatever_happens_to_the_house_no_promise_breaks(steps: int) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    run_state_machine_as_test(
        House,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=steps,
            deadline=None,
            derandomize=True,
            phases=PHASES,
            suppress_health_check=checks,
        ),
    )


def test_the_model_takes_thousands_of_steps_a_second() -> None:
    world = World([Shop(f"s{number}.example", pages=30) for number in range(10)], 1)
    world.start("worker-1")
    for shop in world.web.shops:
        world.say("verification-requested", shop)
    world.run(8)
    for shop in world.web.shops:
        world.crawl(shop)
    begun, steps = time.process_time(), world.loop.steps
    world.run(60)
    assert len(world.web.asked) > 300
    assert (world.loop.steps - steps) / (time.process_time() - begun) > 5000


def test_one_seed_is_one_run() -> None:
    def played() -> list[tuple[str, int]]:
        world = World([Shop(name, pages=5) for name in SITES], 7)
        chance = random.Random(3)
        for number in (1, 2):
            world.start(f"worker-{number}")
        for name in SITES:
            world.say("verification-requested", name)
        world.run(8)
        for name in SITES:
            world.crawl(name)
        world.run(chance.random() * 5)
        world.kill("worker-1")
        world.settle()
        return [(asked.target, asked.arrived) for asked in world.web.asked]

    assert played() == played()
