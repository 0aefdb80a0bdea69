"""A worker or the sink under supervision: ready or not, alive or not, and started again when it is neither.

A process that has ended is started again. One whose event loop is stuck (`/live` is silent), or that says itself that
only a new process would help (`/live` is 503), is ended first: SIGKILL and waitpid, so its death is certain, and
whoever takes its sites over is told so.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import aiohttp

from models.lives import NAME_TAKEN, SPARE, new_life
from stack.errors import StackError
from stack.net import LOOPBACK
from stack.process import Process, Say

FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0
CALM = 20.0  # seconds alive after which earlier deaths are forgotten: it works, and somebody else kills it
TRIES = 3  # deaths before it has ever been ready, after which the start is given up
LOOK = 0.5  # seconds between questions
MUTE = 60.0  # seconds in which a new process must have said something

Gone = Callable[[str, str], Awaitable[None]]


async def _nobody_is_told(_name: str, _life: str) -> None:
    return


class Child:
    """One supervised process. `step` is called often and never waits long.

    `silence` is how long `/live` may be silent: less than a session, so that a frozen worker is dead before its
    sites are somebody else's. `gone` is told the name and the life of each process that was reaped.
    """

    def __init__(
        self,
        name: str,
        argv: Sequence[str],
        env: Mapping[str, str],
        port: int,
        say: Say,
        *,
        silence: float = 10.0,
        gone: Gone = _nobody_is_told,
    ) -> None:
        self.name = name
        self.port = port
        self.say = say
        self.env = dict(env)
        self._argv = tuple(argv)
        self.process = Process(name, argv, say, env=self.env)
        self.with_spare = False
        """Whether a second process stands by, all imported and nothing begun (`agents.start.stand_by`): imports are
        most of a restart, and on a busy machine took longer than a session (measured)."""
        self._spare: Process | None = None
        self.ready = False
        self.ever_ready = False
        self.deaths = 0
        self.silence = silence
        self.watched = True
        """Whether silence is death: a test that freezes a process on purpose turns it off."""
        self.gone = gone
        self.life = ""
        self._started = 0.0
        self.heard: float | None = None
        self._complaint = ""
        self._again_at: float | None = None
        self._asking: asyncio.Task[None] | None = None

    def spawn(self) -> None:
        """Start it, or start it again under the same name, as a new life."""
        self._again_at = self.heard = None
        self._complaint = ""
        self._started = time.monotonic()
        self.life = new_life()
        born = {"LICET_WORKER_LIFE": self.life}
        spare, self._spare = self._spare, None
        if spare is not None and spare.alive:
            self.process = spare
            spare.tell(json.dumps(born))
            return
        if self.process.told:  # the one before was a spare
            self.process = Process(self.name, self._argv, self.say)
        self.process.env = self.env | born
        self.process.spawn()

    def _stand_by(self) -> None:
        """Start the next spare, when there is time for it: the child is at work."""
        if self.with_spare and self.ready and self._spare is None:
            self._spare = Process(self.name, self._argv, self.say, env=self.env | {SPARE: "1"}, told=True)
            self._spare.spawn()

    async def stop(self, grace: float) -> None:
        """End the child in order, and its spare at once."""
        self.with_spare, spare = False, self._spare
        if spare is not None:
            await spare.kill()
        await self.process.stop(grace)

    async def step(self) -> bool:
        """Notice a death, start again when it is time, ask how it is; whether it was started again."""
        if self.process.alive:
            if self._asking is None or self._asking.done():
                self._asking = asyncio.create_task(self._ask())
            if why := self._lost():
                self.say("licet", f"{self.name} is ended: {why}")
                await self.process.kill()
            self._stand_by()
            return False
        if self._again_at is None:
            return await self._died()
        if time.monotonic() >= self._again_at:
            self.spawn()
            return True
        return False

    def _lost(self) -> str:
        """Why nothing but a new process would help; empty when it may live."""
        now = time.monotonic()
        if not self.watched:
            self.heard, self._complaint = None if self.heard is None else now, ""
            return ""
        if self._complaint:
            return self._complaint
        if self.heard is None:
            return "it has said nothing since it was started" if now - self._started > MUTE else ""
        silent = now - self.heard
        return f"it has been silent for {silent:.0f} s" if silent > self.silence else ""

    async def _died(self) -> bool:
        """Say so, and start it again when that is due at once; whether it was."""
        await self.process.wait(0)  # also clears what it left in its process group
        alive = time.monotonic() - self._started
        self.deaths = 1 if alive > CALM else self.deaths + 1
        self.ready = False
        code = self.process.exit_code
        if code == NAME_TAKEN:
            raise StackError(
                f"{self.name} is the name of another process too, on the same broker: one must be renamed."
            )
        if not self.ever_ready and self.deaths >= TRIES:
            raise StackError(f"{self.name} ended {TRIES} times before it was ready (exit code {code}).")
        wait = 0.0 if self.deaths == 1 else min(FIRST_WAIT * 2 ** (self.deaths - 2), LONGEST_WAIT)
        self._again_at = time.monotonic() + wait
        self.say("licet", f"{self.name} ended {_how(code)} after {alive:.1f} s; it is started again in {wait:g} s")
        await self.gone(self.name, self.life)
        if not wait:
            self.spawn()
        return not wait

    async def _ask(self) -> None:
        """GET /live and, until it is ready, /ready on its metrics port."""
        started = self._started
        with suppress(aiohttp.ClientError, TimeoutError, OSError):
            timeout = aiohttp.ClientTimeout(total=2)
            async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
                status, said = await self._get(session, "live")
                if started != self._started:
                    return  # the answer of the process before
                self.heard = time.monotonic()
                self._complaint = f"it says that it is {said}" if status == 503 else ""
                self._is_ready((await self._get(session, "ready"))[0] == 200)
        await asyncio.sleep(LOOK if self.ready else 0.1)

    async def _get(self, session: aiohttp.ClientSession, path: str) -> tuple[int, str]:
        async with session.get(f"http://{LOOPBACK}:{self.port}/{path}") as response:
            if response.content_type != "application/json":
                return response.status, ""
            return response.status, str((await response.json()).get("reason", ""))

    def _is_ready(self, ready: bool) -> None:
        if ready and not self.ready and self.ever_ready:
            self.say("licet", f"{self.name} is ready again")
        self.ready = ready
        self.ever_ready = self.ever_ready or ready


def _how(code: int | None) -> str:
    return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
