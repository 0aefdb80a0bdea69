"""A TCP proxy that a nemesis can cut, slow down or leave half-open."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Proxy:
    """Listens on a port of its own and passes bytes on to another, as `mode` says.

    open       as they come
    slow       each piece `delay` seconds later, each way
    half_open  connections are accepted and bytes swallowed: nothing is answered, nothing is closed
    cut        every connection is reset, new ones too
    """

    def __init__(self, target: int, host: str = "127.0.0.1") -> None:
        self.target = target
        self.port = 0
        self.mode = "open"
        self.delay = 0.5
        self._host = host
        self._server: asyncio.Server | None = None
        self._pairs: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter | None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> Self:
        """Listen; the port is known afterwards."""
        self._server = await asyncio.start_server(self._serve, self._host, port, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        """Close everything."""
        if self._server is not None:
            self._server.close()
        self._reset()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def set(self, mode: str, delay: float = 0.5) -> None:
        """Change the mode. What was half-open is reset when the fault ends, as by a router that comes back."""
        before, self.mode, self.delay = self.mode, mode, delay
        if mode == "cut" or before == "half_open":
            self._reset()

    def _reset(self) -> None:
        for pair in tuple(self._pairs):
            for writer in pair:
                if writer is not None:
                    writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.mode == "cut":
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection(self._host, self.target, limit=1 << 20)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, back)
        self._pairs.add(pair)
        tasks = [asyncio.ensure_future(self._pump(*ends)) for ends in ((reader, back), (there, writer))]
        self._tasks.update(tasks)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
                self._tasks.discard(task)
            self._pairs.discard(pair)
            for end in pair:
                end.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, OSError):
            while data := await reader.read(1 << 16):
                if self.mode == "slow":
                    await asyncio.sleep(self.delay)
                while self.mode == "half_open":  # noqa: ASYNC110 - what was on its way stays on its way
                    await asyncio.sleep(0.05)
                writer.write(data)
                await writer.drain()
