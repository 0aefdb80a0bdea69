"""A stop is effective two seconds after it was acknowledged, whoever is dead or frozen between it and its site (E25)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.holds import Holds
from models.ids import partition_of
from tests.chaos.broker import PARTITIONS, SESSION
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"


def under_way(workers: int = 3) -> tuple[World, str]:
    """A crawl, and the worker that neither owns its site nor lets commands through."""
    world = World([Shop(SITE, pages=40)], 3)
    for number in range(workers):
        world.start(f"worker-{number + 1}")
    world.run(12.0)
    world.say("verification-requested", SITE)
    world.run(10.0)
    world.crawl(SITE)
    world.run(9.0)
    owner = world.broker.owners[partition_of(SITE, PARTITIONS)]
    world.partition, other = next((n, name) for n, name in world.broker.owners.items() if name != owner)
    return world, other


def frozen(world: World, name: str) -> None:
    world.freeze(name)


def killed(world: World, name: str) -> None:
    world.kill(name)


def cut_off(world: World, name: str) -> None:
    world.cut(name)


def requests_after(world: World, seconds: float) -> list[float]:
    said = next(line["at"] for line in world.lines["commands"] if line["op"] == "ok")
    return [(one.arrived - said) / 1e9 for one in world.web.asked if one.arrived - said > seconds * 1e9]


FAULTS = [frozen, killed, cut_off]


@pytest.mark.parametrize("fault", FAULTS)
def test_E25_a_suspension_does_not_wait_for_who_brings_it(fault: Callable[[World, str], None]) -> None:
    world, other = under_way()
    fault(world, other)
    world.operator("suspend-site", SITE)
    world.run(4 * SESSION)
    assert requests_after(world, 2.0) == []
    assert world.settle()
    assert [str(found) for found in world.anomalies()] == []
    assert {fact.end for fact in world.facts() if fact.type == "crawl-ended"} == {"suspended"}


@pytest.mark.parametrize("fault", [frozen, killed])
def test_E25_without_the_hold_it_would(fault: Callable[[World, str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Holds, "held", lambda self, site: False)
    world, other = under_way()
    fault(world, other)
    world.operator("suspend-site", SITE)
    world.run(4 * SESSION)
    assert requests_after(world, 2.0)
    assert "I14" in {found.invariant for found in world.anomalies()}


def test_E25_the_hold_goes_through_a_takeover_of_the_site() -> None:
    world, other = under_way()
    world.freeze(other)
    world.operator("suspend-site", SITE)
    world.run(1.0)
    world.kill(world.broker.owners[partition_of(SITE, PARTITIONS)])
    world.run(4 * SESSION)
    assert requests_after(world, 2.0) == []
    assert world.settle()
    assert [str(found) for found in world.anomalies()] == []


def test_E25_a_resumption_that_is_heard_early_lifts_nothing_and_the_hold_ends_with_the_mailbox() -> None:
    world, other = under_way()
    world.freeze(other)
    world.operator("suspend-site", SITE)
    world.operator("resume-site", SITE)
    world.run(SESSION - 1.0)
    assert requests_after(world, 2.0) == []
    assert world.settle()
    owner = world.broker.owners[partition_of(SITE, PARTITIONS)]
    assert not world.nodes[owner].worker.holds.held(SITE)
    world.partition = None
    world.crawl(SITE)
    world.settle()
    assert "completed" in {fact.end for fact in world.facts() if fact.type == "crawl-ended"}
