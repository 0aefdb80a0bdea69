"""What waited while a process stood still is heard before its next request (E25)."""

from __future__ import annotations

import pytest

from tests.chaos.broker import SESSION
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"


@pytest.mark.parametrize("part", range(8))
def test_E25_a_suspension_that_comes_during_a_standstill_goes_before_the_next_request(part: int) -> None:
    """The standstill is shorter than a session, so the sites stay; it begins at different moments of the pace."""
    world = World([Shop(SITE, pages=30)], seed=part)
    world.start("worker-1")
    world.run(2.0)
    world.say("verification-requested", SITE)
    world.run(10.0)
    world.crawl(SITE)
    world.run(8.0 + part / 8)
    world.freeze("worker-1")
    world.run(SESSION * 0.8)
    world.operator("suspend-site", SITE)
    world.thaw("worker-1")
    before = len(world.web.asked)
    world.run(20.0)
    assert len(world.web.asked) - before <= 1, "beyond what was on its way"
    assert [one for one in world.anomalies() if one.invariant in ("I1", "I2", "I14")] == []
