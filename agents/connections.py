"""What a write to a connection that has just been closed is: an answer of the network, not a defect of ours.

uvloop says RuntimeError ("the handler is closed") where asyncio's own loop says nothing. aiokafka catches OSError
alone, so the error ended the task that refreshes its client's metadata. Nobody looks at that task, and whatever asked
for fresh metadata afterwards waited for ever (measured under chaos: after the broker was killed a sink stood still
for good, alive and ready to all who asked it).
"""

from __future__ import annotations

from typing import Any

from aiokafka import conn
from aiokafka.conn import AIOKafkaConnection
from aiokafka.errors import KafkaConnectionError

_stock_send = AIOKafkaConnection.send


def send(self: AIOKafkaConnection, request: Any, expect_response: bool = True) -> Any:
    """As ever; a closed transport is a broken connection."""
    try:
        return _stock_send(self, request, expect_response)
    except RuntimeError as error:
        self.close(reason=conn.CloseReason.CONNECTION_BROKEN)
        raise KafkaConnectionError(f"Connection at {self.host}:{self.port} broken: {error}") from error


def mend() -> None:
    """Let every client of this process know the difference. Harmless when it was called before."""
    AIOKafkaConnection.send = send
