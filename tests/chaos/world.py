"""A house in virtual time: workers, a broker, websites, clients; and its history, as observers would have written it.

Thousands of steps a second: an hour of kills, freezes and partitions is played in seconds, with production code.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import random
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any, Self

from faust.types import TP

import bots
from agents import memory, pump, standstill, step, store
from agents import worker as production
from agents.fences import Reading
from crawler.rules.site import Policy
from models import events
from models.events import read_content, read_event
from models.ids import job_id, marker_of
from models.intake import STAFF_TOPIC
from models.state import Head, head_key
from tests.chaos import checkers
from tests.chaos.broker import NOBODY, PARTITIONS, Broker, Record
from tests.chaos.checkers import Anomaly
from tests.chaos.history import CHANGELOG, SECOND, History, history
from tests.chaos.node import INTAKE, Node
from tests.chaos.projecting import project
from tests.chaos.virtual import WALL, Clock, Process, VirtualLoop
from tests.chaos.web import Shop, Web

KEY = b"k" * 32
POLICY = Policy(bots.load("ema"), KEY)


class World:
    """Everything that runs."""

    def __init__(self, shops: list[Shop], seed: int = 0) -> None:
        self.loop = VirtualLoop()
        self.random = random.Random(seed)
        self.broker = Broker(self.loop)
        self.web = Web(self.loop, shops, POLICY, seed)
        self.nodes: dict[str, Node] = {}
        self.past: list[Node] = []
        self.on_call: Callable[[Node, str], str] = lambda _node, _kind: ""
        self.lines: dict[str, list[dict[str, Any]]] = {"client": [], "commands": [], "nemesis": [], "final": []}
        self.broker.watchers.append(self._news)
        self.loop.call_soon(self.broker.check, context=NOBODY)
        self._events = 0
        self.partition: int | None = None
        """Where clients write; None: anywhere."""
        for number in range(PARTITIONS):  # begun empty on purpose (A03)
            site = marker_of(number, PARTITIONS)
            marker = Head(site=site, partition=number, marker=True).model_dump_json().encode()
            self.broker.append(CHANGELOG, number, head_key(site).encode(), marker)

    # -- faults

    def start(self, name: str) -> Node:
        """Start a worker; the one that had this name is gone by now."""
        with patched(self.loop, self.broker, self.random):
            node = self._born(name)
        self.nodes[name] = node
        self.past.append(node)
        return node

    def _born(self, name: str) -> Node:
        node = Node(name, self.broker, self.web, POLICY, Process(self.loop, name))
        node.on_call = self._called
        return node

    def _called(self, node: Node, kind: str) -> str:
        return self.on_call(node, kind)

    def kill(self, name: str) -> None:
        """SIGKILL; the broker learns of it from silence."""
        self._fault("kill", name)
        self.nodes.pop(name).process.kill()

    def freeze(self, name: str) -> None:
        """SIGSTOP."""
        self._fault("freeze", name)
        self.nodes[name].process.freeze()

    def thaw(self, name: str) -> None:
        """SIGCONT."""
        self.nodes[name].process.thaw()

    def cut(self, name: str, is_cut: bool = True) -> None:
        """The way between a worker and the broker is broken, or whole again."""
        self._fault("cut" if is_cut else "whole", name)
        node = self.nodes[name]
        self.broker.wire(node.process).cut = is_cut
        if not is_cut:
            node.process.call(node.news.set)  # what came meanwhile is fetched now

    def redeliver(self, partition: int) -> None:
        """The mailbox of a partition is read again from its beginning, after a rebalance."""
        self.broker.committed["site-mailbox", partition] = 0
        for node in self.past:
            node.unacknowledge("site-mailbox", partition)
        self.broker.rebalance()

    def _fault(self, fault: str, target: str) -> None:
        self.lines["nemesis"].append({"at": self._ns(), "event": "start", "fault": fault, "target": target})

    # -- clients

    def say(self, topic: str, site: str, kind: str = "", event: str = "", **data: Any) -> str:
        """An intake event; with the id of an earlier one, it is sent twice."""
        self._events += 1
        event = event or str(uuid.UUID(int=self._events))
        said = {"account": "acme", "address": site, **data}
        envelope = {"id": event, "type": kind or topic, "version": 1, "producer": "model", "data": said}
        return self.send(topic, json.dumps(envelope).encode(), event, kind or topic, site)

    def send(self, topic: str, value: bytes, event: str = "", kind: str = "", site: str = "") -> str:
        """Any bytes on an intake topic."""
        file = "commands" if topic == "operator-commands" else "client"
        line = {"id": event, "topic": topic, "type": kind, "site": site, "account": "acme", "requester": "customer"}
        self.lines[file].append({"at": self._ns(), "op": "invoke", **line})
        partition = self.random.randrange(PARTITIONS) if self.partition is None else self.partition
        offset = self.broker.append(topic, partition, b"any", value)
        self.lines[file].append({"at": self._ns(), "op": "ok", **line, "partition": partition, "offset": offset})
        return event

    def operator(self, kind: str, site: str) -> None:
        """A command of staff."""
        self.say("operator-commands", site, kind, by="ann", reason="said so")

    def crawl(self, site: str) -> str:
        """Ask for a crawl; its id."""
        return job_id("crawl", self.say("crawl-requested", site, requester="customer"))

    # -- time

    def run(self, seconds: float) -> None:
        """Let time pass."""
        with patched(self.loop, self.broker, self.random):
            self.loop.run(seconds)

    def until(self, true: Callable[[], bool], most: float, step: float = 0.5) -> bool:
        """Let time pass until something holds; False when it never did."""
        end = self.loop.now + most
        while not true():
            if self.loop.now >= end:
                return False
            self.run(step)
        return True

    def settle(self, most: float = 600.0) -> bool:
        """Heal everything, and wait until nothing is open and nothing waits."""
        for name in list(self.nodes):
            self.cut(name, is_cut=False)
            self.thaw(name)
        self.on_call = lambda _node, _kind: ""
        self.broker.latency = 0.002
        self.revive()
        self.lines["nemesis"].append({"at": self._ns(), "event": "heal", "fault": "", "target": ""})
        settled = self.until(self.quiet, most, 2.0)
        at = self.lines["nemesis"][-1]["at"] if settled else self._ns()  # when is the model's own affair, not I17's
        self.lines["final"].append({"event": "quiet", "at": at, "lag": 0 if settled else 1, "ready": settled})
        return settled

    def revive(self) -> None:
        """A supervisor: every worker that is gone is started again, and at least one runs."""
        for name in [name for name, node in self.nodes.items() if node.process.state == "dead"]:
            self.start(name)
        if not self.nodes:
            self.start("worker-1")

    def quiet(self) -> bool:
        """Everything is read, no site has anything to do, and everybody knows what is theirs."""
        self.revive()
        places = [(topic, number) for topic in ("site-mailbox", *INTAKE) for number in range(PARTITIONS)]
        read = all(self.broker.committed[place] == len(self.broker.logs[place]) for place in places)
        return read and not self.open_sites() and all(self.at_home(node) for node in self.nodes.values())

    def at_home(self, node: Node) -> bool:
        """Whether a worker is in the group as it is now, with its partitions claimed and nothing to write again."""
        current = node.generation == self.broker.generation and not self.broker.rebalancing
        return current and node.owned == node.store.fences.keys() and not node.store.gap.is_set()

    def open_sites(self) -> set[str]:
        """Sites whose newest head has jobs or open intents."""
        newest: dict[bytes, bytes | None] = {}
        for number in range(PARTITIONS):
            newest |= self.reading(number).values
        heads = [json.loads(value) for key, value in newest.items() if key.endswith(b"|h") and value]
        return {head["site"] for head in heads if head["jobs"] or head["intents"]}

    def _news(self, record: Record) -> None:
        if record.topic != CHANGELOG:
            for node in self.past:
                if node.process.state != "dead" and not self.broker.wire(node.process).cut:
                    self.loop.call_later(0.003, node.process.call, node.news.set, context=NOBODY)

    def _ns(self) -> int:
        return int(self.loop.now * SECOND)

    # -- what was seen

    def forgotten(self) -> set[bytes]:
        """Keys of which an owner remembers something else than the log says (A03), to whoever reads it next."""
        wrong: set[bytes] = set()
        for node in self.nodes.values():
            for number in node.owned:
                log = self.reading(number)
                held = {key: node.store.data[key] for key in node.store.keys_of(number)}
                wrong |= {key for key in log.values.keys() | held.keys() if log.values.get(key) != held.get(key)}
                wrong |= log.hidden
        return wrong

    def reading(self, number: int) -> Reading:
        """A partition of the changelog, read by nobody in particular."""
        reading = Reading()
        reading.take(record for record in self.broker.logs[CHANGELOG, number] if record is not None)
        return reading

    def facts(self) -> list[Any]:
        """What was told, in the order in which the broker got it."""
        return [read_event(r.value) for r in self.broker.order if r.topic == "site-events" and r.value]

    def told(self) -> list[events.Fact]:
        """Facts and contents, in the order in which the broker got them."""
        told: list[events.Fact] = []
        for record in self.broker.order:
            if record.topic in ("site-events", "page-fetched") and record.value:
                read = read_event if record.topic == "site-events" else read_content
                told.append(read(record.value))
        return told

    def history(self) -> History:
        """As files would have it."""
        told = self.told()
        rows = [{"table": table, "row": row} for table, found in project(told).items() for row in found]
        origin: list[dict[str, Any]] = []
        for asked in self.web.asked:
            origin.append({"event": "arrived", **asdict(asked), "ended": None})
            if asked.ended is not None:
                origin.append({"event": "ended", **asdict(asked)})
        shops = self.web.shops.values()
        world = [{"site": s.name, "robots": s.robots, "disallow": list(s.disallow)} for s in shops]
        return history(
            {
                **self.lines,
                "origin": origin,
                "world": world,
                "clock": [{"monotonic": 0, "wall": WALL}],
                "topics": [_line(record) for record in self.broker.order],
                "database": rows,
                "replay": rows,
                "egress": [],
            }
        )

    def anomalies(self) -> list[Anomaly]:
        """All that the checkers find."""
        return checkers.violations(self.history(), POLICY.profile)


def _line(record: Record) -> dict[str, Any]:
    value = None if record.value is None else record.value.decode("utf-8", "replace")
    return {
        "topic": record.topic, "partition": record.partition, "offset": record.offset,
        "timestamp": int(record.at * 1000), "key": record.key.decode() if record.key else None, "value": value,
        "headers": {name: text.decode() for name, text in record.headers},
    }  # fmt: skip


@contextlib.contextmanager
def patched(loop: VirtualLoop, broker: Broker, seeded: random.Random) -> Iterator[None]:
    """Production code sees the virtual clock, seeded chance, and the model's broker where it opens its own client."""
    clock = Clock(loop)
    level = logging.root.manager.disable
    places: list[tuple[Any, str, Any]] = [
        (pump, "time", clock),
        (step, "time", clock),
        (pump, "random", seeded),
        (pump, "TICK", 0.5),  # half of a virtual house's steps are its pumps' looks at the clock
        (standstill, "boottime", clock.monotonic),
        (production, "mailbox_ends", functools.partial(_ends, broker)),
        (production, "bootstrap", lambda node: node),
        (production, "committed", functools.partial(_committed, broker)),
        (memory, "bootstrap", lambda node: node),
        (store, "bootstrap", lambda node: node),
        (memory, "Partitions", functools.partial(Changelog, broker)),
        (store, "Partitions", functools.partial(Changelog, broker)),
    ]
    saved = [(module, name, getattr(module, name)) for module, name, _ in places]
    for module, name, value in places:
        setattr(module, name, value)
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        for module, name, value in saved:
            setattr(module, name, value)
        logging.disable(level)


