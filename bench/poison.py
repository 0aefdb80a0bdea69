"""What poisonous events cost the good ones behind them: one partition, 10,000 of them, at two speeds and all at once.

The delay of a good event is the time from its record to its message in the site's mailbox, both by the clock of
this machine. The goal is that at 1,000 poisonous events a second no good event is more than 1 s later than without.
All at once is measured several times: it is CPU time, shared with the broker and the sender.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import statistics
import sys
import tempfile
import time
import uuid
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from models import topics
from stack import jars
from stack.kafka import Kafka
from stack.topics_admin import apply
from tests.support.intake import intake

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TOPIC = "listing-requested"
POISON, GOOD = 10_000, 100
ALL_AT_ONCE = 100_000
"""Poisonous events a second: faster than they can be produced."""
SPEEDS = (0, 500, 1_000, *[ALL_AT_ONCE] * 5)
Figures = tuple[float, float, float]
"""Seconds of the slowest good event, CPU seconds of this process, and the load of the machine."""
GOAL_AT, GOAL = 1_000, 1.0


def main() -> int:
    """Print the figures; 1 when the goal is missed."""
    if why := jars.missing():
        print(f"not measured: {why}")
        return 0
    for name in ("aiokafka", "agents.consuming"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    uvloop.install()  # as the worker
    found = asyncio.run(_measure())
    for speed, (delay, cpu, load) in found:
        each = f", {cpu / POISON * 1e3:.3f} ms of CPU for each of {POISON:,}" if speed else ""
        print(f"{speed:>7,} a second: worst delay of {GOOD} good ones {delay:6.3f} s{each} (load {load:.1f})")
    alone = found[0][1][0]
    kept = dict(found)[GOAL_AT][0] - alone <= GOAL
    print(f"goal: at most {GOAL:g} s more at {GOAL_AT:,} a second: {'kept' if kept else 'MISSED'}")
    behind = statistics.median(delay for speed, (delay, _, _) in found if speed == ALL_AT_ONCE) - alone
    print(f"behind all at once, median: {behind:.3f} s more ({'within' if behind <= GOAL else 'beyond'} {GOAL:g} s)")
    return int(not kept)


async def _measure() -> list[tuple[int, Figures]]:
    """Of each speed, in order."""
    with tempfile.TemporaryDirectory() as name:
        async with Kafka(Path(name) / "broker") as kafka:
            await apply(kafka.bootstrap)
            async with (
                intake(kafka.bootstrap, "poison", Path(name) / "data", TOPIC),
                _mailboxes(kafka.bootstrap) as mailboxes,
            ):
                found = []
                for speed in SPEEDS:
                    began = time.process_time()
                    # from another process: its work is no delay of ours
                    sender = await asyncio.create_subprocess_exec(
                        sys.executable, "-m", "bench.poison", kafka.bootstrap, str(speed)
                    )
                    delay = await _worst(mailboxes)
                    found.append((speed, (delay, time.process_time() - began, os.getloadavg()[0])))
                    await sender.wait()
                return found


@asynccontextmanager
async def _mailboxes(bootstrap: str) -> AsyncIterator[AIOKafkaConsumer]:
    count = topics.by_name()["site-mailbox"].partitions
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        consumer.assign([TopicPartition("site-mailbox", number) for number in range(count)])
        yield consumer


async def _send(bootstrap: str, speed: int) -> None:
    """Poison at this speed, with a good event after every hundredth; without any, the good ones alone."""
    began = time.monotonic()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for number in range(GOOD):
            behind = began + (number + 1) * (POISON / GOOD) / speed if speed else time.monotonic() + 0.02
            for _ in range(POISON // GOOD if speed else 0):
                await producer.send(TOPIC, b"not json", partition=0)
            await producer.send(TOPIC, _good(number), partition=0)
            await asyncio.sleep(max(0.0, behind - time.monotonic()))


def _good(number: int) -> bytes:
    data = {"account": "acme", "address": f"poison{number}.example"}
    said = {"id": str(uuid.uuid4()), "type": TOPIC, "version": 1, "producer": "bench", "data": data}
    return json.dumps(said).encode()


async def _worst(mailboxes: AIOKafkaConsumer) -> float:
    """Seconds of the slowest, when all have come. `said_at` is the time of the record itself."""
    delays: list[float] = []
    async with asyncio.timeout(120):
        while len(delays) < GOOD:
            for records in (await mailboxes.getmany(timeout_ms=500)).values():
                delays += [one.timestamp / 1e3 - json.loads(one.value)["said_at"] for one in records]
    return max(delays)


if __name__ == "__main__":
    asyncio.run(_send(sys.argv[1], int(sys.argv[2])))
