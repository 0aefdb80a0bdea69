"""The nemesis's faults in events: poison, duplicates, strangers, wrong mailboxes, suspensions."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from tests.chaos.rig import Rig
from tests.house.test_busy_hour import BAD_ADDRESSES, POISON


class EventFaults:
    """Each is a coroutine of a target and its own dice; `events` counts them one by one."""

    _rig: Rig
    events: int

    async def poison(self, name: str, rng: random.Random) -> None:
        """Twenty records that are no events, on topics that carry some."""
        topics = ("crawl-requested", "verification-requested", "address-saved", "operator-commands")
        for _ in range(20):
            with suppress(Exception):
                await self._rig.send(rng.choice(topics), self._poison(rng), key=b"any")
                self.events += 1

    def _poison(self, rng: random.Random) -> bytes | None:
        if rng.random() < 0.5:
            return rng.choice(POISON)
        data = {"account": "acme", "address": rng.choice([one for one in BAD_ADDRESSES if one])}
        body = {"id": str(uuid.UUID(int=rng.getrandbits(128), version=4)), "type": "no-such-type", "data": data}
        return json.dumps(body | {"version": rng.choice((1, 99))}).encode()

    async def flood(self, name: str, rng: random.Random) -> dict[str, Any]:
        """10,000 poisonous events at once; how long good events take in between."""
        rig = self._rig
        before = await self._decided(rng, 5)
        began = time.monotonic()
        sending = asyncio.create_task(self._ten_thousand(rng))
        during = await self._decided(rng, 10)
        await sending
        sent = time.monotonic() - began
        self.events += 10_000
        return {"sent_in": sent, "before": before, "during": during, "after": await self._decided(rng, 5),
                "sites": len(rig.sites)}  # fmt: skip

    async def _ten_thousand(self, rng: random.Random) -> None:
        assert self._rig._producer is not None
        waits = [
            await self._rig._producer.send("crawl-requested", self._poison(rng), key=b"any") for _ in range(10_000)
        ]
        await asyncio.gather(*waits)

    async def _decided(self, rng: random.Random, times: int) -> list[float]:
        """Seconds from a good event to its decision in `site-events`, for sites that may not be crawled."""
        found = []
        for _ in range(times):
            site = rng.choice(self._rig.unverified)
            began = time.monotonic()
            event = await self._rig.said_so("crawl-requested", account="acme", address=site)
            found.append(await self._heard(event, began))
        return found

    async def _heard(self, event: str, began: float) -> float:
        from models import ids  # noqa: PLC0415 - only here

        crawl = ids.job_id("crawl", event)
        query = "SELECT 1 FROM crawls WHERE crawl = %s::uuid"
        while time.monotonic() - began < 60:
            with suppress(Exception):
                if await asyncio.to_thread(self._rig.rows, query, crawl):
                    return time.monotonic() - began
            await asyncio.sleep(0.02)
        return 60.0

    async def duplicates(self, name: str, rng: random.Random) -> None:
        """Five events twice, and once more after a while (F30, F46)."""
        for site in rng.sample(self._rig.sites, 5):
            with suppress(Exception):
                await self._rig.said_so("crawl-requested", copies=3, account="acme", address=site)
                self.events += 2

    async def misordered(self, name: str, rng: random.Random) -> None:
        """Crawls of sites that nobody has verified, and settings that come after the crawl (F31, F47)."""
        for site in rng.sample(self._rig.unverified, 4):
            await self._rig.said_so("crawl-requested", account="acme", address=site)
            self.events += 1
        site = rng.choice(self._rig.sites)
        await self._rig.said_so("crawl-requested", account="stranger", address=site)
        self.events += 1

    async def misplaced(self, name: str, rng: random.Random) -> None:
        """Messages in mailboxes that are not their site's, or are none (F33)."""
        for _ in range(10):
            with suppress(Exception):
                await self._rig.send("site-mailbox", self._poison(rng), key=b"elsewhere")
                self.events += 1

    async def suspension(self, name: str, rng: random.Random) -> None:
        """Staff suspend a site in the middle of a crawl, and resume it (F49)."""
        site = rng.choice(self._rig.sites)
        said: Callable[..., Awaitable[Any]] = self._rig.said_so
        await said("operator-commands", "suspend-site", address=site, by="chaos", reason="chaos")
        await asyncio.sleep(rng.uniform(4, 8))
        await said("operator-commands", "resume-site", address=site, by="chaos", reason="chaos")
