"""Apache Kafka from the official jars: usable when ready, data outlives kill -9."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import NewTopic

from stack import jars
from stack.acls import grants
from stack.errors import StackError
from stack.kafka import Kafka
from stack.net import free_port
from stack.process import Process, run
from stack.topics_admin import admin, check

pytestmark = pytest.mark.stack
# A killed node is missed after 9 s by default; its restart has to wait for that (measured: 12 s, then 4 s).
QUICK = {"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"}
ROOT = Path(__file__).resolve().parents[2]


async def produce(bootstrap: str, topic: str, copies: int, *values: bytes) -> None:
    async with admin(bootstrap) as client:
        await client.create_topics([NewTopic(topic, 1, copies)])
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        for value in values:
            await producer.send_and_wait(topic, value)


async def consume(bootstrap: str, topic: str, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        return [(await consumer.getone()).value for _ in range(count)]


@pytest.mark.kafka
async def test_one_node_keeps_acknowledged_records_over_kill_9_and_a_new_start(tmp_path: Path) -> None:
    async with Kafka(tmp_path, settings=QUICK) as kafka:
        await produce(kafka.bootstrap, "kept", 1, b"1", b"2")
        await kafka.kill()
        assert not kafka.alive
        await kafka.restart()
        assert await consume(kafka.bootstrap, "kept", 2) == [b"1", b"2"]
    async with Kafka(tmp_path) as again:  # other ports, the same folder
        assert await consume(again.bootstrap, "kept", 2) == [b"1", b"2"]


@pytest.mark.kafka
async def test_three_nodes_go_on_when_one_is_killed(tmp_path: Path) -> None:
    async with Kafka(tmp_path, nodes=3, settings=QUICK) as kafka:
        assert len(kafka.pids) == 3
        await produce(kafka.bootstrap, "kept", 3, b"1")
        await kafka.kill(0)
        rest = kafka.bootstrap.split(",", 1)[1]
        assert await consume(rest, "kept", 1) == [b"1"]
        async with AIOKafkaProducer(bootstrap_servers=rest, acks="all") as producer:
            await producer.send_and_wait("kept", b"2")
        await kafka.restart(0)
        assert await consume(kafka.bootstrap.split(",", maxsplit=1)[0], "kept", 2) == [b"1", b"2"]
        assert {drift.what for drift in await check(kafka.bootstrap)} == {"missing"}


@pytest.mark.kafka
def test_the_command_prints_the_bootstrap_and_ctrl_c_stops_it_cleanly(tmp_path: Path) -> None:
    code = "from commands.stack import kafka; kafka()"
    argv = [sys.executable, "-c", code, "--data", str(tmp_path), "--port", str(free_port())]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("LICET_KAFKA=127.0.0.1:"):
                break
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
    assert process.returncode == 0, lines
    assert "stopped" in rest
    assert (tmp_path / "node-1" / "log" / ".kafka_cleanshutdown").exists()


@pytest.mark.kafka
async def test_a_port_in_use_is_one_sentence(kafka: Kafka, tmp_path: Path) -> None:
    with pytest.raises(StackError, match=r"in use: name another with --port\.$"):
        await Kafka(tmp_path, port=kafka.ports[0]).start()


def test_two_nodes_are_not_offered(tmp_path: Path) -> None:
    with pytest.raises(StackError, match="allowed is 1 or 3"):
        Kafka(tmp_path, nodes=2)


@pytest.mark.parametrize(
    ("java", "mvn", "words"),
    [
        (None, None, "no java was found"),
        ("11.0.2", "yes", "the java that was found is 11"),
        ("1.8.0_392", "yes", "the java that was found is 8"),
        ("17.0.15", None, "no mvn was found"),
        ("21-ea", "yes", None),
    ],
)
def test_missing_tools_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, java: str | None, mvn: str | None, words: str | None
) -> None:
    for name, text in (("java", f"""echo 'openjdk version "{java}"' >&2"""), ("mvn", "true")):
        if (java if name == "java" else mvn) is not None:
            program = tmp_path / name
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    why = jars.missing()
    assert why is None if words is None else words in (why or "")
    assert os.linesep not in (why or "")


@pytest.mark.kafka
async def test_printed_acl_lines_are_what_kafkas_own_tool_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    settings = {"authorizer.class.name": authorizer, "super.users": "User:ANONYMOUS"}
    shapes = {(grant.kind, grant.operations, grant.name[-1:] == "*"): grant for grant in grants()}
    libs = await jars.resolve()
    (tmp_path / "admin.properties").write_text("")
    async with Kafka(tmp_path / "data", settings=settings) as kafka:
        for grant in shapes.values():
            tool, *arguments = shlex.split(grant.line(kafka.bootstrap))
            assert tool == "kafka-acls.sh"
            argv = [jars.java(), "-XX:TieredStopAtLevel=1", "-cp", f"{libs}/*", "org.apache.kafka.tools.AclCommand"]
            process = Process("acls", [*argv, *arguments], lambda *_: None)
            assert await run(process, 60) == 0, (grant, process.tail())
            assert f"principal=User:{grant.principal}" in process.tail()
