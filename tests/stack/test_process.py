"""A child is never left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
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


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_a_child_dies_with_its_parent_even_by_kill_9() -> None:
    code = (
        "import time; from stack.process import Process;"
        "p=Process('x',['sleep','300'],lambda *_: None); p.spawn(); print(p.pid,flush=True); time.sleep(300)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert not gone(child)
    parent.kill()
    parent.wait()
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
