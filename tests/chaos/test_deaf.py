"""A worker that only a new process can help is given one within a minute, for real: stuck, and deaf (F10, F11)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
import trustme

from stack.child import Child
from stack.kafka import Kafka
from stack.net import free_port
from stack.topics_admin import apply
from tests.conftest import until

pytestmark = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.timeout(300)]
WITHIN = 60.0


@pytest.mark.parametrize(
    ("number", "said"),
    [(signal.SIGUSR2, "it has been silent"), (signal.SIGHUP, "it says that it is out of the group")],
)
async def test_F10_F11_a_stuck_and_a_deaf_worker_are_replaced_within_a_minute(
    number: signal.Signals, said: str, kafka: Kafka, tmp_path: Path
) -> None:
    await apply(kafka.bootstrap)
    (tmp_path / "key").write_bytes(b"k" * 40)
    (tmp_path / "key").chmod(0o600)
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    network = {"routes": {"a.example": ["127.0.0.1", 1]}, "ca": str(tmp_path / "ca.pem")}
    (tmp_path / "network.json").write_text(json.dumps(network))
    port = free_port()
    env = {key: value for key, value in os.environ.items() if not key.startswith("LICET_")} | {
        "LICET_KAFKA": kafka.bootstrap, "LICET_DATA": str(tmp_path), "LICET_TOKEN_KEY_FILE": str(tmp_path / "key"),
        "LICET_WORKER_NAME": f"w-{port}", "LICET_METRICS_PORT": str(port), "LICET_SESSION_TIMEOUT": "6",
        "LICET_HEARTBEAT_INTERVAL": "1",
    }  # fmt: skip
    lines: list[str] = []
    argv = [sys.executable, "-m", "tests.chaos.worker", str(tmp_path / "network.json")]
    child = Child("worker", argv, env, port, lambda _name, line: lines.append(line), silence=5.0)
    child.spawn()
    watching = asyncio.create_task(_watch(child))
    try:
        await until(lambda: child.ready, 60)
        pid, began = child.process.pid, time.monotonic()
        child.process.send(number)
        await until(lambda: child.process.pid != pid, 120)
        assert time.monotonic() - began <= WITHIN, lines
        assert any(said in line for line in lines), lines
        await until(lambda: child.ready, 60)
    finally:
        watching.cancel()
        await child.process.stop(10.0)


async def _watch(child: Child) -> None:
    while True:
        await child.step()
        await asyncio.sleep(0.1)
