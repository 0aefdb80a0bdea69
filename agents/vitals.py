"""Whether this process does its work, measured from outside of it: by the broker's own list of the group's members.

Three questions, each with an answer of its own:
  ready   is work being done now? (assigned, recovered, broker reachable, member of the group)
  doubt   may somebody else own the sites? Then nothing is sent (the broker's answer is older than half a session).
  deaf    would only a new process help? (the broker is there, and yet not a member, not assigned, or nothing taken)
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

log = logging.getLogger(__name__)

BEAT = 0.5
DEAF = 45.0
"""Seconds out of work, with the broker there, after which a new process is asked for. Beyond a long rebalance."""
LOST = 30.0
"""The same for one that believes it has sites while the broker says that it is no member: whoever joins is one.
With a session of 20 s before its eviction it is replaced within a minute."""
PROBE = 5.0
"""Seconds for one answer of the broker."""

Progress = dict[TopicPartition, int]


@dataclass(slots=True)
class Pulse:
    """What was seen last, in monotonic seconds."""

    broker: float
    member: float
    assigned: float
    progress: float
    committed: Progress = field(default_factory=dict)


class Vitals:
    """Asks the broker every `interval` seconds, and watches the event loop in between."""

    def __init__(
        self, bootstrap: str, group: str, client_id: str, *, interval: float, session: float, asks_group: bool = True
    ) -> None:
        self._bootstrap, self._group, self._client_id = bootstrap, group, client_id
        self._interval, self._session = interval, session
        self._asks_group = asks_group
        now = time.monotonic()
        self.pulse = Pulse(now, now, now, now)
        self.assigned = False
        self.absent = False
        """Whether the broker's last answer was that we are no member. A second one is not waited for: a worker whose
        heartbeats had ended went on for 2.2 s after its eviction, one request more than is recorded (measured)."""
        self.waiting: Callable[[], Iterable[TopicPartition]] = tuple
        """The partitions whose messages this process should be taking."""
        self.on_doubt: Callable[[], None] = lambda: None
        self.on_lag: Callable[[float], None] = lambda _seconds: None
        """Called with how late the event loop woke up, twice a second."""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to ask."""
        self._tasks = [asyncio.create_task(self._ask(), name="vitals"), asyncio.create_task(self._beat(), name="lag")]

    async def stop(self) -> None:
        """Ask no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def unready(self) -> str:
        """Why no work is being done now; empty when it is."""
        now = time.monotonic()
        if not self.assigned:
            return "not assigned"
        if now - self.pulse.broker > PROBE + 2 * self._interval:
            return f"the broker has not answered for {now - self.pulse.broker:.0f} s"
        return "not a member of the group" if self.doubtful() else ""

    def doubtful(self) -> bool:
        """Whether the broker's word that the sites are ours is too old, or was that they are not."""
        stale = time.monotonic() - self.pulse.member > self._session / 2
        return self._asks_group and (self.absent or stale)

    def deaf(self) -> str:
        """Why only a new process can help; empty when none is needed. With the broker away none would help."""
        now, pulse = time.monotonic(), self.pulse
        limit = max(DEAF, 2 * self._session)
        if now - pulse.broker > PROBE + 2 * self._interval:
            pulse.member = pulse.progress = pulse.assigned = now - self._session
            return ""
        if self.assigned:
            pulse.assigned = now
        lost = LOST if self.absent and self.assigned else limit
        for what, since, longest in (
            ("out of the group", pulse.member if self._asks_group else now, lost),
            ("without an assignment", pulse.assigned, limit),
            ("taking no messages", pulse.progress, limit),
        ):
            if now - since > longest:
                return f"{what} for {now - since:.0f} s"
        return ""

    async def _beat(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT)
            self.on_lag(max(0.0, time.monotonic() - before - BEAT))
            if self.assigned and self.doubtful():
                self.on_doubt()

    async def _ask(self) -> None:
        while True:
            try:
                await self._session_of_answers()
            except Exception as error:  # noqa: BLE001 - the broker is away: ask again until it is back
                log.debug("the broker does not answer: %r", error)
            await asyncio.sleep(self._interval)

    async def _session_of_answers(self) -> None:
        """Ask until an answer fails to come; clients that failed once are not trusted again."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap, request_timeout_ms=int(PROBE * 1000))
        consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, request_timeout_ms=int(PROBE * 1000))
        try:
            async with asyncio.timeout(2 * PROBE):
                await admin.start()
                await consumer.start()
            while True:
                async with asyncio.timeout(PROBE):
                    await self._answer(admin, consumer)
                await asyncio.sleep(self._interval)
        finally:
            with suppress(Exception):
                await admin.close()
            with suppress(Exception):
                await consumer.stop()

    async def _answer(self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer) -> None:
        asked = time.monotonic()
        if not self._asks_group:  # Tansu: its offsets are wrong after a batch of several records
            await admin.describe_cluster()
            self.pulse.broker = self.pulse.progress = asked
            return
        (answer,) = await admin.describe_consumer_groups([self._group])
        self.pulse.broker = asked
        error, members = answer.groups[0][0], answer.groups[0][5]
        self.absent = False
        if any(member[1] == self._client_id for member in members):
            self.pulse.member = asked
        elif not error:
            self.absent = True
        await self._progress(admin, consumer, asked)

    async def _progress(self, admin: AIOKafkaAdminClient, consumer: AIOKafkaConsumer, asked: float) -> None:
        """Nothing waits, or something was taken since the last look."""
        wanted = sorted(self.waiting())
        if not wanted:
            self.pulse.progress = asked
            return
        consumer.assign(wanted)
        consumer.pause(*wanted)  # only their ends are asked for
        ends, starts = await consumer.end_offsets(wanted), await consumer.beginning_offsets(wanted)
        answer = await admin.list_consumer_group_offsets(self._group, partitions=wanted)
        committed = {tp: max(answer[tp].offset, starts[tp]) for tp in wanted}
        behind = {tp: at for tp, at in committed.items() if at < ends[tp]}
        if not behind or behind != {tp: self.pulse.committed.get(tp, -1) for tp in behind}:
            self.pulse.progress = asked
        self.pulse.committed = committed
