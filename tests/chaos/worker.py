"""The production worker, for chaos runs: it tells what it remembers (SIGUSR1), gets stuck (SIGUSR2) or deaf (SIGHUP)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from agents.health import Health
from agents.run import run_service
from agents.start import policy_of, stand_by
from demo.worker import network_from
from models.settings import Settings, load
from tests.house.telling_worker import TellingWorker


def stuck() -> None:
    """The event loop stands still for good, as in a read that nobody answers (F10)."""
    there, _here = os.pipe()
    os.read(there, 1)


def deaf(worker: TellingWorker) -> None:
    """Out of the group, and never back in it: what an error in a join has left Faust in (F11)."""
    thread = worker.app.consumer._thread

    async def leave() -> None:
        coordinator = thread._consumer._coordinator
        coordinator._coordination_task.cancel()
        await coordinator._stop_heartbeat_task()
        await coordinator._maybe_leave_group()

    asyncio.run_coroutine_threadsafe(leave(), thread.thread_loop)


def main() -> int:
    """Run until SIGTERM."""
    stand_by()
    settings: Settings = load()
    health = Health(settings.metrics_host, settings.metrics_port)
    network = Path(sys.argv[1])

    def make() -> TellingWorker:
        worker = TellingWorker(settings, policy_of(settings), network_from(network), health)
        worker.tell_to(network.parent / f"{settings.worker_name}.memory")
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR2, stuck)
        loop.add_signal_handler(signal.SIGHUP, lambda: deaf(worker))
        return worker

    return run_service(make, health, settings)


if __name__ == "__main__":
    sys.exit(main())