async def _ends(broker: Broker, node: Any, owned: set[int]) -> dict[int, int]:
    def look() -> dict[int, int]:
        found = {}
        for number in owned:
            end = len(broker.logs["site-mailbox", number])
            if broker.committed["site-mailbox", number] < end:
                found[number] = end - 1
        return found

    return await broker.ask(node.process, look)  # type: ignore[no-any-return]


async def _committed(broker: Broker, node: Any, _group: str) -> dict[int, int]:
    def look() -> dict[int, int]:
        return {number: broker.committed[STAFF_TOPIC, number] for number in range(PARTITIONS)}

    return await broker.ask(node.process, look)  # type: ignore[no-any-return]


class Changelog:
    """`agents.partitions.Partitions` on the model's broker."""

    def __init__(self, broker: Broker, node: Any, tps: list[TP]) -> None:
        self._broker, self._node, self._tps = broker, node, tps

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return

    async def begins(self) -> dict[TP, int]:
        """Nothing is ever deleted from the front."""
        return dict.fromkeys(self._tps, 0)

    async def ends(self) -> dict[TP, int]:
        """Asked of the broker."""
        logs = self._broker.logs
        return await self._broker.ask(self._node.process, lambda: {tp: len(logs[tp]) for tp in self._tps})  # type: ignore[no-any-return]

    async def read(self, begins: Mapping[TP, int], ends: Mapping[TP, int]) -> AsyncIterator[tuple[TP, list[Record]]]:
        """One partition after the other."""
        for tp in begins:
            log = await self._broker.ask(
                self._node.process, lambda tp=tp: self._broker.logs[tp][begins[tp] : ends[tp]]
            )
            yield tp, [record for record in log if record is not None]
