"""A child is never left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from stack.errors import StackError
from stack.process import Process, print_line, run
from tests.conftest import complete, until

LEAVES_A_CHILD = (
    "import subprocess,time; p=subprocess.Popen(['sleep','300']); print(p.pid,flush=True); time.sleep(300)"
)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


async def first_line(process: Process) -> str:
    await until(lambda: bool(process.last_lines))
    return process.last_lines[0]


async def test_what_a_killed_process_left_in_its_group_is_ended_too() -> None:
    process = Process("x", [sys.executable, "-c", LEAVES_A_CHILD], lambda *_: None)
    process.spawn()
    grandchild = int(await first_line(process))
    await process.kill()
    assert process.exit_code == -signal.SIGKILL
    await until(lambda: gone(grandchild))


async def test_a_process_that_ignores_sigterm_is_ended_after_its_grace() -> None:
    code = "import signal,time; signal.signal(15,signal.SIG_IGN); print(1,flush=True); time.sleep(300)"
    process = Process("x", [sys.executable, "-c", code], lambda *_: None)
    process.spawn()
    await first_line(process)
    await process.stop(0.2)
    assert process.exit_code == -signal.SIGKILL


STARTS_A_CHILD = (
    "import time; from stack.process import Process;"
    "p=Process('x',['sleep','300'],lambda *_: None); p.spawn(); print(p.pid,flush=True); time.sleep(300)"
)
linux = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")


def child_of_a_killed_parent(path: str, ready: Callable[[int], bool]) -> int:
    """A process started by a parent that is killed by signal 9 as soon as the child is `ready`."""
    parent = subprocess.Popen(
        [sys.executable, "-c", STARTS_A_CHILD], stdout=subprocess.PIPE, text=True, env={**os.environ, "PATH": path}
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    complete(until(lambda: ready(child)))
    assert not gone(child)
    parent.kill()
    parent.wait()
    return child


@linux
def test_a_child_dies_with_its_parent_even_by_kill_9() -> None:
    child = child_of_a_killed_parent(os.environ["PATH"], lambda pid: psutil.Process(pid).name() == "sleep")
    complete(until(lambda: gone(child)))


@linux
def test_a_child_whose_parent_dies_before_it_could_ask_for_the_signal_does_not_begin(tmp_path: Path) -> None:
    real = shutil.which("setpriv")
    slow = tmp_path / "setpriv"
    go = tmp_path / "go"
    slow.write_text(f'#!/bin/sh\nwhile ! test -e {go}; do sleep 0.02; done\nexec {real} "$@"\n')
    slow.chmod(0o755)
    child = child_of_a_killed_parent(f"{tmp_path}:{os.environ['PATH']}", lambda _: True)
    assert not gone(child)
    go.touch()
    complete(until(lambda: gone(child)))


def test_lines_of_a_process_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_line("worker-1", "title \x1b[2J of\ra page\n10:00:00 sink | forged")
    assert capsys.readouterr().out.endswith("worker-1 | title ?[2J of?a page?10:00:00 sink | forged\n")


async def test_a_command_that_takes_too_long_is_ended_and_said_so() -> None:
    process = Process("slow", ["sleep", "300"], lambda *_: None)
    with pytest.raises(StackError, match=r"slow has not ended within 0\.1 seconds"):
        await run(process, 0.1)
    assert not process.alive


async def test_output_goes_to_the_log_and_its_tail_into_errors(tmp_path: Path) -> None:
    process = Process("x", [sys.executable, "-c", "print('first'); raise SystemExit(7)"], tmp_path / "x.log")
    assert await run(process, 10) == 7
    assert process.tail() == "first"


async def test_a_command_that_is_not_there_is_one_sentence() -> None:
    process = Process("x", ["/nowhere/at-all"], lambda *_: None)
    try:
        code = await run(process, 5)
    except StackError as error:
        assert "cannot be started" in str(error)
    else:
        assert code == 127
