"""What waited while a process stood still is heard before its next request (E25)."""

from __future__ import annotations

import pytest

from models.ids import partition_of
from tests.chaos.broker import PARTITIONS, SESSION
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"


@pytest.mark.parametrize("part", range(8))
def test_E25_a_suspension_that_comes_during_a_standstill_goes_before_the_next_request(part: int) -> None:
    """The standstill is shorter than a session, so the sites stay; it begins at different moments of the pace."""
    world = World([Shop(SITE, pages=30)], seed=part)
    world.start("worker-1")
    world.start("worker-2")  # it hears the command and puts it into the mailbox
    world.run(12.0)
    world.say("verification-requested", SITE)
    world.run(10.0)
    world.crawl(SITE)
    world.run(8.0 + part / 8)
    (owner,) = [name for name, node in world.nodes.items() if partition_of(SITE, PARTITIONS) in node.owned]
    world.freeze(owner)
    world.run(SESSION * 0.7)
    world.operator("suspend-site", SITE)
    world.run(0.5)
    world.thaw(owner)
    before = len(world.web.asked)
    world.run(20.0)
    assert len(world.web.asked) - before <= 1, "beyond what was on its way"
    assert [one for one in world.anomalies() if one.invariant in ("I1", "I2", "I14")] == []
