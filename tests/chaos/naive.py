"""A worker as one would write it without having been burned: the checkers must condemn what it leaves behind.

Its pace is in memory only, it writes no intents, it acknowledges an event before its effect, and whoever finds a site
without an owner takes it at once. Two of them, one frozen for a while and one killed, play in virtual time.
"""

from __future__ import annotations

import asyncio

from crawler.rules.jobs.asking import request_for
from models.state import Ask
from models.web import Kind, Outcome
from tests.chaos.broker import NOBODY, SESSION
from tests.chaos.virtual import Process
from tests.chaos.web import Shop
from tests.chaos.world import POLICY, World, patched

SITE = "shop.example"
PAGES = 30


class Naive:
    """Crawls `SITE` from wherever the shared cursor stands."""

    def __init__(self, world: World, process: Process, cursor: list[int]) -> None:
        self.world = world
        self.process = process
        self.cursor = cursor
        process.start(self.crawl)

    async def crawl(self) -> None:
        """No robots.txt, no intent, the cursor moves after the page: a kill makes it asked for again."""
        while self.cursor[0] < PAGES:
            number = self.cursor[0]
            ask = Ask(kind=Kind.PAGE, url=f"https://{SITE}/p/{number}")
            response = await self.world.web.fetch(request_for(ask, None, POLICY.profile))
            if response.outcome is Outcome.OK:
                self.cursor[0] = max(self.cursor[0], number + 1)
            await asyncio.sleep(1.0)


def play() -> World:
    """One history of two naive workers."""
    world = World([Shop(SITE, pages=PAGES, slow={"/p/5": 20.0})], 1)
    world.crawl(SITE)  # acknowledged, and nobody will ever close it
    cursor = [0]
    first = Naive(world, Process(world.loop, "naive-1"), cursor)
    with patched(world.loop, world.broker, world.random):
        world.loop.run(7.0)
        first.process.freeze()
        world.loop.call_later(3 * SESSION, first.process.thaw, context=NOBODY)
        world.loop.run(SESSION)
        Naive(world, Process(world.loop, "naive-2"), cursor)  # the session is over: it takes the site at once
        world.loop.run(60.0)
    return world
