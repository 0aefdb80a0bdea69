"""A worker for the demo and the tests: the production worker, with another network handed in.

    python -m demo.worker NETWORK.json

The file names hosts, their loopback address and port, and a CA of their own. Only this entry point reads such a
file; the production command `licet worker` hands in the public internet and knows no way to anything else (A02).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agents.start import policy_of, run_worker
from crawler.fetch.network import Network
from models.settings import load


def network_from(path: Path) -> Network:
    """The network that a demo or a test wrote down: `{"routes": {host: [address, port]}, "ca": path}`.

    `resolvers`, if there are any, are DNS-over-HTTPS URLs on loopback.
    """
    said = json.loads(path.read_text())
    routes = {host: (address, port) for host, (address, port) in said["routes"].items()}
    return Network(routes=routes, ca=Path(said["ca"]), resolvers=tuple(said.get("resolvers", ())))


def main() -> int:
    """Run until SIGTERM; the exit code of the worker."""
    settings = load()
    return run_worker(settings, policy_of(settings), network_from(Path(sys.argv[1])))


if __name__ == "__main__":
    sys.exit(main())
