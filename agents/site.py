"""The site actor's ear: `site-mailbox` in, one `decide` a message.

A message is acknowledged only when its change is durable. Nothing escapes the body: Faust would acknowledge the
event all the same and lose it (measured).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.consuming import consume
from agents.post import Post
from agents.sites import Sites
from crawler.rules.actor import decide
from crawler.rules.site import Policy
from models import mailbox
from models.ids import partition_of
from models.wire import Unreadable


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
        self.on_decided: Callable[[mailbox.Message], None] = lambda _message: None
        """Called with each message that was dealt with."""

    async def __call__(self, stream: Any) -> None:
        """Consume in order, one message at a time."""
        await consume(stream, self._one, self._post.dead_letters, refused=self._refused)

    async def _one(self, event: Any) -> None:
        message = self._message(event)
        if message.type == mailbox.RESTORE and self._sites.whole(event.message.partition):
            self.read[event.message.partition] = event.message.offset
            return  # nothing was lost here, and the actor knows better than the database
        async with self._sites.lock(message.site):
            change = decide(self._sites.get(message.site), message, event.message.timestamp, self._policy)
            await self._sites.commit(change)
        self.read[event.message.partition] = event.message.offset
        self.on_decided(message)
        self.on_change(message.site)

    def _refused(self, event: Any) -> None:
        """It was heard, and means nothing to any site; its letter may still be on its way."""
        self.read[event.message.partition] = event.message.offset

    def _message(self, event: Any) -> mailbox.Message:
        message = mailbox.read(event.message.value)
        mine = partition_of(message.site, self._partitions)
        if event.message.partition != mine:
            raise Unreadable("partition", f"{message.site} belongs to partition {mine}")
        return message
