"""An event loop in virtual time, and processes on it that can be frozen and killed at any moment.

Nothing waits: when no callback is ready, the clock jumps to the next timer. Every callback runs in the context of the
process that made it, so the loop can withhold what belongs to a process that stands still (SIGSTOP: it all runs when
the process wakes, late) or that is no more (SIGKILL: it never runs). What a process had handed to the network before
belongs to nobody and goes on.
"""

from __future__ import annotations

import asyncio
import contextvars
import heapq
from collections.abc import Callable
from typing import Any

WALL = 1_800_000_000.0
"""The wall clock when the virtual clock is at 0."""
_process: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


class Process:
    """Something that runs, stands still, or is gone."""

    def __init__(self, loop: VirtualLoop, name: str) -> None:
        self.loop = loop
        self.name = name
        self.state = "running"
        self.skew = 0.0
        """Seconds by which its wall clock is wrong."""
        self.parked: list[asyncio.Handle] = []
        self.on_death: list[Callable[[], None]] = []
        self.tasks: list[asyncio.Task[Any]] = []
        self.context = contextvars.copy_context()
        self.context.run(_process.set, self)

    def freeze(self) -> None:
        """SIGSTOP."""
        if self.state == "running":
            self.state = "frozen"

    def thaw(self) -> None:
        """SIGCONT: everything that became due meanwhile runs now, in its order."""
        if self.state == "frozen":
            self.state = "running"
            self.loop.release(self.parked)
            self.parked = []

    def kill(self) -> None:
        """SIGKILL: nothing of it runs again; its connections close."""
        if self.state != "dead":
            self.state = "dead"
            self.parked = []
            for closed in self.on_death:
                closed()

    def call(self, function: Callable[..., Any], *args: Any) -> None:
        """Something from outside (a packet) reaches the process."""
        self.loop.call_soon(function, *args, context=self.context)

    def start(self, main: Callable[[], Any]) -> None:
        """Begin its main task."""
        self.call(lambda: self.tasks.append(self.loop.create_task(main())))


class VirtualLoop(asyncio.BaseEventLoop):
    """asyncio's loop without sockets, its clock in our hands."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.steps = 0
        """Callbacks that ran."""
        self.errors: list[dict[str, Any]] = []
        self.set_exception_handler(lambda _loop, found: self.errors.append(found))
        self.set_task_factory(_quiet)  # a killed process leaves pending tasks behind: that is the point

    def time(self) -> float:
        """Virtual seconds."""
        return self.now

    def _check_closed(self) -> None:
        """Killed processes are swept up late, and may say so to a loop that nobody runs any more."""

    def _asyncgen_finalizer_hook(self, agen: Any) -> None:
        """A killed process closes nothing."""

    def __del__(self, _warn: Any = None) -> None:
        """Nothing to close."""

    def release(self, handles: list[asyncio.Handle]) -> None:
        """Run these callbacks now."""
        self._ready.extend(handles)

    def run(self, seconds: float) -> None:
        """Let so much time pass."""
        end = self.now + seconds
        asyncio.set_event_loop(self)
        self.call_at(end, self.stop, context=contextvars.Context())
        self.run_forever()
        self.now = max(self.now, end)

    def _run_once(self) -> None:
        scheduled, ready = self._scheduled, self._ready
        while not ready:
            if not scheduled:
                raise RuntimeError("nothing will ever happen again")
            timer = heapq.heappop(scheduled)
            timer._scheduled = False
            if not timer._cancelled:
                self.now = max(self.now, timer._when)
                ready.append(timer)
        while scheduled and scheduled[0]._when <= self.now:
            timer = heapq.heappop(scheduled)
            timer._scheduled = False
            ready.append(timer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                self._run_in_process(handle)

    def _run_in_process(self, handle: asyncio.Handle) -> None:
        process = handle._context.get(_process)
        if process is None or process.state == "running":
            self.steps += 1
            handle._run()
        elif process.state == "frozen":
            process.parked.append(handle)


def _quiet(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
    task = asyncio.Task(coroutine, loop=loop, **options)
    task._log_destroy_pending = False
    return task


class Clock:
    """What production code imports as `time`; wall clocks may be wrong, the monotonic one is the machine's."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def monotonic(self) -> float:
        """Seconds since the beginning."""
        return self._loop.now

    def time(self) -> float:
        """Seconds since the epoch, as the running process believes."""
        process = _process.get()
        return WALL + self._loop.now + (process.skew if process else 0.0)


def current() -> Process | None:
    """The process whose callback runs."""
    return _process.get()
