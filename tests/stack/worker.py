"""A worker for the supervisor's tests: answers /ready, says what it was told, and misbehaves when asked to.

TEST_WORKER: `deaf` ignores SIGTERM, `broken` ends at once, `child` leaves a grandchild behind,
`complains` says on /live that it is deaf, `mute` never says anything, `taken` ends because of its name, `spare`
begins when it is told, if it is started as a spare.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agents.start import stand_by

MODE = os.environ.get("TEST_WORKER", "")


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/live" and MODE == "complains":
            body = json.dumps({"live": False, "reason": "out of the group for 50 s"}).encode()
            self.send_response(503)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)
            return
        self.send_response(200 if self.path in ("/ready", "/live") else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    if MODE == "spare":
        stand_by()
    if MODE == "broken":
        print("Configuration: something is wrong.")
        sys.exit(2)
    if MODE == "taken":
        sys.exit(4)
    if MODE == "mute":
        time.sleep(60)
    if MODE == "child":
        grandchild = subprocess.Popen(["sleep", "300"])
        print(f"grandchild {grandchild.pid}")
    server = HTTPServer(("127.0.0.1", int(os.environ["LICET_METRICS_PORT"])), Ready)
    if MODE == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    # Last: whoever has read this may end us, and we leave in order.
    print("told " + json.dumps({k: v for k, v in os.environ.items() if k.startswith("LICET_")}))
    server.serve_forever()
    print("left in order")


if __name__ == "__main__":
    main()
