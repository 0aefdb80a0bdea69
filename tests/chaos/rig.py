"""What a chaos run stands on: the whole house on Apache Kafka and PostgreSQL, supervised, a proxy before each door.

Each worker has a listener of the broker of its own, advertised as a proxy's port, so that one worker can be cut off
while the others go on. The driver talks past all proxies.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient

from migrations import upgrade
from models.database import make_engine
from models.tables import Base
from stack.child import Child
from stack.errors import StackError
from stack.kafka import Kafka
from stack.net import LOOPBACK, free_port
from stack.obituaries import Obituaries
from stack.postgres import Postgres
from stack.process import Process
from stack.restore import restore
from stack.topics_admin import apply
from tests.chaos import websites
from tests.chaos.history import CHANGELOG, Recorder
from tests.chaos.proxy import Proxy
from tests.chaos.small_disk import SmallDisk
from tests.house.house import KEY, SESSION, House

NAMES = ("worker-1", "worker-2", "worker-3", "worker-4")
"""The last one comes and goes."""
CLOCKED = "worker-3"
"""The worker whose wall clock can be turned."""
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
TABLES = tuple(table.name for table in Base.metadata.sorted_tables)
FACTS = ("site-events", "page-fetched")
SILENCE = 5.0
DISKS = {"kafka": 320, "postgres": 320}
"""Megabytes; what sixty sites leave in ten minutes needs less."""


class Rig(House):
    """Everything that runs, the doors between, and the files in which all of it is written down."""

    def __init__(
        self, folder: Path, sites: int, nodes: int = 1, *, clocked: bool = False, small: float = 0.0
    ) -> None:
        self.kafka = Kafka(folder / "kafka", nodes)
        # Durable: without, an immediate shutdown loses what was committed in the last moment, and the sink is blamed.
        self.postgres = Postgres(folder / "postgres")
        self.sites = websites.names(sites)
        self.unverified = [f"u{n:03d}.example" for n in range(8)]
        self.record = Recorder(folder)
        self.proxies: dict[str, Proxy] = {}
        self.children: dict[str, Child] = {}
        self.away: set[str] = set()
        """Children that are not started again for now."""
        self.said: list[str] = []
        self._obituaries: Obituaries | None = None
        self._producer = self._origin = None
        self._supervision: asyncio.Task[None] | None = None
        self._folder = folder
        self._clocked = clocked and FAKETIME.exists()
        self.disks: dict[str, SmallDisk] = {}
        """The disks that can be filled, by whose they are."""
        if small:  # how many times the usual size
            self.disks = {what: SmallDisk(folder / what, round(size * small)) for what, size in DISKS.items()}
            self.postgres.settings |= {"max_wal_size": "64MB", "min_wal_size": "32MB"}

    async def begin(self) -> None:
        """Bring everything up."""
        (self._folder / "key").write_bytes(KEY)
        (self._folder / "key").chmod(0o600)
        for again in (True, True, False):
            try:
                await self._start_broker()
                break
            except StackError:  # somebody else took one of its many ports in between
                if not again:
                    raise
                for proxy in self.proxies.values():
                    await proxy.stop()
                self.kafka = Kafka(self._folder / f"kafka-{free_port()}", self.kafka.nodes)
        await self.postgres.start()
        super().__init__(self._folder, self.kafka, self.postgres, [*self.sites, *self.unverified])
        self.proxies["database"] = await Proxy(self.postgres.port).start()
        self._start_origin("tests.chaos.websites:serve")
        await apply(self.kafka.bootstrap, replication=self.kafka.nodes)
        engine = make_engine(self.url, "tests")
        upgrade(engine)
        engine.dispose()
        await restore(self.kafka.bootstrap, self.url)  # nothing yet: the memory is said to be whole
        for site in (*self.sites, *self.unverified):
            self.record.write("world", **websites.described(site))
        (self.folder / "commands.jsonl").touch()
        self.clock()
        self._obituaries = Obituaries(self.kafka.bootstrap, "kafka", self.tell)
        for name in (*NAMES[:3], "sink"):
            self.spawn(name)
        self._supervision = asyncio.create_task(self._supervise())
        await self.until_ready(*NAMES[:3], "sink", seconds=90)
        self._producer = AIOKafkaProducer(bootstrap_servers=self.kafka.bootstrap, acks="all")
        await self._producer.start()

    async def _start_broker(self) -> None:
        kafka = self.kafka
        kafka.settings |= {"log.cleaner.enable": "false", "offsets.topic.num.partitions": "4"}
        if kafka.nodes == 1:
            listeners = [
                f"PLAINTEXT://{LOOPBACK}:{kafka.ports[0]}",
                f"CONTROLLER://{LOOPBACK}:{kafka.controllers[0]}",
            ]
            advertised = listeners[:1]
            protocols = ["PLAINTEXT:PLAINTEXT", "CONTROLLER:PLAINTEXT"]
            for number, name in enumerate(NAMES):
                port = free_port()
                self.proxies[name] = await Proxy(port).start(free_port())
                listeners.append(f"W{number}://{LOOPBACK}:{port}")
                advertised.append(f"W{number}://{LOOPBACK}:{self.proxies[name].port}")
                protocols.append(f"W{number}:PLAINTEXT")
            kafka.settings |= {
                "listeners": ",".join(listeners),
                "advertised.listeners": ",".join(advertised),
                "listener.security.protocol.map": ",".join(protocols),
                "inter.broker.listener.name": "PLAINTEXT",
            }
        else:
            kafka.settings |= {"min.insync.replicas": "2"}
        await kafka.start()

    def tell(self, name: str, line: str) -> None:
        """What the supervision says, with the time."""
        if name == "licet":
            self.said.append(f"{time.monotonic():.1f} {line}")
        with (self._folder / f"{name}.log").open("a", encoding="utf-8") as out:
            out.write(line + "\n")

    def environment(self, name: str, port: int) -> dict[str, str]:
        """What a process is told; its broker and its database are behind proxies."""
        database = self.url.replace(f":{self.postgres.port}/", f":{self.proxies['database'].port}/")
        proxied = name in self.proxies and self.kafka.nodes == 1
        env = {
            **os.environ,
            "LICET_KAFKA": f"{LOOPBACK}:{self.proxies[name].port}" if proxied else self.kafka.bootstrap,
            "LICET_BROKER_KIND": "kafka",
            "LICET_DATABASE_URL": database,
            "LICET_TOKEN_KEY_FILE": str(self.folder / "key"),
            "LICET_DATA": str(self.folder / "data"),
            "LICET_WORKER_NAME": name,
            "LICET_METRICS_PORT": str(port),
            "LICET_SESSION_TIMEOUT": str(SESSION),
            "LICET_HEARTBEAT_INTERVAL": "1",
            "PYTHONUNBUFFERED": "1",
        }
        if name == CLOCKED and self._clocked:
            clock = self.folder / f"{name}.clock"
            clock.write_text("+0")
            env |= {
                "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }  # fmt: skip
        return env

    def command(self, name: str) -> list[str]:
        """How a process is started."""
        if name.startswith("sink"):
            return [sys.executable, "-m", "app", "sink"]
        return [sys.executable, "-m", "tests.chaos.worker", str(self._network)]

    def spawn(self, name: str) -> Child:
        """Start a child under supervision."""
        port = free_port()
        (self.folder / f"{name}.port").write_text(str(port))
        silence = SILENCE if name in NAMES else 15.0
        child = Child(
            name,
            self.command(name),
            self.environment(name, port),
            port,
            self.tell,
            silence=silence,
        )
        child.with_spare = name in NAMES
        if name in NAMES and self._obituaries is not None:
            child.gone = self._obituaries.publish
        child.spawn()
        self.children[name] = child
        return child

    def rival(self, name: str) -> Process:
        """A second process under a name that is taken: somebody's mistake."""
        port = free_port()
        return Process(f"{name}-rival", self.command(name), self.folder / f"{name}-rival.log",
                       env=self.environment(name, port))  # fmt: skip

    async def _supervise(self) -> None:
        while True:
            await asyncio.gather(*(self._step(c) for n, c in self.children.items() if n not in self.away))
            await asyncio.sleep(0.1)

    async def _step(self, child: Child) -> None:
        try:
            await child.step()
        except StackError as error:
            self.tell("licet", str(error))
            self.away.add(child.name)  # whoever made the mistake puts it right

    async def stop(self) -> None:
        """End everything that this rig started."""
        if self._supervision is not None:
            self._supervision.cancel()
        if self._producer is not None:
            with suppress(Exception):
                await asyncio.wait_for(self._producer.stop(), 5)
        for child in self.children.values():
            child.process.send(signal.SIGCONT)
        await asyncio.gather(*(child.stop(8.0) for child in self.children.values()))
        if self._obituaries is not None:
            await self._obituaries.close()
        for proxy in self.proxies.values():
            await proxy.stop()
        if self._origin is not None:
            self._origin.terminate()
            self._origin.wait(10)
        await asyncio.gather(self.kafka.stop(), self.postgres.stop())
        for disk in self.disks.values():
            disk.unmount()

    # what is said, and written down

    def clock(self) -> None:
        """Tie the two clocks together."""
        self.record.write("clock", monotonic=time.monotonic_ns(), wall=time.time())

    async def said_so(self, topic: str, kind: str = "", copies: int = 1, **data: Any) -> str:
        """Publish an intake event, so many times over, and write down what became of it."""
        event = str(uuid.uuid4())
        body = {"id": event, "type": kind or topic, "version": 1, "producer": "chaos", "data": data}
        file = "commands" if topic == "operator-commands" else "client"
        about = {
            "id": event, "topic": topic, "type": kind or topic, "site": data.get("address", ""),
            "account": data.get("account", ""), "requester": "staff" if file == "commands" else "customer",
        }  # fmt: skip
        for _ in range(copies):
            self.record.write(file, at=time.monotonic_ns(), op="invoke", **about)
            try:
                sent = await self.send(topic, json.dumps(body).encode())
            except Exception as error:  # noqa: BLE001 - it may have happened all the same
                self.record.write(file, at=time.monotonic_ns(), op="info", id=event, error=repr(error))
            else:
                place = {"partition": sent.partition, "offset": sent.offset}
                self.record.write(file, at=time.monotonic_ns(), op="ok", id=event, **place)
        return event

    # what is asked of it

    async def behind(self, ends: dict[TopicPartition, int]) -> int:
        """How many records up to `ends` the sink has not committed yet."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.kafka.bootstrap)
        await admin.start()
        try:
            found = await admin.list_consumer_group_offsets("licet-sink", partitions=list(ends))
        finally:
            await admin.close()
        return sum(max(0, end - max(0, found[tp].offset)) for tp, end in ends.items())

    async def ends(self) -> dict[TopicPartition, int]:
        """Where the topics of facts end now."""
        async with AIOKafkaConsumer(bootstrap_servers=self.kafka.bootstrap) as consumer:
            wanted = [TopicPartition(name, number) for name in FACTS for number in range(12)]
            consumer.assign(wanted)
            consumer.pause(*wanted)
            return await consumer.end_offsets(wanted)  # type: ignore[no-any-return]

    async def drained(self, seconds: float) -> float | None:
        """Seconds until the sink has stored all that there is now; None when it took longer than `seconds`."""
        began = time.monotonic()
        ends: dict[TopicPartition, int] | None = None
        while time.monotonic() - began < seconds:
            with suppress(Exception):
                ends = ends or await self.ends()
                if not await self.behind(ends):
                    return time.monotonic() - began
            await asyncio.sleep(0.5)
        return None

    def all_ready(self) -> bool:
        """Whether every process that should run says that it works."""
        return all(self.ready(name) for name in self.children if name not in self.away)

    async def memories_agree(self) -> list[str]:
        """What the workers remember against a fresh read of the changelog; the differences."""
        log: dict[str, dict[str, str]] = {}
        for record in sorted(await self.topic(CHANGELOG), key=lambda r: (r.partition, r.offset)):
            keys = log.setdefault(str(record.partition), {})
            if record.value is None:
                keys.pop(record.key.decode(), None)
            else:
                keys[record.key.decode()] = hashlib.sha256(record.value).hexdigest()
        told: dict[str, dict[str, str]] = {}
        problems = []
        for name, child in self.children.items():
            if name == "sink" or name in self.away:
                continue
            file = self.folder / f"{name}.memory"
            file.unlink(missing_ok=True)
            child.process.send(signal.SIGUSR1)
            await self.until(file.exists, 10, f"{name} has told what it remembers")
            for partition, keys in json.loads(file.read_text()).items():
                if partition in told:
                    problems.append(f"partition {partition} is in two memories")
                told[partition] = keys
        return problems + [
            f"partition {number}: {len(told.get(number, {}))} keys, the log has {len(log.get(number, {}))}"
            for number in sorted({*log, *told})
            if log.get(number, {}) != told.get(number, {})
        ]

    async def dump(self) -> None:
        """All topics and tables into the history."""
        topics = ("crawl-requested", "verification-requested", "address-saved", "operator-commands", "site-mailbox",
                  "site-events", "page-fetched", "dead-letters", CHANGELOG)  # fmt: skip
        for name in topics:
            for record in await self.topic(name):
                self.record.record(record)
        for table in TABLES:
            self.record.rows(table, self.rows(f'SELECT * FROM "{table}"'))
        await self._replay()

    async def _replay(self) -> None:
        """What an auditor gets from the topics into a database of his own (I12)."""
        live, self.url = self.url, self.postgres.create_database("replayed")
        try:
            engine = make_engine(self.url, "tests")
            upgrade(engine)
            engine.dispose()
            command = [sys.executable, "-m", "app", "replay"]
            env = self.environment("replay", free_port()) | {"LICET_DATABASE_URL": self.url}
            with (self.folder / "replay.log").open("wb") as log:
                process = await asyncio.create_subprocess_exec(*command, env=env, stdout=log, stderr=log)
                if await process.wait() > 1:
                    return  # its log says why, and I12 stays unknown; at 1 a record was unreadable, and its row is missed
            (self.folder / "replay.jsonl").touch()
            for table in TABLES:
                self.record.rows(table, self.rows(f'SELECT * FROM "{table}"'), "replay")
        finally:
            self.url = live


def waiting(true: Callable[[], bool], seconds: float) -> Any:
    """An awaitable: whether it came true in time."""

    async def wait() -> bool:
        deadline = time.monotonic() + seconds
        while not await asyncio.to_thread(true):
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(0.2)
        return True

    return wait()
