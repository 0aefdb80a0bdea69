"""A worker that writes down what it remembers when it gets SIGUSR1: `FOLDER/NAME.memory`, one line for each key."""

from __future__ import annotations

import asyncio
import hashlib
import json
import signal
import sys
from pathlib import Path

from agents.health import Health
from agents.run import run_service
from agents.start import policy_of
from agents.worker import Worker
from demo.worker import network_from
from models.settings import Settings, load


class TellingWorker(Worker):
    """The production worker, with one more signal."""

    def tell_to(self, file: Path) -> None:
        """Write {partition: {key: hash of the value}} of the store, whole, when the signal comes."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: self._tell(file))

    def _tell(self, file: Path) -> None:
        found = {
            partition: {key: hashlib.sha256(value).hexdigest() for key, value in self.memory.items(partition)}
            for partition in self._owned()
        }
        file.with_suffix(".new").write_text(json.dumps(found))
        file.with_suffix(".new").rename(file)


def main() -> int:
    """Run until SIGTERM."""
    settings: Settings = load()
    health = Health(settings.metrics_host, settings.metrics_port)
    network = Path(sys.argv[1])

    def make() -> TellingWorker:
        worker = TellingWorker(settings, policy_of(settings), network_from(network), health)
        worker.tell_to(network.parent / f"{settings.worker_name}.memory")
        return worker

    return run_service(make, health, settings)


if __name__ == "__main__":
    sys.exit(main())
