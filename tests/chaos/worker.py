"""The production worker, for chaos runs: it tells what it remembers (SIGUSR1) or gets stuck (SIGUSR2)."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

from agents.health import Health
from agents.run import run_service
from app import policy_of
from demo.worker import network_from
from models.settings import Settings, load
from tests.house.telling_worker import TellingWorker

STUCK = 60.0


def stuck() -> None:
    """The event loop stands still, as after a loop that forgot to await (F10)."""
    time.sleep(STUCK)


def main() -> int:
    """Run until SIGTERM."""
    settings: Settings = load()
    health = Health(settings.metrics_host, settings.metrics_port)
    network = Path(sys.argv[1])

    def make() -> TellingWorker:
        worker = TellingWorker(settings, policy_of(settings), network_from(network), health)
        worker.tell_to(network.parent / f"{settings.worker_name}.memory")
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, stuck)
        return worker

    return run_service(make, health, settings)


if __name__ == "__main__":
    sys.exit(main())
