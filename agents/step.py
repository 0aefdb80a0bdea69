"""One request, from intent to result: the only way in which anything is asked of a website.

    plan -> intent (the broker has it) -> still ours? -> send -> read -> result (the broker has it)

Robots.txt, sitemaps, pages, retries, redirect hops, proof reads and the HEAD all go through here, so each is paced,
counted and recorded in one place. The request is counted in its intent, so a budget holds through every crash.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from agents.reader import Reader
from agents.sites import Sites
from agents.standstill import Standstill
from crawler.fetch.doh import Carrier
from crawler.rules import jobs
from crawler.rules.jobs import Done, Idle, Send
from crawler.rules.site import Policy
from models.state import Intent
from models.web import Response

STALE = 3.0
"""Seconds. An intent that the broker took longer to confirm is not followed by a request: ownership may be gone."""


@dataclass(frozen=True, slots=True)
class Stepped:
    """What a step did: whether it asked anything, when the request ended, and when the next may start.

    `ended` is monotonic seconds; `wait` counts from there. `wait` None: the site has nothing to do.
    """

    ended: float | None
    wait: float | None
    kind: str = ""
    outcome: str = ""


class Stepper:
    """Takes one step at a site."""

    def __init__(
        self, sites: Sites, carrier: Carrier, reader: Reader, policy: Policy, worker: str, standstill: Standstill
    ) -> None:
        self._sites = sites
        self._carrier = carrier
        self._reader = reader
        self._policy = policy
        self._worker = worker
        self._standstill = standstill
        self._flying: set[str] = set()
        self._unsent: set[str] = set()
        """Intents of ours that no request followed. Said with the next step, when the site is ours for sure: what a
        worker that was cut off said at once, it said of its successor's request of the same number (measured)."""
        self.on_slow_broker: Callable[[], None] = lambda: None
        """Called when the broker took longer than `STALE` for an intent: it was away, or we were."""

    async def step(self, site: str, still_ours: Callable[[], bool]) -> Stepped:
        """Make at most one request at `site`. `still_ours` is asked again right before it is sent."""
        while True:
            async with self._sites.lock(site):
                if await self._settled(site):
                    continue
                plan = jobs.plan(self._sites.get(site), time.time(), self._policy)
                if isinstance(plan, Done):
                    await self._sites.commit(plan.change)
                    continue
                if isinstance(plan, Idle):
                    return Stepped(None, plan.wait)
                written = time.monotonic()
                intended = jobs.intend(self._sites.get(site), plan, self._worker, time.time())
                await self._sites.commit(intended.change)
            self._flying.add(intended.intent.id)
            try:
                return await self._send(site, plan, intended.intent, written, still_ours)
            finally:
                self._flying.discard(intended.intent.id)

    async def _settled(self, site: str) -> bool:
        """Say what became of requests that are open and not on their way; whether there was any."""
        here = self._sites.get(site)
        left = jobs.left_open(here, self._flying)
        if not left:
            return False
        unsent = next((intent for intent in left if _mark(intent) in self._unsent), None)
        if unsent is not None:
            await self._sites.commit(jobs.unsent(here, unsent, time.time()))
            self._unsent.discard(_mark(unsent))
        else:  # another owner's, or cut short: never answered, but counted (A04)
            await self._sites.commit(jobs.interrupted(here, left, time.time(), self._policy))
        return True

    async def _send(
        self, site: str, plan: Send, intent: Intent, written: float, still_ours: Callable[[], bool]
    ) -> Stepped:
        if not self._may_send(site, intent, written, still_ours):
            self._unsent.add(_mark(intent))
            return Stepped(None, 0.0)
        response = await self._carrier.fetch(plan.request)
        ended = time.monotonic()
        return await self._absorb(site, plan, intent, response, ended)

    def _may_send(self, site: str, intent: Intent, written: float, still_ours: Callable[[], bool]) -> bool:
        """Ownership, suspension and the clock may all have changed while the broker took the intent."""
        head = self._sites.get(site).head
        fresh = time.monotonic() - written <= STALE
        if not fresh:
            self.on_slow_broker()
        alive = any(job.id == intent.job for job in head.jobs)
        ours = self._sites.undisputed(head.partition) and still_ours()
        return fresh and alive and not head.stopped and ours

    async def _absorb(self, site: str, plan: Send, intent: Intent, response: Response, ended: float) -> Stepped:
        read = await self._reader.read(plan, response)
        await self._standstill.settled()  # the sites may be somebody else's by now, and this result an old one
        async with self._sites.lock(site):
            here = self._sites.get(site)
            absorbed = jobs.absorb(here, intent, plan.ask, response, read, self._policy)
            await self._sites.commit(absorbed)
            return Stepped(ended, absorbed.head.wait, plan.ask.kind, str(response.outcome))


def _mark(intent: Intent) -> str:
    """Whose intent it is, too: the number alone may be another worker's."""
    return f"{intent.worker}|{intent.id}"
