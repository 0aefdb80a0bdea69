"""What a request costs the worker that makes it: time, memory, and the longest hold of its event loop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from crawler.fetch.client import Fetcher
from models.web import Kind, Request, Response

TICK = 0.004


def request(url: str, **changes: object) -> Request:
    """A page request as a crawl makes it; its timeout is one that a busy machine does not reach."""
    usual: dict[str, object] = {
        "kind": Kind.PAGE,
        "url": url,
        "headers": (("User-Agent", "EmaIngestBot/1.0"), ("Accept-Encoding", "gzip, deflate")),
        "timeout": 5.0,
        "max_bytes": 2_000_000,
        "media_types": frozenset({"text/html", "application/xhtml+xml"}),
    }
    return Request(**(usual | changes))  # type: ignore[arg-type]


@dataclass
class Witness:
    """What a block costs.

    `held` is the longest CPU time between two turns of the loop, so that a busy machine is not
    blamed on us; `gap` is the same by the wall clock; `grown` is the peak of resident memory. What the test process
    held before is kept out of the collector's way: a full look at 4,000 tests' heap is 0.4 s of CPU (seen).
    """

    held: float = 0.0
    gap: float = 0.0
    grown: int = 0
    took: float = 0.0

    async def __aenter__(self) -> Self:
        gc.freeze()
        self._before = _reset_peak()
        self._started = time.monotonic()
        self._ticker = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.took = time.monotonic() - self._started
        await asyncio.sleep(TICK * 2)
        self._ticker.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._ticker
        gc.unfreeze()
        self.grown = max(0, _status("VmHWM") - self._before)

    async def _tick(self) -> None:
        wall, cpu = time.monotonic(), time.thread_time()
        while True:
            await asyncio.sleep(TICK)
            now, used = time.monotonic(), time.thread_time()
            self.gap, self.held = max(self.gap, now - wall - TICK), max(self.held, used - cpu)
            wall, cpu = now, used


def _reset_peak() -> int:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    return 0


async def measured(fetcher: Fetcher, asked: Request) -> tuple[Response, Witness]:
    """One request and its cost."""
    async with Witness() as witness:
        response = await fetcher.fetch(asked)
    return response, witness


async def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    """Wait for something that another task will see to."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the origin's log has no event to wait for
            await asyncio.sleep(0.001)
