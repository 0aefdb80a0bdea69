"""One worker of the virtual world: all of it is production code but Faust, which is played.

What is real: agents.worker.Worker's hooks, agents.pump, agents.step, agents.sites, agents.site, agents.intake,
agents.consuming, agents.post, agents.memory (Memory and Store), and every rule. What stands in for Faust does what
docs and measurements say that it does: one stream for each agent, events acknowledged in order and committed now and
then, an eager rebalance with its hooks in their order, recovery from the persisted offset.
"""

from __future__ import annotations

import asyncio
import functools
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from aiokafka.errors import KafkaConnectionError
from faust.types import TP

from agents import worker as production
from agents.dead_letters import TOPIC as DEAD_LETTERS
from agents.holds import Holds
from agents.intake import Intake
from agents.memory import Memory
from agents.post import Post
from agents.producing import Record as Letter
from agents.pump import Pump
from agents.site import Mailbox
from agents.sites import Sites
from agents.standstill import STALL, Standstill
from agents.step import Stepper
from agents.store import Store
from crawler.rules.site import Policy
from models import intake
from models.intake import STAFF_TOPIC
from tests.chaos.broker import HEARTBEAT, PARTITIONS, Broker, Record
from tests.chaos.history import CHANGELOG
from tests.chaos.virtual import Process
from tests.chaos.web import Web

INTAKE = tuple(sorted(intake.type_of_topic))
COMMIT = 1.0
"""Seconds between commits of offsets."""


@dataclass
class Message:
    """A record as Faust's event shows it."""

    record: Record
    generation: int
    acked: Callable[[Message], None]
    references: int = 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self.record, name)

    @property
    def timestamp(self) -> float:
        """The broker's time, seconds."""
        return self.record.at

    def incref(self) -> None:
        """Held once more."""
        self.references += 1


@dataclass
class Overheard:
    """A record as a plain client shows it."""

    record: Record

    def __getattr__(self, name: str) -> Any:
        return getattr(self.record, name)

    @property
    def timestamp(self) -> int:
        """The broker's time, milliseconds."""
        return int(self.record.at * 1000)


@dataclass
class Event:
    """What an agent's stream yields."""

    message: Message

    def ack(self) -> None:
        """Held once less; at zero its offset may be committed."""
        self.message.references -= 1
        if self.message.references == 0:
            self.message.acked(self.message)


@dataclass
class Stream:
    """One agent's stream: events of an older generation are dropped unseen."""

    node: Node
    queue: asyncio.Queue[Event] = field(default_factory=asyncio.Queue)

    async def events(self) -> AsyncIterator[Event]:
        """For ever."""
        while True:
            event = await self.queue.get()
            if event.message.generation == self.node.generation:
                yield event
                event.ack()


@dataclass(frozen=True)
class Sent:
    """What a producer says of a record that the broker has."""

    topic: str
    partition: int
    offset: int


class Table:
    """The table's changelog, as agents.memory uses it."""

    def __init__(self, node: Node, store: Store) -> None:
        self.data = store
        self._node = node
        self.changelog_topic = self

    def get_topic_name(self) -> str:
        """The changelog's name."""
        return CHANGELOG

    def send_soon(
        self, *, key: bytes, value: bytes | None, partition: int, headers: Any, **_: Any
    ) -> asyncio.Future[Any]:
        """One record, in the process's order."""
        return self._node.produce("put", CHANGELOG, partition, key, value, tuple(headers))


@dataclass
class Topic:
    """A topic, as agents.post uses it."""

    node: Node
    name: str

    def send_soon(
        self, *, key: bytes | None, value: bytes, partition: int | None, **more: Any
    ) -> asyncio.Future[Any]:
        """One record."""
        headers = tuple(more.get("headers") or ())
        return self.node.produce("tell", self.name, partition or 0, key, value, headers)


class Silent:
    """Health, vitals and lives: the rest that this world does not look at."""

    def __init__(self) -> None:
        self.caught_up = asyncio.Event()

    ready = False
    assigned = False
    namesake = False

    def start(self) -> None:
        """The reading children of the real one."""

    def doubtful(self) -> bool:
        """The broker's word is as old as the last heartbeat: the standstill covers what this world plays."""
        return False

    def certainly_dead(self, _name: str) -> bool:
        """Nobody buries anybody here."""
        return False

    def set_ready(self, ready: bool, reason: str = "") -> None:
        """Remember it."""
        self.ready = ready


