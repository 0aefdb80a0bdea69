"""A worker for the supervisor's tests: answers /ready, says what it was told, and misbehaves when asked to.

TEST_WORKER: `deaf` ignores SIGTERM, `broken` ends at once, `child` leaves a grandchild behind.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

MODE = os.environ.get("TEST_WORKER", "")


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/ready" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    if MODE == "broken":
        print("Configuration: something is wrong.")
        sys.exit(2)
    if MODE == "child":
        grandchild = subprocess.Popen(["sleep", "300"])
        print(f"grandchild {grandchild.pid}")
    print("told " + json.dumps({k: v for k, v in os.environ.items() if k.startswith("LICET_")}))
    server = HTTPServer(("127.0.0.1", int(os.environ["LICET_METRICS_PORT"])), Ready)
    if MODE == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()
    print("left in order")


if __name__ == "__main__":
    main()
