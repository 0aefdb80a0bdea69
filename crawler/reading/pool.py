"""A few child processes that parse, each killed and replaced when a document is too much for it.

Our own, because a pool for this must do three things at once: serve an event loop without threads, keep a
limit per job, and read back nothing but plain values from a process that a stranger's bytes may have taken.
(pebble 5.2 has timeouts, but none of the three; a job costs the worker 0.19 ms of CPU there, 0.07 ms here.)
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from crawler.reading.answers import from_bytes
from crawler.reading.child import DONE, LIMIT, READY, SIZE, STAYS

Result = TypeVar("Result")

START = 30.0  # seconds for a child to import what it needs
ANSWER_LIMIT = 32 * 1024 * 1024  # bytes of one answer


class ParseLimit(Exception):
    """A job hit the memory, CPU or wall limit, or broke its process; the child is gone."""


class ReadingFailed(Exception):
    """The job raised an exception in the child."""


class Readers:
    """`size` children; `run` is a coroutine, and the event loop is never blocked by a document.

    Make it and call `run` in the main thread: children end with the thread that started them.
    """

    def __init__(
        self,
        size: int,
        memory_bytes: int = 512 * 1024 * 1024,
        cpu_seconds: int = 5,
        preload: Sequence[str] = (),
    ) -> None:
        self._settings = [str(memory_bytes), str(cpu_seconds), *preload]
        self._wall = cpu_seconds * 3.0
        self._closed = False
        self._free: asyncio.Queue[_Child] = asyncio.Queue()
        self._children = {_Child(self._settings) for _ in range(size)}
        for child in self._children:
            self._free.put_nowait(child)

    async def run(self, func: Callable[..., Result], *args: Any, deadline: float | None = None) -> Result:
        """`func(*args)` in a child; `func` is a function of a module and declares what it answers.

        Raises ParseLimit at a breach of memory, CPU or `deadline` (seconds, from the moment a child is free;
        three times the CPU limit when not given), and ReadingFailed for an exception of `func`.
        """
        job = pickle.dumps((func.__module__, func.__qualname__, args), protocol=5)
        child = await self._free.get()
        try:
            answer = await child.ask(job, self._wall if deadline is None else deadline)
            try:
                result: Result = from_bytes(func, answer)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with it
                child.usable = False  # one that answers so is no longer ours
                raise ParseLimit(f"the answer is no value: {error}"[:200]) from None
        finally:
            self._free.put_nowait(child if child.usable else self._replace(child))
        return result

    async def close(self) -> None:
        """End all children; a job that is under way ends in ParseLimit."""
        self._closed = True
        for child in self._children:
            child.kill()
        await asyncio.gather(*(child.gone() for child in self._children))
        while not self._free.empty():
            self._free.get_nowait().release()

    def _replace(self, child: _Child) -> _Child:
        child.release()
        self._children = {one for one in self._children if not one.reaped}  # the dead wait to be reaped
        if not self._closed:
            with contextlib.suppress(OSError):  # no process to be had now: the next job tries again
                child = _Child(self._settings)
                self._children.add(child)
        return child


class _Child:
    """One process and our end of its line."""

    def __init__(self, settings: Sequence[str]) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        self._line, self._started, self.usable = ours, False, True
        fd = theirs.fileno()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                [sys.executable, "-m", "crawler.reading.child", str(fd), *settings],
                pass_fds=[fd],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )

    @property
    def reaped(self) -> bool:
        """The process has ended and its status has been read."""
        return self._process.poll() is not None

    async def ask(self, job: bytes, deadline: float) -> bytes:
        """One job and its answer. `usable` is False afterwards unless the child is ready for the next."""
        if not self.usable:
            raise RuntimeError("no process for a reading child")
        self.usable = False
        await self._start()
        kind, stays, body = await self._exchange(job, deadline)
        if kind == LIMIT:
            raise ParseLimit(body.decode())
        self.usable = stays
        if kind != DONE:
            raise ReadingFailed(body.decode("utf-8", "replace"))
        return body

    def kill(self) -> None:
        """End the process now; a read that is waiting sees the end of the line."""
        self.usable = False
        if not self.reaped:
            self._process.kill()

    def release(self) -> None:
        """End the process and give its line back; nothing may be reading from it."""
        self.kill()
        self._line.close()

    async def gone(self) -> int:
        """Wait until the process has ended; its exit code. The kernel needs some time to free 512 MB."""
        while not self.reaped:  # noqa: ASYNC110 - a child watcher would claim SIGCHLD from the worker
            await asyncio.sleep(0.005)
        return self._process.returncode

    async def _start(self) -> None:
        if self._started:
            return
        try:
            async with asyncio.timeout(START):
                kind, _, body = await self._read()
        except (TimeoutError, ConnectionError) as error:
            raise RuntimeError("a reading child does not start") from error
        if kind != READY:
            raise RuntimeError(f"a reading child does not start: {body.decode('utf-8', 'replace')}")
        self._started = True

    async def _exchange(self, job: bytes, deadline: float) -> tuple[bytes, bool, bytes]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(deadline):
                await loop.sock_sendall(self._line, SIZE.pack(len(job)))
                await loop.sock_sendall(self._line, job)
                return await self._read()
        except TimeoutError:
            raise ParseLimit("time") from None
        except ConnectionError:
            code = await self.gone()
            raise ParseLimit("cpu" if code == -signal.SIGXCPU else f"the child ended with {code}") from None

    async def _read(self) -> tuple[bytes, bool, bytes]:
        loop, data = asyncio.get_running_loop(), bytearray()
        wanted = SIZE.size
        while len(data) < wanted:
            piece = await loop.sock_recv(self._line, 1 << 18)
            if not piece:
                raise ConnectionResetError
            data += piece
            if wanted == SIZE.size and len(data) >= SIZE.size:
                wanted += SIZE.unpack_from(data)[0]
                if wanted > ANSWER_LIMIT:
                    self.kill()
                    raise ConnectionResetError
        kind, stays = data[SIZE.size : SIZE.size + 1], data[SIZE.size + 1 : SIZE.size + 2]
        return bytes(kind), stays == STAYS, bytes(data[SIZE.size + 2 :])


def _environment() -> dict[str, str]:
    """What a child may know: where Python's modules are. No password of ours is in its environment."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "MALLOC_ARENA_MAX": "1", "LANG": "C.UTF-8"}
