"""`/live`, `/ready` and `/metrics` of one process, on an address of our own.

`/ready` says whether work is being done now. `/live` fails only when a new process would help, which a
supervisor then starts.

Faust's own web server is never started: it binds 0.0.0.0 and serves the tables (measured). This one runs in
the process's event loop on purpose: when the loop is stuck, `/live` is silent and a supervisor sees it (F10).
"""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest

from stack.errors import StackError


class Health:
    """What the process says of itself. Not ready until somebody says so (F11)."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0, registry: CollectorRegistry = REGISTRY) -> None:
        self.host = host
        self.port = port
        """The port that is listened on; with 0, known after `start`."""
        self.ready = False
        self.reason = "starting"
        self.unready: Callable[[], str] = str
        """A reason not to be ready that is looked up when it is asked for; empty when there is none."""
        self.deaf: Callable[[], str] = str
        """Why only a new process would help; empty when none is needed (F11)."""
        self._registry = registry
        self._runner: web.AppRunner | None = None

    def set_ready(self, ready: bool, reason: str = "") -> None:
        """Say whether work is being done, and if not why."""
        self.ready, self.reason = ready, reason

    async def start(self) -> None:
        """Listen. A second call does nothing."""
        if self._runner is not None:
            return
        app = web.Application()
        app.add_routes(
            [web.get("/live", self._live), web.get("/ready", self._ready), web.get("/metrics", self._metrics)]
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError:
            await self.stop()
            raise StackError(
                f"/metrics cannot listen on {self.host}:{self.port}: another process does, or this machine has no"
                " such address. Each process needs a port of its own, in LICET_METRICS_PORT."
            ) from None
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop listening. Harmless when not started."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _live(self, _request: web.Request) -> web.Response:
        reason = self.deaf()
        return web.json_response({"live": not reason, "reason": reason}, status=503 if reason else 200)

    async def _ready(self, _request: web.Request) -> web.Response:
        reason = self.unready() if self.ready else self.reason
        ready = self.ready and not reason
        return web.json_response({"ready": ready, "reason": reason}, status=200 if ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        # the header as a whole: aiohttp refuses a content_type that carries a charset and a version
        headers = {"Content-Type": CONTENT_TYPE_LATEST}
        return web.Response(body=generate_latest(self._registry), headers=headers)
