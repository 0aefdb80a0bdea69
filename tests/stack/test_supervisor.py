"""`licet up`: everything starts in order, what dies is started again, Ctrl-C ends all of it within 10 s."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import psycopg2
import pytest

from models.settings import load
from stack.errors import StackError
from stack.folder import AlreadyRunning, Folder
from stack.kafka import Kafka
from stack.postgres import Postgres
from stack.supervisor import Supervisor
from stack.tansu import Tansu
from stack.topics_admin import check
from tests.conftest import until

pytestmark = pytest.mark.stack
ROOT = Path(__file__).resolve().parents[2]
WORKER = (sys.executable, str(Path(__file__).with_name("worker.py")))
MIGRATE = (sys.executable, "-c", "print('schema is up to date')")


class Lines(list[tuple[str, str]]):
    """What a stack said."""

    def add(self, name: str, line: str) -> None:
        self.append((name, line))

    def of(self, name: str) -> str:
        return "\n".join(line for who, line in self if who == name)

    def told(self, name: str) -> dict[str, str]:
        """The environment that a worker was last started with."""
        hits = [line for who, line in self if who == name and line.startswith("told ")]
        return json.loads(hits[-1].removeprefix("told "))


def stack(data: Path, lines: Lines, **given: object) -> Supervisor:
    environ = {key: value for key, value in os.environ.items() if not key.startswith("LICET_")}
    environ["TEST_WORKER"] = str(given.pop("mode", ""))
    parts: dict[str, object] = {
        "worker_command": WORKER,
        "sink_command": WORKER,
        "migrate_command": MIGRATE,
        "environ": environ,
        "say": lines.add,
        "patience": 20.0,
    }
    return Supervisor(data, **{**parts, **given})


async def test_embedded_stack_is_ready_known_to_other_commands_and_leaves_nothing(tmp_path: Path) -> None:
    lines = Lines()
    async with stack(tmp_path, lines, workers=2) as running:
        found = load(environ={"LICET_DATA": str(tmp_path)})
        assert (found.kafka, found.embedded) == ((running.tansu.bootstrap,), True)
        assert len(found.token_key()) >= 32
        psycopg2.connect(found.require_database().replace("+psycopg2", "")).close()
        assert await check(found.require_kafka()) == []
        described = json.loads((tmp_path / "stack.json").read_text())
        assert set(described["pids"]) == {"broker", "database", "worker-1", "worker-2", "sink"}
        assert set(described["ports"]) == {"worker-1", "worker-2", "sink"}
        pids = list(described["pids"].values())
        assert all(psutil.pid_exists(pid) for pid in pids)
        began = time.monotonic()
    assert time.monotonic() - began < 10
    assert not any(psutil.pid_exists(pid) for pid in pids)
    assert not (tmp_path / "stack.json").exists()
    assert "left in order" in lines.of("worker-1")
    assert "ready after" in lines.of("licet")
    assert "keeps nothing" not in lines.of("licet")  # a fresh folder starts without nothing


async def test_workers_are_told_the_broker_and_a_name_and_only_the_sink_the_database(tmp_path: Path) -> None:
    lines = Lines()
    async with stack(tmp_path, lines) as running:
        await until(lambda: "told " in lines.of("worker-1") and "told " in lines.of("sink"))
        worker, sink = lines.told("worker-1"), lines.told("sink")
        assert worker["LICET_KAFKA"] == running.tansu.bootstrap
        assert (worker["LICET_BROKER_KIND"], worker["LICET_WORKER_NAME"]) == ("tansu", "worker-1")
        assert "LICET_DATABASE_URL" not in worker
        assert sink["LICET_DATABASE_URL"] == running.postgres.url()
        assert load(environ=worker).session_timeout == 6  # every variable is one that settings know
        assert load(environ=sink).worker_name == "sink"


async def test_second_stack_on_the_folder_says_so_and_leaves_the_first_alone(tmp_path: Path) -> None:
    lines = Lines()
    async with stack(tmp_path, lines, sink_command=()) as first:
        with pytest.raises(AlreadyRunning, match=rf"already running on .* \(process {os.getpid()}\)"):
            await stack(tmp_path, Lines()).start()
        assert first.process("worker-1").alive
        assert load(environ={"LICET_DATA": str(tmp_path)}).kafka is not None


async def test_second_start_says_what_it_starts_without(tmp_path: Path) -> None:
    async with stack(tmp_path, Lines(), worker_command=(), sink_command=()) as first:
        with first.postgres.connect().cursor() as cursor:
            cursor.execute("CREATE TABLE crawls (id int); INSERT INTO crawls VALUES (1), (2)")
    lines = Lines()
    async with stack(tmp_path, lines, worker_command=(), sink_command=()):
        said = lines.of("licet")
    assert "the embedded broker keeps nothing over a restart" in said
    assert "no request is made until `licet restore` has run" in said  # its database is not at this version
    assert "PostgreSQL still has: crawls 2." in said


async def test_a_killed_worker_and_a_killed_database_are_started_again(tmp_path: Path) -> None:
    lines = Lines()
    async with stack(tmp_path, lines, sink_command=()) as running:
        worker, database = running.process("worker-1"), running.postgres
        before = worker.pid
        worker.send(signal.SIGKILL)
        await until(lambda: "worker-1 is ready again" in lines.of("licet"))
        assert "worker-1 ended by signal 9" in lines.of("licet")
        assert worker.pid != before
        assert json.loads((tmp_path / "stack.json").read_text())["pids"]["worker-1"] == worker.pid
        database.process.send(signal.SIGKILL)
        await until(lambda: "the database is back" in lines.of("licet"), 20)
        await asyncio.to_thread(lambda: database.connect().close())


async def test_a_worker_that_is_always_broken_ends_the_start(tmp_path: Path) -> None:
    lines = Lines()
    broken = stack(tmp_path, lines, mode="broken", sink_command=())
    with pytest.raises(StackError, match=r"worker-1 ended 3 times before it was ready \(exit code 2\)"):
        await broken.start()
    assert "Configuration: something is wrong." in lines.of("worker-1")
    Folder(tmp_path).lock()  # everything was given back


async def test_a_failing_migration_ends_the_start(tmp_path: Path) -> None:
    failing = stack(tmp_path, Lines(), migrate_command=(sys.executable, "-c", "raise SystemExit(4)"))
    with pytest.raises(StackError, match=r"could not be brought up to date \(exit code 4\)"):
        await failing.start()
    assert not failing.postgres.alive


async def test_an_embedded_broker_that_dies_ends_the_stack_with_a_sentence(tmp_path: Path) -> None:
    async with stack(tmp_path, Lines(), worker_command=(), sink_command=()) as running:
        running.process("broker").send(signal.SIGKILL)
        with pytest.raises(StackError, match="embedded broker has ended"):
            await asyncio.wait_for(running.wait(), 5)


async def test_deaf_workers_are_ended_and_all_of_it_within_10_seconds(tmp_path: Path) -> None:
    running = stack(tmp_path, Lines(), mode="deaf", workers=2)
    await running.start()
    began = time.monotonic()
    await running.stop()
    assert time.monotonic() - began < 10
    assert not any(child.process.alive for child in running.children)


async def test_somebodys_own_servers_are_used_and_left_running(
    tmp_path: Path, broker: Kafka | Tansu, postgres: Postgres, database: str
) -> None:
    lines = Lines()
    environ = {
        "LICET_KAFKA": broker.bootstrap,
        "LICET_BROKER_KIND": broker.kind,
        "LICET_DATABASE_URL": database,
    }
    async with stack(tmp_path, lines, settings=load(environ=environ)) as running:
        assert running.tansu is None
        assert running.postgres is None
        await until(lambda: "told " in lines.of("sink"))
        assert lines.told("worker-1")["LICET_KAFKA"] == broker.bootstrap
        assert lines.told("sink")["LICET_DATABASE_URL"] == database
    assert broker.alive
    assert postgres.alive
    assert "keeps nothing" not in lines.of("licet")


UP = """
import sys
from pathlib import Path
import commands.stack as c
from stack.supervisor import Supervisor
worker, migrate = ({worker!r}, {migrate!r})
def mine(data, **kwargs):
    return Supervisor(data, worker_command=worker, sink_command=worker, migrate_command=migrate, **kwargs)
