"""A broker in virtual time: logs by topic and partition, and one consumer group with eager rebalances.

What a process sends goes through a queue of its own in order: it is still in the process when that is frozen or
killed before the queue is emptied, it is on its way afterwards, and then nothing recalls it. Nothing fences a
producer (as in production: no transactions), so a process that wakes late writes late. Logs can be compacted.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiokafka.errors import RequestTimedOutError

from tests.chaos.virtual import WALL, Process, VirtualLoop

PARTITIONS = 4
SESSION = 6.0
HEARTBEAT = 1.0
PRODUCE_TIMEOUT = 40.0
NOBODY = contextvars.Context()


@dataclass(frozen=True, slots=True)
class Record:
    """One record of one partition."""

    topic: str
    partition: int
    offset: int
    at: float
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()
    writer: str = ""


@dataclass
class Member:
    """A process in the group, as the coordinator knows it."""

    process: Process
    seen: float
    joining: asyncio.Future[Any] | None = None


@dataclass
class Wire:
    """One process's way to the broker."""

    queue: list[tuple[Callable[[], Any], asyncio.Future[Any], float]] = field(default_factory=list)
    cut: bool = False
    sending: bool = False
    last: float = 0.0


class Broker:
    """The one broker."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.loop = loop
        self.logs: defaultdict[tuple[str, int], list[Record]] = defaultdict(list)
        self.order: list[Record] = []
        """All records in the order in which they came."""
        self.committed: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.latency = 0.002
        self.buffer = 0.0005
        """Seconds that a record waits in its producer; with 0 it is on its way at once."""
        self.generation = 0
        self.owners: dict[int, str] = {}
        self.members: dict[str, Member] = {}
        self.rebalancing = False
        self.watchers: list[Callable[[Record], None]] = []
        self._wires: dict[int, Wire] = {}

    # -- producing

    def wire(self, process: Process) -> Wire:
        """A process's way here."""
        return self._wires.setdefault(id(process), Wire())

    def append(self, topic: str, partition: int, key: bytes | None, value: bytes | None, **more: Any) -> int:
        """What reached the broker stays; its offset."""
        log = self.logs[topic, partition]
        record = Record(topic, partition, len(log), WALL + self.loop.now, key, value, **more)
        log.append(record)
        self.order.append(record)
        for watcher in self.watchers:
            watcher(record)
        return record.offset

    def compact(self, topic: str) -> None:
        """Of each key only the last record stays, under its offset."""
        for place, log in self.logs.items():
            if place[0] == topic:
                newest = {record.key: record.offset for record in log if record is not None}
                log[:] = [r if r is not None and newest[r.key] == r.offset else None for r in log]  # type: ignore[list-item]

    def send(self, process: Process, arrive: Callable[[], Any]) -> asyncio.Future[Any]:
        """Send in order; the future is done when the process has heard that the broker has it."""
        future: asyncio.Future[Any] = self.loop.create_future()
        wire = self.wire(process)
        wire.queue.append((arrive, future, self.loop.now))
        self._flush_later(process, wire)
        return future

    def _flush_later(self, process: Process, wire: Wire, wait: float | None = None) -> None:
        wait = self.buffer if wait is None else wait
        if not wait and not wire.sending:
            self._flush(process, wire)
        elif not wire.sending:
            wire.sending = True
            self.loop.call_later(wait, self._flush, process, wire, context=process.context)

    def _flush(self, process: Process, wire: Wire) -> None:
        """In the process: its sender's turn. Cut off, it tries again until a request's time is over."""
        wire.sending = False
        while wire.queue:
            arrive, future, since = wire.queue[0]
            if wire.cut:
                if self.loop.now - since < PRODUCE_TIMEOUT:
                    return self._flush_later(process, wire, 0.1)
                if not future.done():
                    future.set_exception(RequestTimedOutError())
                wire.queue.pop(0)
                continue
            wire.queue.pop(0)
            wire.last = max(wire.last + 1e-6, self.loop.now + self.latency)
            self.loop.call_at(wire.last, self._arrived, process, arrive, future, context=NOBODY)
        return None

    def _arrived(self, process: Process, arrive: Callable[[], Any], future: asyncio.Future[Any]) -> None:
        offset = arrive()

        def acknowledged() -> None:
            if not future.done():
                future.set_result(offset)

        self.loop.call_later(self.latency, process.call, acknowledged, context=NOBODY)

    def ask(self, process: Process, question: Callable[[], Any]) -> asyncio.Future[Any]:
        """A request and its answer, which both wait while the process is cut off."""
        future: asyncio.Future[Any] = self.loop.create_future()

        def there() -> None:
            if self.wire(process).cut:
                self.loop.call_later(0.1, there, context=process.context)
            else:
                self.loop.call_later(self.latency, back, context=NOBODY)

        def back() -> None:
            answer = question()
            self.loop.call_later(self.latency, process.call, heard, answer, context=NOBODY)

        def heard(answer: Any) -> None:
            if not future.done():
                future.set_result(answer)

        self.loop.call_soon(there, context=process.context)
        return future

    # -- the group

    def join(self, process: Process) -> asyncio.Future[Any]:
        """Ask for partitions; the answer is (generation, partitions) when all members have asked."""
        answer: asyncio.Future[Any] = self.loop.create_future()

        def arrived() -> None:
            self.members[process.name] = Member(process, self.loop.now, answer)
            self.rebalance()

        wire = self.wire(process)
        if wire.cut:
            self.loop.call_later(0.1, lambda: _chain(self.join(process), answer), context=process.context)
        else:
            self.loop.call_later(self.latency, arrived, context=NOBODY)
        return answer

    def leave(self, name: str) -> None:
        """Said goodbye, or is known to be dead."""
        if self.members.pop(name, None) is not None:
            self.rebalance()

    def heartbeat(self, process: Process, generation: int) -> bool:
        """Whether the member may go on as it is."""
        member = self.members.get(process.name)
        if member is None or member.process is not process or generation != self.generation:
            return False
        member.seen = self.loop.now
        return not self.rebalancing

    def check(self) -> None:
        """Evict who was not heard for a session, then complete what waited for them."""
        for name, member in list(self.members.items()):
            if member.joining is None and self.loop.now - member.seen > SESSION:
                del self.members[name]
                self.rebalance()
        self._complete()
        self.loop.call_later(0.2, self.check, context=NOBODY)

    def rebalance(self) -> None:
        """Everybody joins again."""
        self.rebalancing = True
        self._complete()

    def _complete(self) -> None:
        if not self.rebalancing or any(member.joining is None for member in self.members.values()):
            return
        self.rebalancing = False
        self.generation += 1
        names = sorted(self.members)
        self.owners = {number: names[number % len(names)] for number in range(PARTITIONS)} if names else {}
        for name, member in self.members.items():
            mine = {number for number, owner in self.owners.items() if owner == name}
            future, member.joining, member.seen = member.joining, None, self.loop.now
            assert future is not None
            self.loop.call_later(
                self.latency, member.process.call, _set, future, (self.generation, mine), context=NOBODY
            )


def _set(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _chain(source: asyncio.Future[Any], target: asyncio.Future[Any]) -> None:
    source.add_done_callback(lambda done: _set(target, done.result()))
