"""How long a worker needs to load what others left: `python -m tests.chaos.recovery [records]`; `make bench` too.

Two cases: many records under as many keys, and what a worker leaves that had 300 sites for an hour, each with its five
crawls of the day in it. The second is mostly heads that were written over: what is left of them is what the broker's
cleaner has not come to, the tail of the active segments.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aiokafka import AIOKafkaProducer
from faust.types import TP
from yarl import URL

from agents.fences import Fence, claim_key
from agents.store import Store
from stack.kafka import Kafka
from stack.topics_admin import apply
from tests.chaos.history import CHANGELOG

PARTITIONS = 12
VALUE = b"x" * 180
"""Bytes of a frontier chunk, about."""
HEAD = b"h" * 1400
"""Bytes of a site's head in the middle of a crawl (measured: 1,394)."""
SITES, CRAWLS, REQUESTS = 300, 5, 66
"""Robots.txt, sitemaps, 60 pages and a few more; five crawls a day (E18, E21)."""
HOUR = 3600.0
SETTLED = 20.0
"""Seconds without a change on the disk after which the cleaner has come to its end: it looks every 15 s."""


async def takeover() -> dict[str, float]:
    """What 300 sites leave after an hour, uncleaned and as the cleaner left it; how long it takes to load."""
    with tempfile.TemporaryDirectory() as folder:
        async with Kafka(Path(folder)) as kafka:
            await apply(kafka.bootstrap)
            # Dated over the hour that it stands for: the cleaner leaves the last ten minutes (min.compaction.lag.ms).
            began = time.time() - HOUR
            async with _producer(kafka.bootstrap) as producer:
                for crawl in range(CRAWLS):
                    for number in range(REQUESTS):
                        at = began + HOUR * (crawl * REQUESTS + number) / (CRAWLS * REQUESTS)
                        for site in range(SITES):
                            await _request(producer, site, crawl, number, int(at * 1000))
            await _settled(Path(folder))
            found = await _load(kafka.bootstrap)
            return found | {"requests": SITES * CRAWLS * REQUESTS, "megabytes": _size(Path(folder)) / 1e6}


async def _request(producer: AIOKafkaProducer, site: int, crawl: int, number: int, at: int) -> None:
    """What one request writes (measured: 2.2 heads, 0.9 chunks of the frontier, which are deleted at the end)."""
    where: dict[str, Any] = {"partition": site % PARTITIONS, "timestamp_ms": at, "headers": Fence(1).headers}
    for _ in range(2):
        await producer.send(CHANGELOG, HEAD, key=b"s%d.example|h" % site, **where)
    chunk = b"s%d.example|f|%d" % (site, number)
    await producer.send(CHANGELOG, VALUE, key=chunk, **where)
    if number == REQUESTS - 1 and crawl < CRAWLS - 1:
        for old in range(REQUESTS):
            await producer.send(CHANGELOG, None, key=b"s%d.example|f|%d" % (site, old), **where)


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob(f"{CHANGELOG}-*/*.log"))


async def _settled(folder: Path) -> None:
    size, since = _size(folder), time.monotonic()
    while time.monotonic() - since < SETTLED:
        await asyncio.sleep(1.0)
        if (now := _size(folder)) != size:
            size, since = now, time.monotonic()


async def measure(records: int) -> dict[str, float]:
    """Write so many records under as many keys, read them as a worker does, and put them into a store."""
    with tempfile.TemporaryDirectory() as folder:
        async with Kafka(Path(folder)) as kafka:
            await apply(kafka.bootstrap)
            written = await _write(kafka.bootstrap, records)
            return await _load(kafka.bootstrap) | {"written_in": written}


async def _load(bootstrap: str) -> dict[str, float]:
    """As a worker does at a takeover of everything."""
    host, port = bootstrap.split(":")
    app = SimpleNamespace(conf=SimpleNamespace(broker=[URL(f"kafka://{host}:{port}")]))
    began, cpu = time.monotonic(), time.process_time()
    store = object.__new__(Store)
    store.__post_init__()
    store.app = app  # type: ignore[assignment]
    async with _producer(bootstrap) as producer:

        def claim(tp: TP, fence: Fence) -> Awaitable[Any]:
            key, value = claim_key(tp.partition), fence.to_bytes()
            return producer.send_and_wait(CHANGELOG, value, key, tp.partition, headers=fence.headers)

        store.claim, store.owner = claim, "recovery"
        await store.take_over([TP(CHANGELOG, number) for number in range(PARTITIONS)])
    return {"keys": len(store.data) - PARTITIONS, "loaded_in": time.monotonic() - began,
            "cpu": time.process_time() - cpu}  # fmt: skip


def _producer(bootstrap: str) -> AIOKafkaProducer:
    return AIOKafkaProducer(bootstrap_servers=bootstrap, linger_ms=20, max_batch_size=1 << 18)


async def _write(bootstrap: str, records: int) -> float:
    began = time.monotonic()
    async with _producer(bootstrap) as producer:
        for number in range(records):
            await producer.send(CHANGELOG, VALUE, key=b"s%d.example|h" % number, partition=number % PARTITIONS,
                                headers=Fence(1).headers)  # fmt: skip
        await producer.flush()
    return time.monotonic() - began


def main() -> None:
    """Measure, and print a line each."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    found = asyncio.run(measure(records))
    for one in (found, asyncio.run(takeover())):
        print(json.dumps({name: round(value, 2) for name, value in one.items()}))


if __name__ == "__main__":
    main()
