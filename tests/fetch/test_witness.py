"""What is measured is the crawler's cost, and not that of the tests around it."""

from __future__ import annotations

import gc

from tests.fetch.witness import Witness


async def test_the_heap_of_the_tests_before_costs_the_crawler_nothing() -> None:
    heap = len(gc.get_objects())
    async with Witness():
        assert len(gc.get_objects()) < heap / 2
    assert len(gc.get_objects()) > heap / 2
