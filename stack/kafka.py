"""Apache Kafka from the official jars, one KRaft node or three, data on disk, on loopback."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from stack.errors import StackError
from stack.jars import java, resolve
from stack.net import LOOPBACK, free_port, is_free, wait_until_usable
from stack.process import Process, run

# Starts in 3.3 s instead of 4.5 s (measured); a broker that lives for an hour of tests needs no more.
JVM = ("-Xmx{}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
LOGGING = """status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = INFO
rootLogger.appenderRef.console.ref = console
"""


class Kafka:
    """A cluster of 1 or 3 nodes, each broker and controller, in folders under `data`.

    `port` is the first node's, the others follow it; without it free ones are taken. `settings` are added to
    every node's server.properties. `kill`, `restart` and `stop_node` act on one node, for tests of outages.
    """

    kind = "kafka"

    def __init__(
        self,
        data: Path,
        nodes: int = 1,
        port: int | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        if nodes not in {1, 3}:
            raise StackError(f"A Kafka of {nodes} nodes is not offered; allowed is 1 or 3.")
        self.data = data.resolve()
        self.nodes = nodes
        self.ports = [port + node if port else free_port() for node in range(nodes)]
        self.controllers = [free_port() for _ in range(nodes)]
        self.settings = dict(settings or {})
        self.bootstrap = ",".join(f"{LOOPBACK}:{port}" for port in self.ports)
        self.processes: list[Process] = []

    async def start(self) -> None:
        """Resolve the jars, format what is new, start all nodes, wait until a record goes through."""
        jars = await resolve()
        if taken := [port for port in self.ports if not is_free(port)]:
            raise StackError(f"Port {taken[0]} of {LOOPBACK} is in use: name another with --port.")
        cluster = await self._cluster_id(jars)
        self.processes = [self._process(node, jars) for node in range(self.nodes)]
        try:
            await asyncio.gather(*(self._format(node, jars, cluster) for node in range(self.nodes)))
            for process in self.processes:
                process.spawn()
            await self.wait_until_usable()
        except BaseException:
            await self.stop()
            raise

    async def wait_until_usable(self, seconds: float = 90.0) -> None:
        """Wait until every node is there and a record can be produced and read."""
        try:
            await wait_until_usable(self.bootstrap, self.nodes, seconds, lambda: self.alive)
        except StackError as error:
            dead = [process for process in self.processes if not process.alive]
            tail = f"\n{dead[0].name}:\n{_why(dead[0])}" if dead else ""
            raise StackError(f"{error}{tail}") from None

    def _folder(self, node: int) -> Path:
        return self.data / f"node-{node + 1}"

    async def _cluster_id(self, jars: Path) -> str:
        """The cluster's id, made once for a folder."""
        path = self.data / "cluster-id"
        if path.exists():
            return path.read_text(encoding="utf-8").strip()
        self.data.mkdir(parents=True, exist_ok=True)
        made = self.data / "cluster-id.log"
        made.unlink(missing_ok=True)
        await self._tool(jars, made, "random-uuid")
        cluster = made.read_text(encoding="utf-8").split()[-1]
        path.write_text(cluster, encoding="utf-8")
        return cluster

    async def _format(self, node: int, jars: Path, cluster: str) -> None:
        folder = self._folder(node)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log4j2.properties").write_text(LOGGING, encoding="utf-8")
        properties = folder / "server.properties"
        properties.write_text(
            "".join(f"{key}={value}\n" for key, value in self._properties(node).items()), encoding="utf-8"
        )
        if not (folder / "log" / "meta.properties").exists():
            arguments = ("format", "-t", cluster, "-c", str(properties))
            await self._tool(jars, folder / "format.log", *arguments)

    async def _tool(self, jars: Path, log: Path, *arguments: str) -> None:
        argv = [java(), "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", "kafka.tools.StorageTool", *arguments]
        process = Process(f"kafka {arguments[0]}", argv, log)
        if await run(process, 60.0) != 0:
            raise StackError(f"Apache Kafka cannot prepare {self.data}:\n{process.tail()}")

    def _properties(self, node: int) -> dict[str, str]:
        """The settings that matter; Kafka's own topics have a copy on each node."""
        copies = str(self.nodes)
        voters = ",".join(f"{n + 1}@{LOOPBACK}:{port}" for n, port in enumerate(self.controllers))
        address = f"{LOOPBACK}:{self.ports[node]}"
        return {
            "process.roles": "broker,controller",
            "node.id": str(node + 1),
            "controller.quorum.voters": voters,
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{address},CONTROLLER://{LOOPBACK}:{self.controllers[node]}",
            "advertised.listeners": f"PLAINTEXT://{address}",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "log.dirs": str(self._folder(node) / "log"),
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": "4",
            "offsets.topic.replication.factor": copies,
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": "2" if self.nodes == 3 else "1",
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": "2" if self.nodes == 3 else "1",
            "group.initial.rebalance.delay.ms": "0",
            **self.settings,
        }

    def _process(self, node: int, jars: Path) -> Process:
        folder = self._folder(node)
        memory = 512 if self.nodes == 1 else 400
        argv = [java(), *(option.format(memory) for option in JVM)]
        argv += [
            f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
            "-cp",
            f"{jars}/*",
            "kafka.Kafka",
        ]
        name = "broker" if self.nodes == 1 else f"broker-{node + 1}"
        env = {key: value for key, value in os.environ.items() if not key.startswith("KAFKA_")}
        return Process(
            name, [*argv, str(folder / "server.properties")], folder / "server.log", env=env, die_by="TERM"
        )

    @property
    def alive(self) -> bool:
        """Whether every node's process runs."""
        return bool(self.processes) and all(process.alive for process in self.processes)

    @property
    def pids(self) -> dict[str, int]:
        """The process ids by name."""
        return {process.name: process.pid for process in self.processes}

    async def kill(self, node: int = 0) -> None:
        """End a node with SIGKILL and reap it."""
        await self.processes[node].kill()

    async def stop_node(self, node: int = 0, grace: float = 8.0) -> None:
        """Stop a node in order."""
        await self.processes[node].stop(grace)

    async def restart(self, node: int = 0) -> None:
        """Start a node that was killed or stopped, and wait until the cluster is whole."""
        self.processes[node].spawn()
        await self.wait_until_usable()

    async def stop(self, grace: float = 6.0) -> None:
        """Stop all nodes at once; one that waits for a majority that has gone is ended."""
        started = [process for process in self.processes if process.alive]
        await asyncio.gather(*(process.stop(grace) for process in started))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


def _why(process: Process) -> str:
    """What a node said before it ended: its errors, since the last lines are about the shutdown."""
    log = process.log if isinstance(process.log, Path) else None
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log and log.exists() else []
    errors = [line for line in lines if "] ERROR " in line or "] FATAL " in line or "Exception" in line]
    return "\n".join(errors[-10:]) or process.tail()