class Node:
    """One life of one worker: from its start to its death."""

    def __init__(self, name: str, broker: Broker, web: Web, policy: Policy, process: Process) -> None:
        self.name = name
        self.broker = broker
        self.web = web
        self.process = process
        self.generation = -1
        self.owned: set[int] = set()
        self.on_call: Callable[[Node, str], str] = lambda _node, _kind: ""
        """Torture: asked before each fallible call; "fail", "kill", "kill-after", "freeze" or nothing."""
        self.store = self._store()
        self.worker = self._worker(policy)
        self.news = asyncio.Event()
        self.streams = {"site": Stream(self), "intake": Stream(self)}
        self._positions: dict[tuple[str, int], int] = {}
        self._acked: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        process.start(self._main)

    def _store(self) -> Store:
        store = object.__new__(Store)
        store.__post_init__()
        store.app = self  # type: ignore[assignment]
        setattr(store, "keys_of", lambda number: sorted(store._keys[number]))  # noqa: B010 - one seed, one run
        return store

    def _worker(self, policy: Policy) -> production.Worker:
        worker = object.__new__(production.Worker)
        worker._health = worker.vitals = worker.lives = Silent()  # type: ignore[assignment]
        worker._delay = policy.profile.pace.crawl.delay
        worker._partitions = PARTITIONS
        worker._behind, worker._generation, worker._background = {}, 0, set()
        worker.app = self  # type: ignore[assignment]
        worker.failure = self.broker.loop.create_future()
        memory = object.__new__(Memory)
        table: Any = Table(self, self.store)
        memory._app = self  # type: ignore[assignment]
        memory._table = self.store.table = table
        memory._on_failure = worker._fail
        self._life = f"{self.name}@{len(self.broker.order)}"
        self.store.owner, self.store.claim = self._life, memory._claim
        worker.memory = memory
        post = object.__new__(Post)
        post._partitions = PARTITIONS
        post._app = self  # type: ignore[assignment]
        worker.reader = Silent()  # type: ignore[assignment]
        names = ("site-mailbox", "site-events", "page-fetched", "pages-listed")
        post._topics = {name: Topic(self, name) for name in names}  # type: ignore[misc]
        worker.sites = Sites(memory, post, PARTITIONS)
        worker._standstill = standstill = Standstill(max(STALL, 2 * HEARTBEAT + 1.0))
        worker.sites.settled = standstill.settled
        stepper = Stepper(worker.sites, self, self, policy, self.name, standstill)  # type: ignore[arg-type]
        worker.pump = Pump(stepper, standstill, worker._may_run)
        stepper.on_slow_broker = lambda: worker.pump.hold(max(2.0, worker._delay))
        worker.mailbox = Mailbox(worker.sites, post, policy, PARTITIONS)
        worker.mailbox.on_change = lambda site: worker.pump.add(site, worker.sites.get(site).head)
        worker.holds = Holds()
        worker.holds.begin({number: self.broker.committed[STAFF_TOPIC, number] for number in range(PARTITIONS)})
        worker.overhearing = Silent()  # type: ignore[assignment]
        worker.mailbox.on_decided = worker.holds.decided
        self.intake = Intake(post, policy.profile)
        return worker

    # -- what the worker calls

    @property
    def producer(self) -> Node:
        """Faust's `app.producer`."""
        return self

    async def send_first(self, topic: str, partition: int, records: Iterable[Letter]) -> int:
        """One batch past Faust's queue; here a batch is one record."""
        assert topic == DEAD_LETTERS
        key, value, headers = next(iter(records))
        await self.produce("tell", topic, partition, key, value, tuple(headers))
        return 1

    @property
    def assignor(self) -> Node:
        """Faust's `app.assignor`."""
        return self

    def assigned_actives(self) -> set[TP]:
        """What this node owns."""
        return {TP(topic, number) for topic in ("site-mailbox", CHANGELOG) for number in self.owned}

    async def fetch(self, request: Any) -> Any:
        """The fetcher."""
        told = self._gate("fetch")
        if self.process.state != "running":
            await asyncio.sleep(0)  # gone, or frozen, before it was sent
        if told == "kill-after":
            self.broker.loop.call_later(0.05, self.process.kill)
        self.web.before_fetch = lambda: told
        return await self.web.fetch(request)

    async def read(self, plan: Any, response: Any) -> Any:
        """The reader."""
        if self._gate("read") == "fail":
            raise OSError("the reader is gone")
        return await self.web.read(plan, response)

    def produce(
        self, kind: str, topic: str, partition: int, key: bytes | None, value: bytes | None, headers: Any = ()
    ) -> asyncio.Future[Any]:
        """One record to the broker."""
        told = self._gate(kind)
        if told == "fail":
            future: asyncio.Future[Any] = self.broker.loop.create_future()
            self.broker.loop.call_later(0.01, future.set_exception, KafkaConnectionError())
            return future
        if told == "kill-after":
            self.broker.loop.call_later(0.002, self.process.kill)

        def arrive() -> int:
            return self.broker.append(topic, partition, key, value, headers=headers, writer=self.name)

        if topic == CHANGELOG:
            return self.broker.send(self.process, lambda: Sent(topic, partition, arrive()))

        return self.broker.send(self.process, arrive)

    def _gate(self, kind: str) -> str:
        told = self.on_call(self, kind)
        if told == "kill":
            self.process.kill()
        elif told == "freeze":
            self.process.freeze()
        return told

    # -- what Faust does

    async def _main(self) -> None:
        assert self.worker.failure is not None
        tasks = [
            asyncio.create_task(self.worker.mailbox(self.streams["site"])),
            asyncio.create_task(self.intake(self.streams["intake"])),
            asyncio.create_task(self._poll()),
            asyncio.create_task(self._commit_for_ever()),
            asyncio.create_task(self.worker.memory.watch()),
            asyncio.create_task(self._overhear()),
        ]
        living: asyncio.Future[Any] = asyncio.create_task(self._live())
        await asyncio.wait({living, self.worker.failure}, return_when=asyncio.FIRST_COMPLETED)
        living.cancel()
        await self.worker.pump.close()
        for task in tasks:
            task.cancel()
        self.broker.loop.call_later(self.broker.latency, self.broker.leave, self.name)
        self.process.kill()

    def terminate(self) -> None:
        """SIGTERM: finish the steps under way, hand over."""
        self.process.call(self._stopping)

    def _stopping(self) -> None:
        assert self.worker.failure is not None
        if not self.worker.failure.done():
            self.worker.failure.set_result(SystemExit())

    async def _live(self) -> None:
        while True:
            self.generation, self.owned = await self.broker.join(self.process)
            await self.store.on_rebalance(set(), set(), set(), self.generation)
            await self._recover()
            self._positions = {
                (topic, number): self.broker.committed[topic, number]
                for topic in ("site-mailbox", *INTAKE)
                for number in self.owned
            }
            self._acked.clear()
            self.worker.assigned()
            self.news.set()
            while await self._heartbeat():  # noqa: ASYNC110 - heartbeats are timed
                await asyncio.sleep(HEARTBEAT)
            self.worker.pump.paused = True  # WorkerApp.on_rebalance_start
            self._commit()
            await self.worker._revoked()

    def _heartbeat(self) -> asyncio.Future[bool]:
        return self.broker.ask(self.process, lambda: self.broker.heartbeat(self.process, self.generation))

    async def _recover(self) -> None:
        """Faust's own recovery: what came after the persisted offset."""
        for number in self.owned:
            tp = TP(CHANGELOG, number)
            begin = self.store.persisted_offset(tp)
            log = await self.broker.ask(self.process, functools.partial(self._log, number))
            later = log[-1 if begin is None else begin + 1 :] if begin is not None else log
            events = [
                Event(Message(record, self.generation, lambda _: None)) for record in later if record is not None
            ]
            self.store.apply_changelog_batch(events, lambda key: key, lambda value: value)  # type: ignore[arg-type]

    def _log(self, number: int) -> list[Record]:
        return list(self.broker.logs[CHANGELOG, number])

    async def _poll(self) -> None:
        while True:
            await self.news.wait()
            self.news.clear()
            for (topic, number), position in list(self._positions.items()):
                log = self.broker.logs[topic, number]
                stream = self.streams["site" if topic == "site-mailbox" else "intake"]
                for record in log[position:]:
                    stream.queue.put_nowait(Event(Message(record, self.generation, self._ack)))
                self._positions[topic, number] = len(log)

    async def _overhear(self) -> None:
        """`agents.holds.Overhearing`, on the model's broker."""
        holds = self.worker.holds
        while True:
            if not self.broker.wire(self.process).cut:
                for number, begin in holds.positions.items():
                    for record in self.broker.logs[STAFF_TOPIC, number][begin:]:
                        holds.hear(Overheard(record))
                self.worker.overhearing.caught_up.set()
            await asyncio.sleep(0.25)

    def _ack(self, message: Message) -> None:
        if message.generation == self.generation:
            self._acked[message.topic, message.partition].add(message.offset)

    def unacknowledge(self, topic: str, partition: int) -> None:
        """Somebody reset the group's offset: what is acknowledged and not committed is forgotten with it."""
        self._acked.pop((topic, partition), None)

    async def _commit_for_ever(self) -> None:
        while True:
            await asyncio.sleep(COMMIT)
            self._commit()

    def _commit(self) -> None:
        """In order, without a hole; the broker refuses what is of an older generation."""
        found = {}
        for place, offsets in self._acked.items():
            next_ = self.broker.committed[place]
            while next_ in offsets:
                next_ += 1
            if next_ > self.broker.committed[place]:
                found[place] = next_
        told = self._gate("commit") if found else ""
        if not found or told == "fail":
            return
        generation = self.generation

        def arrive() -> int:
            if generation == self.broker.generation:
                self.broker.committed.update(found)
            return 0

        self.broker.send(self.process, arrive)
