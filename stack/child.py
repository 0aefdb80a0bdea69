"""A worker or the sink under supervision: ready or not, and when it is started again after it has died."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import aiohttp

from stack.errors import StackError
from stack.net import LOOPBACK
from stack.process import Process, Say

FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
CALM = 60.0  # seconds alive after which earlier deaths are forgotten
TRIES = 3  # deaths before it has ever been ready, after which the start is given up


class Child:
    """One supervised process. `step` is called often and never waits long."""

    def __init__(self, name: str, argv: Sequence[str], env: Mapping[str, str], port: int, say: Say) -> None:
        self.name = name
        self.port = port
        self.say = say
        self.process = Process(name, argv, say, env=env)
        self.ready = False
        self.ever_ready = False
        self.deaths = 0
        self._started = 0.0
        self._again_at: float | None = None

    def spawn(self) -> None:
        """Start it, or start it again under the same name."""
        self._again_at = None
        self._started = time.monotonic()
        self.process.spawn()

    async def step(self) -> bool:
        """Notice a death, start again when it is time, ask for readiness; whether it was started again."""
        if self.process.alive:
            if not self.ready:
                await self._ask()
            return False
        if self._again_at is None:
            await self._died()
        elif time.monotonic() >= self._again_at:
            self.spawn()
            return True
        return False

    async def _died(self) -> None:
        await self.process.wait(0)  # also clears what it left in its process group
        alive = time.monotonic() - self._started
        self.deaths = 1 if alive > CALM else self.deaths + 1
        self.ready = False
        code = self.process.exit_code
        if not self.ever_ready and self.deaths >= TRIES:
            raise StackError(f"{self.name} ended {TRIES} times before it was ready (exit code {code}).")
        wait = min(FIRST_WAIT * 2 ** (self.deaths - 1), LONGEST_WAIT)
        self._again_at = time.monotonic() + wait
        self.say("licet", f"{self.name} ended {_how(code)} after {alive:.1f} s; it is started again in {wait:g} s")

    async def _ask(self) -> None:
        """GET /ready on its metrics port; 200 means ready."""
        timeout = aiohttp.ClientTimeout(total=2)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=False) as session,
                session.get(f"http://{LOOPBACK}:{self.port}/ready") as response,
            ):
                self.ready = response.status == 200
        except (aiohttp.ClientError, TimeoutError, OSError):
            return
        if self.ready and self.ever_ready:
            self.say("licet", f"{self.name} is ready again")
        self.ever_ready = self.ever_ready or self.ready


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
