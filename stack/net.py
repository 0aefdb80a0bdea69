"""Ports of this machine's loopback, and whether a broker there really works."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError

from stack.errors import StackError

LOOPBACK = "127.0.0.1"
# Below the range that outgoing connections take their ports from (32768 and up on Linux): a client that keeps
# asking for a dead broker's port in that range can end up connected to itself, and the port is gone.
RANGE = range(20_000, 32_000)


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that nobody listens on."""
    for _ in range(200):
        port = random.choice(RANGE)  # noqa: S311 - no secret
        if is_free(port):
            return port
    raise StackError("No free port was found on 127.0.0.1.")


async def wait_until_usable(bootstrap: str, copies: int, seconds: float, alive: Callable[[], bool]) -> None:
    """Wait until a record can be produced and read back: an open port is not readiness."""
    deadline = time.monotonic() + seconds
    error: Exception | None = None
    with _quiet():
        while time.monotonic() < deadline and alive():
            try:
                await asyncio.wait_for(_round_trip(bootstrap, copies), max(deadline - time.monotonic(), 0.1))
            except (KafkaError, TimeoutError, OSError) as problem:
                error = problem
                await asyncio.sleep(0.1)
            else:
                if alive():  # else it was somebody else's broker that answered
                    return
    why = "it has ended" if not alive() else f"not ready after {seconds:g} seconds ({error})"
    raise StackError(f"The broker at {bootstrap} does not work: {why}.")


@contextmanager
def _quiet() -> Iterator[None]:
    """Refused connections are no news while a broker starts, and aiokafka logs one."""
    log = logging.getLogger("aiokafka")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


async def _round_trip(bootstrap: str, copies: int) -> None:
    """One record through a topic of its own, which is deleted again."""
    topic = f"licet-probe-{secrets.token_hex(4)}"
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=3_000)
    try:
        await client.start()
        brokers = (await client.describe_cluster())["brokers"]
        if len(brokers) < copies:
            raise KafkaError(f"{len(brokers)} of {copies} nodes are there")
        await client.create_topics([NewTopic(topic, 1, copies)])
        try:
            await _send_and_read(bootstrap, topic)
        finally:
            await client.delete_topics([topic])
    finally:
        await client.close()


async def _send_and_read(bootstrap: str, topic: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", request_timeout_ms=5_000) as producer:
        await producer.send_and_wait(topic, b"probe", partition=0)
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    async with consumer:
        consumer.assign([TopicPartition(topic, 0)])
        await consumer.getone()
