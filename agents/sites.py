"""The sites of this worker, parsed: a view of the memory, and the one order in which a change becomes durable."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from weakref import WeakValueDictionary

from agents.memory import Memory
from agents.post import Post
from crawler.rules.parts import applied, parsed
from crawler.rules.site import Change, Site
from models.ids import marker_of, partition_of
from models.state import Head, head_key


class Sites:
    """What the actor and the pump share. Whoever changes a site holds its lock from reading to commit."""

    def __init__(self, memory: Memory, post: Post, partitions: int) -> None:
        self._memory = memory
        self._post = post
        self._partitions = partitions
        self._parsed: dict[str, Site] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def lock(self, site: str) -> asyncio.Lock:
        """The site's lock; never held over a request, only over the writes around it."""
        return self._locks.setdefault(site, asyncio.Lock())

    def get(self, site: str) -> Site:
        """A site as it is now; a site that was never heard of has an empty head."""
        found = self._parsed.get(site)
        if found is None:
            found = self._load(site)
            self._parsed[site] = found
        return found

    async def commit(self, change: Change) -> None:
        """Make a change durable: what it tells first, then its parts, then the head; the broker has all of it.

        In this order a crash in between repeats facts under the same ids, and never loses one.
        """
        await self._post.tell(change)
        site, partition = change.head.site, change.head.partition
        before = self.get(site)
        waits = [self._memory.put(partition, key, value) for key, value in change.parts]
        if change.head != before.head:
            waits.append(self._memory.put(partition, head_key(site), change.head.model_dump_json().encode()))
        if change.head.jobs or change.head.intents:
            self._parsed[site] = applied(before, change)
        else:
            self._parsed.pop(site, None)  # a site at rest is read again when it is needed
        if waits:
            await asyncio.gather(*waits)

    def whole(self, partition: int) -> bool:
        """Whether this partition's memory is all there: begun empty on purpose, or put back (A03)."""
        return self.get(marker_of(partition, self._partitions)).head.marker

    def forget(self) -> None:
        """A rebalance: what is parsed may be somebody else's now."""
        self._parsed.clear()

    def open(self, partitions: set[int]) -> Iterator[Head]:
        """The heads of these partitions that have something to do."""
        for partition in partitions:
            for key, value in self._memory.items(partition):
                if key.endswith("|h"):
                    head = Head.model_validate_json(value)
                    if head.jobs or head.intents:
                        yield head

    def _load(self, site: str) -> Site:
        partition = partition_of(site, self._partitions)
        raw = self._memory.get(head_key(site))
        if raw is None:
            return Site(Head(site=site, partition=partition))
        return parsed(Head.model_validate_json(raw), self._memory.get)
