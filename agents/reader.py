"""What a body says, read in a child process: a stranger's HTML is never parsed in the worker (faults 0.5)."""

from __future__ import annotations

import asyncio
import logging
import os

from crawler.reading.bodies import PRELOAD, read_page, read_proof, read_robots, read_sitemap
from crawler.reading.pool import ParseLimit, Readers, ReadingFailed
from crawler.rules.jobs import Send
from crawler.rules.jobs.answer import Read
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Policy
from models.page import Unread
from models.web import Kind, Outcome, Response

log = logging.getLogger(__name__)

SMALL = 64 * 1024
"""Bytes up to which robots.txt and sitemaps are read in the worker itself; larger ones go to a child."""
RETRIES = (1.0, 5.0, 15.0)
"""Seconds between tries when no child process can be started."""


class Reader:
    """Chooses what to make of a response, and where."""

    def __init__(self, policy: Policy) -> None:
        self._profile = policy.profile
        self._readers: Readers | None = None

    def start(self) -> None:
        """Start the children, as many as the machine has processors; a second call does nothing.

        Not before the worker has its sites: they import for half a second each, which would come on top of the
        start of a worker whose sites wait for it. Nothing is read before its request was made.
        """
        if self._readers is None:
            self._readers = Readers(size=max(1, os.cpu_count() or 1), preload=PRELOAD)

    async def close(self) -> None:
        """End the children."""
        if self._readers is not None:
            await self._readers.close()

    async def read(self, plan: Send, response: Response) -> Read:
        """The body of a complete answer, read; None where there is nothing to read."""
        for wait in (*RETRIES, None):
            try:
                return await self._read(plan, response)
            except ParseLimit as error:
                return Unread(str(error) or "the document is too much for the reader")
            except ReadingFailed as error:
                log.exception("reading %s failed", plan.request.url)
                return Unread(f"reading failed: {error}")
            except RuntimeError as error:  # no process to be had: the machine's trouble, not the page's
                log.warning("%s; %s waits", error, plan.request.url)
                if wait is None:
                    return Unread(f"no process to read with: {error}")
                await asyncio.sleep(wait)
        return None

    async def _read(self, plan: Send, response: Response) -> Read:
        if plan.request.kind is Kind.ROBOTS:
            return await self._robots(plan, response)
        if response.outcome is not Outcome.OK:
            return None
        return await self._body(plan, response)

    async def _body(self, plan: Send, response: Response) -> Read:
        assert self._readers is not None
        if plan.request.kind is Kind.PAGE:
            token = self._profile.identity.token
            return await self._readers.run(read_page, response, plan.request.url, token)
        if plan.request.kind is Kind.HOMEPAGE_PROOF and self._profile.proofs.page is not None:
            name = self._profile.proofs.page.meta
            return await self._readers.run(read_proof, response.body, response.header("Content-Type"), name)
        if plan.request.kind is Kind.SITEMAP:
            if len(response.body) <= SMALL:
                return read_sitemap(response.body, plan.host, self._profile)
            return await self._readers.run(read_sitemap, response.body, plan.host, self._profile)
        return None

    async def _robots(self, plan: Send, response: Response) -> Read:
        assert self._readers is not None
        args = (response, plan.request.url, f"https://{plan.host}/robots.txt", plan.ask.hops, self._profile)
        if len(response.body) <= SMALL:
            stored = read_robots(*args)
        else:
            stored = await self._readers.run(read_robots, *args)
        return stored if isinstance(stored, str) else Verdict.from_bytes(stored)