c.Supervisor = mine
c.up()
"""


def up(data: Path) -> subprocess.Popen[str]:
    """The real command with the test's worker in place of the real one."""
    code = UP.format(worker=WORKER, migrate=MIGRATE)
    argv = [sys.executable, "-c", code, "--data", str(data)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)


def until_said(process: subprocess.Popen[str], words: str) -> list[str]:
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError("".join(lines))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_up_stops_cleanly_and_a_second_one_exits_with_3(tmp_path: Path, number: signal.Signals) -> None:
    with up(tmp_path) as first:
        lines = until_said(first, "ready after")
        assert any("worker-1 | told" in line for line in lines)
        with up(tmp_path) as second:
            said = second.stdout.read()
            assert said.startswith("Error: A stack is already running on ")
            assert said.count("\n") == 1
        assert second.returncode == 3
        assert first.poll() is None
        pids = json.loads((tmp_path / "stack.json").read_text())["pids"].values()
        began = time.monotonic()
        first.send_signal(number)
        rest = first.stdout.read()
        assert first.wait(10) == 0
        assert time.monotonic() - began < 10
    assert "stopped" in rest
    assert "Traceback" not in rest
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_ctrl_c_in_the_middle_of_the_start_leaves_nothing(tmp_path: Path) -> None:
    with up(tmp_path) as process:
        until_said(process, "database (embedded)")
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(10) == 0
    assert "Traceback" not in rest
    assert not psutil.wait_procs(children, timeout=2)[1]


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
async def test_kill_9_of_the_supervisor_leaves_nothing_running_and_the_folder_usable(tmp_path: Path) -> None:
    with up(tmp_path) as first:
        await asyncio.to_thread(until_said, first, "ready after")
        pids = list(json.loads((tmp_path / "stack.json").read_text())["pids"].values())
        first.kill()
        await until(lambda: not any(psutil.pid_exists(pid) for pid in pids))
    assert load(environ={"LICET_DATA": str(tmp_path)}).kafka is None  # its stack.json is still there
    async with stack(tmp_path, Lines(), worker_command=(), sink_command=()) as again:
        assert again.postgres.alive
