"""How long a worker needs to load what others left: `python -m tests.chaos.recovery [records]`."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from aiokafka import AIOKafkaProducer
from faust.types import TP
from yarl import URL

from agents.memory import Store, read_changelog
from stack.kafka import Kafka
from stack.topics_admin import apply
from tests.chaos.history import CHANGELOG

PARTITIONS = 12
VALUE = b"x" * 180
"""Bytes of a head or of a frontier chunk, about."""


async def measure(records: int) -> dict[str, float]:
    """Write so many records under as many keys, read them as a worker does, and put them into a store."""
    with tempfile.TemporaryDirectory() as folder:
        async with Kafka(Path(folder)) as kafka:
            await apply(kafka.bootstrap)
            written = await _write(kafka.bootstrap, records)
            host, port = kafka.bootstrap.split(":")
            app = SimpleNamespace(conf=SimpleNamespace(broker=[URL(f"kafka://{host}:{port}")]))
            began = time.monotonic()
            found = await read_changelog(app, [TP(CHANGELOG, number) for number in range(PARTITIONS)])
            read = time.monotonic() - began
            store = object.__new__(Store)
            store.__post_init__()
            for tp, values, _end in found:
                for key, value in values.items():
                    store.remember(tp.partition, key, value)
            return {"records": len(store.data), "written_in": written, "read_in": read,
                    "loaded_in": time.monotonic() - began}  # fmt: skip


async def _write(bootstrap: str, records: int) -> float:
    began = time.monotonic()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, max_batch_size=1 << 18) as producer:
        for number in range(records):
            await producer.send(CHANGELOG, VALUE, key=b"s%d.example|h" % number, partition=number % PARTITIONS)
        await producer.flush()
    return time.monotonic() - began


def main() -> None:
    """Measure, and print one line."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    found = asyncio.run(measure(records))
    print(json.dumps({name: round(value, 2) for name, value in found.items()}))


if __name__ == "__main__":
    main()
