"""Faust's producer, and the one thing that it lacks: many records in one batch, with one answer for all of them."""

from __future__ import annotations

from collections.abc import Iterable

from faust.transport.drivers.aiokafka import Producer as StockProducer

Record = tuple[bytes, bytes, list[tuple[str, bytes]]]
"""Key, value, headers."""


class Producer(StockProducer):
    """Faust's producer for aiokafka."""

    async def send_first(self, topic: str, partition: int, records: Iterable[Record]) -> int:
        """Send as many of the first records as fit into one batch; their number, once the broker has them."""
        producer = self._ensure_producer()
        batch = producer.create_batch()
        count = 0
        for key, value, headers in records:
            if batch.append(timestamp=None, key=key, value=value, headers=headers) is None:
                break
            count += 1
        await (await producer.send_batch(batch, topic, partition=partition))
        return count
