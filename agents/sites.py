"""The sites of this worker, parsed: a view of the memory, and the one order in which a change becomes durable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from weakref import WeakValueDictionary

from agents.memory import Memory
from agents.post import Post
from crawler.rules.parts import applied, parsed
from crawler.rules.site import Change, Site
from models.ids import marker_of, partition_of
from models.state import Head, head_key, seen_key


class NotOurs(Exception):
    """The site went to another worker before the change was written; nothing of it may be."""


async def _at_once() -> None:
    """No standstill to wait for."""


class Sites:
    """What the actor and the pump share. Whoever changes a site holds its lock from reading to commit."""

    def __init__(self, memory: Memory, post: Post, partitions: int) -> None:
        self._memory = memory
        self._post = post
        self._partitions = partitions
        self._parsed: dict[str, Site] = {}
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._owned: frozenset[int] = frozenset()
        self._term = 0
        """Counts ownerships: a change that was computed in another term is not written."""
        self.settled: Callable[[], Awaitable[None]] = _at_once
        """Waits until it is certain whose the sites are (`Standstill.settled`)."""

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

        In this order a crash in between repeats facts under the same ids, and never loses one. Each step waits for
        the one before: a head names no part that the broker has not (the crawl could not go on), and a message
        counts as seen, and parts go, only after the head that follows from them (the crawl would be lost, accepted
        and never ended). Two records sent together may arrive one without the other. A process that stood still
        asks first whose the site is; what it had sent before, readers pass over (`agents.fences`).
        """
        site, partition, term = change.head.site, change.head.partition, self._term
        await self._sure(partition, term)
        await self._post.tell(change)
        await self._sure(partition, term)
        before = self.get(site)
        seen = seen_key(site)
        named = [(key, value) for key, value in change.parts if value is not None and key != seen]
        rest = [(key, value) for key, value in change.parts if value is None or key == seen]
        self._parsed[site] = applied(before, change)
        await self._put(partition, named, term)
        if change.head != before.head:
            await self._put(partition, [(head_key(site), change.head.model_dump_json().encode())], term)
        await self._put(partition, rest, term)
        if term == self._term and not change.head.jobs and not change.head.intents:
            self._parsed.pop(site, None)  # a site at rest is read again when it is needed

    async def _put(self, partition: int, records: Sequence[tuple[str, bytes | None]], term: int) -> None:
        """Under the claim that was ours when the change was computed, or not at all."""
        if records:
            self._ours(partition, term)
            await asyncio.gather(*[self._memory.put(partition, key, value) for key, value in records])

    def whole(self, partition: int) -> bool:
        """Whether this partition's memory is all there: begun empty on purpose, or put back (A03)."""
        return self.get(marker_of(partition, self._partitions)).head.marker

    async def _sure(self, partition: int, term: int) -> None:
        await self.settled()
        while self._is_ours(partition, term) and not self.undisputed(partition):  # noqa: ASYNC110 - `Memory.watch` looks
            await asyncio.sleep(0.05)  # somebody wrote in between: a zombie, or our successor
        self._ours(partition, term)

    def _is_ours(self, partition: int, term: int) -> bool:
        return term == self._term and partition in self._owned and self._memory.holds(partition)

    def _ours(self, partition: int, term: int) -> None:
        if not self._is_ours(partition, term):
            raise NotOurs(f"partition {partition} was given to another worker")

    def undisputed(self, partition: int) -> bool:
        """Whether what was just made durable came directly behind what we wrote before.

        An intent that the broker took behind a successor's claim, or a zombie's record, is followed by no request.
        """
        return self._memory.is_undisputed(partition)

    def take(self, partitions: set[int]) -> None:
        """A rebalance is over: these are ours, and what was parsed before may have changed elsewhere."""
        self._parsed.clear()
        self._owned = frozenset(partitions)
        self._term += 1

    def release(self) -> None:
        """A rebalance begins: nothing more is written for anybody."""
        self._owned = frozenset()
        self._term += 1

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
