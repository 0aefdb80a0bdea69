"""A child process that is never left behind: own process group, log, ordered stop, death with its parent."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from stack.errors import StackError

POLL = 0.03
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
Say = Callable[[str, str], None]  # process name, line


def print_line(name: str, line: str) -> None:
    """One line of one process, readable beside the others; a log may quote strangers, so no control characters."""
    print(f"{time.strftime('%H:%M:%S')} {name:<9}| {CONTROL.sub('?', line)}", flush=True)


# The signal is asked for by `setpriv` itself, in the child: a parent that dies between fork and that call is
# never heard of. So the shell looks, once the signal is set, whether its parent is still the one that started it.
ONLY_WITH_PARENT = 'test "$PPID" = "$0" && exec "$@"'


def with_parent(argv: Sequence[str], die_by: str, *options: str) -> list[str]:
    """The command, run so that the kernel ends it when the thread that started it is gone (Linux).

    It is `setpriv` that asks for the signal, then becomes the command: a hook between fork and exec could
    deadlock in a process that has threads.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        if options:
            raise StackError("PostgreSQL refuses to run as root: install setpriv (util-linux), or use another user.")
        return list(argv)
    asked = [setpriv, *options, "--pdeathsig", die_by]
    return [*asked, "/bin/sh", "-c", ONLY_WITH_PARENT, str(os.getpid()), *argv]


class Process:
    """One child process. `log` is a file that its output goes to, or a function that is given each line."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        log: Path | Say,
        *,
        env: Mapping[str, str] | None = None,
        die_by: str = "KILL",
        options: Sequence[str] = (),
        told: bool = False,
    ) -> None:
        self.name = name
        self.told = told
        """Whether it waits for a line on its standard input (`tell`)."""
        self.argv = with_parent(argv, die_by, *options)
        self.log = log
        self.env = env
        self.last_lines: deque[str] = deque(maxlen=20)
        self._popen: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._cleared = False

    def spawn(self) -> None:
        """Start it, in a session of its own: Ctrl-C in a terminal reaches the parent alone."""
        self._cleared = False
        env = None if self.env is None else dict(self.env)
        sink: int | IO[bytes] = subprocess.PIPE
        if isinstance(self.log, Path):
            self.log.parent.mkdir(parents=True, exist_ok=True)
            sink = self.log.open("ab")
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - a command of our own, no shell
                self.argv,
                stdin=subprocess.PIPE if self.told else subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=env,
                start_new_session=True,
            )
        except OSError as error:
            raise StackError(f"{self.name} cannot be started: {error}.") from None
        finally:
            if not isinstance(sink, int):
                sink.close()
        if self._popen.stdout is not None:
            self._reader = threading.Thread(target=self._read, args=(self._popen.stdout,), daemon=True)
            self._reader.start()

    def _read(self, stream: IO[bytes]) -> None:
        with stream:
            for raw in stream:
                line = raw.decode("utf-8", "replace").rstrip()
                self.last_lines.append(line)
                if callable(self.log):
                    self.log(self.name, line)

    @property
    def pid(self) -> int:
        """Its process id, also after it has ended."""
        if self._popen is None:
            raise StackError(f"{self.name} has not been started.")
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs; asking reaps it."""
        return None if self._popen is None else self._popen.poll()

    @property
    def alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._popen is not None and self._popen.poll() is None

    def tail(self) -> str:
        """The last lines that it wrote, for an error."""
        if isinstance(self.log, Path) and self.log.exists():
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
        if self._reader is not None:
            self._reader.join(1.0)
        return "\n".join(self.last_lines)

    async def wait(self, seconds: float) -> bool:
        """Whether it ended within this time; its process group is then cleared of what it left behind."""
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:  # noqa: ASYNC110 - waitpid has no event
            await asyncio.sleep(POLL)
        if self.alive:
            return False
        self._clear_group()
        return True

    def _clear_group(self) -> None:
        """End what it left in its group, once: later the number may be somebody else's."""
        if self._popen is not None and not self._cleared:
            self._cleared = True
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._popen.pid, signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        """A signal to the process itself; none is sent to one that has ended."""
        if self.alive and self._popen is not None:
            self._popen.send_signal(number)

    def tell(self, line: str) -> None:
        """Say the one line that it waits for. One that has ended in between hears nothing, and is seen to be dead."""
        if self._popen is not None and self._popen.stdin is not None:
            with suppress(OSError), self._popen.stdin as stdin:
                stdin.write(line.encode() + b"\n")

    async def stop(self, grace: float, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to end, and end it when it has not by then."""
        self.send(number)
        if not await self.wait(grace):
            await self.kill()

    async def kill(self) -> None:
        """End it at once and reap it: afterwards its sockets are certainly closed."""
        self.send(signal.SIGKILL)
        await self.wait(5.0)


async def run(process: Process, seconds: float) -> int:
    """Run a command to its end; it is ended when the caller is cancelled or the time is over."""
    process.spawn()
    try:
        if not await process.wait(seconds):
            raise StackError(f"{process.name} has not ended within {seconds:g} seconds.")
    finally:
        if process.alive:
            await process.kill()
    code = process.exit_code
    return -1 if code is None else code
