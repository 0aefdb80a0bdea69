"""The production worker, for chaos runs: it tells what it remembers (SIGUSR1) or gets stuck (SIGUSR2)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from agents.health import Health
from agents.run import run_service
from agents.start import policy_of
from demo.worker import network_from
from models.settings import Settings, load
from tests.house.telling_worker import TellingWorker


def stuck() -> None:
    """The event loop stands still for good, as in a read that nobody answers (F10)."""
    there, _here = os.pipe()
    os.read(there, 1)


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
