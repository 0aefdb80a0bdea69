"""What customers and staff ask for during a chaos run."""

from __future__ import annotations

import asyncio
import json
import random
import time
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaConsumer

from tests.chaos.rig import Rig


class Load:
    """The customers and the staff of a run: every site is crawled again as soon as it may be."""

    def __init__(self, rig: Rig, seed: int) -> None:
        self._rig = rig
        self._rng = random.Random(seed ^ 0x10AD)
        self._open: dict[str, float] = {}
        self._crawls: dict[str, int] = dict.fromkeys(rig.sites, 0)
        self.ended: set[str] = set()
        self.closing = False
        self.duplicates = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    async def verify(self) -> None:
        """Prove every site; what is lost on the way is asked for again."""
        rig = self._rig
        for site in rig.sites:
            await rig.said_so("verification-requested", account="acme", address=site)
        query = "SELECT count(DISTINCT site) AS n FROM verifications WHERE kind = 'verified'"
        await rig.until(lambda: rig.rows(query)[0]["n"] == len(rig.sites), 120, "all sites are verified")

    async def run(self) -> None:
        """Ask for crawls until told to close."""
        listening = asyncio.create_task(self._listen())
        try:
            while not self.closing:
                for site in self._rig.sites:
                    if time.monotonic() - self._open.get(site, -1e9) > 120.0:
                        self._ask(site)
                await asyncio.sleep(0.5)
        finally:
            listening.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ask(self, site: str) -> None:
        self._open[site] = time.monotonic()
        self._crawls[site] += 1
        copies = 2 if self._rng.random() < 0.1 else 1
        self.duplicates += copies - 1
        if self._crawls[site] <= 5:
            said = self._rig.said_so("crawl-requested", copies=copies, account="acme", address=site)
        else:
            said = self._rig.said_so(
                "operator-commands", "start-crawl", copies, account="acme", address=site, by="chaos"
            )
        task = asyncio.create_task(said)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _listen(self) -> None:
        """Hear of ends from the topic of facts, since the database may be away."""
        while True:
            with suppress(Exception):
                async with AIOKafkaConsumer(
                    "site-events", bootstrap_servers=self._rig.kafka.bootstrap, auto_offset_reset="latest"
                ) as consumer:
                    async for record in consumer:
                        self._hear(record.value)
            await asyncio.sleep(1.0)

    def _hear(self, value: bytes) -> None:
        if b'"crawl-ended"' in value or b'"crawl-decided"' in value:
            fact = json.loads(value)
            if fact["type"] == "crawl-ended" or not fact.get("accepted", True):
                self._open.pop(fact["site"], None)
