"""A connection that closes in the wrong moment is a broken connection, and the client goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import uvloop
from aiokafka.client import AIOKafkaClient
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError
from aiokafka.protocol.metadata import MetadataRequest

from agents import connections
from stack.kafka import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.stack]


@pytest.fixture
def mended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AIOKafkaConnection, "send", connections.send)


async def connection(client: AIOKafkaClient) -> AIOKafkaConnection:
    await client.bootstrap()
    (broker,) = client.cluster.brokers()
    return await client._get_conn(broker.nodeId)


async def closed(kafka: Kafka, send: Callable[..., object]) -> None:
    """Send on a connection whose transport is closed, which its reader does not know yet."""
    client = AIOKafkaClient(bootstrap_servers=kafka.bootstrap)
    conn = await connection(client)
    try:
        conn._writer.transport.abort()
        await asyncio.sleep(0)
        send(conn, MetadataRequest([]))
    finally:
        await client.close()


async def fresh_metadata(kafka: Kafka) -> bool:
    """Ask for it while the connection breaks in the last moment; again when that has failed, as whoever asks does."""
    client = AIOKafkaClient(bootstrap_servers=kafka.bootstrap)
    conn, stock = await connection(client), client._get_conn

    async def breaking(node: int, **more: Any) -> AIOKafkaConnection | None:
        found = await stock(node, **more)
        if found is conn:
            found._writer.transport.abort()
            await asyncio.sleep(0)
        return found

    client._get_conn = breaking
    try:
        async with asyncio.timeout(5):
            while not await client.force_metadata_update():
                pass
        return not client._sync_task.done()
    finally:
        await client.close()


def test_a_write_to_a_closed_transport_is_a_broken_connection(kafka: Kafka) -> None:
    with pytest.raises(KafkaConnectionError):
        uvloop.run(closed(kafka, connections.send))


def test_the_stock_client_says_something_else_or_there_would_be_nothing_to_mend(kafka: Kafka) -> None:
    with pytest.raises(RuntimeError):
        uvloop.run(closed(kafka, connections._stock_send))


@pytest.mark.usefixtures("mended")
def test_a_client_has_fresh_metadata_after_its_connections_broke(kafka: Kafka) -> None:
    assert uvloop.run(fresh_metadata(kafka))
