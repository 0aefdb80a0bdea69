"""The site actor's ear: `site-mailbox` in, one `decide` a message.

A message is acknowledged only when its change is durable. Nothing escapes the body: Faust would acknowledge the
event all the same and lose it (measured).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from agents.post import Post
from agents.sites import Sites
from crawler.rules.actor import decide
from crawler.rules.site import Policy
from models import mailbox
from models.ids import partition_of
from models.wire import Unreadable

log = logging.getLogger(__name__)


class Mailbox:
    """The agent's body, and how far each mailbox partition has been read."""

    def __init__(self, sites: Sites, post: Post, policy: Policy, partitions: int) -> None:
        self._sites = sites
        self._post = post
        self._policy = policy
        self._partitions = partitions
        self.read: dict[int, int] = {}
        """Partition -> offset of the last message that was dealt with."""
        self.on_change: Callable[[str], None] = lambda _site: None
        """Called with a site that may have something to do now."""

    async def __call__(self, stream: Any) -> None:
        """Consume in order, one message at a time."""
        async for event in stream.events():
            await self._one(event)
            self.read[event.message.partition] = event.message.offset

    async def _one(self, event: Any) -> None:
        try:
            message = self._message(event)
        except Unreadable as error:
            log.warning("dead letter: mailbox[%s]@%s: %s", event.message.partition, event.message.offset, error)
            await self._post.dead_letter(event, error)
            return
        async with self._sites.lock(message.site):
            change = decide(self._sites.get(message.site), message, event.message.timestamp, self._policy)
            await self._sites.commit(change)
        self.on_change(message.site)

    def _message(self, event: Any) -> mailbox.Message:
        message = mailbox.read(event.message.value)
        mine = partition_of(message.site, self._partitions)
        if event.message.partition != mine:
            raise Unreadable("partition", f"{message.site} belongs to partition {mine}")
        return message
