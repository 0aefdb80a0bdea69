"""What a supervisor says when it has reaped a worker: `gone`, on `worker-lives`. Nobody else can be certain of it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from models.lives import TOPIC, Life
from stack.process import Say

PATIENCE = 0.2
"""Seconds that a restart waits for the broker to have it; it is sent all the same when the broker is slower, and the
new process needs longer than that before it reads the topic."""
AGAIN = 2.0
"""Seconds between tries while the broker is away."""


class Obituaries:
    """A producer for the topic, connected with the first death."""

    def __init__(self, bootstrap: str, kind: str, say: Say) -> None:
        self._bootstrap = bootstrap
        self._options = {"max_batch_size": 1} if kind == "tansu" else {}
        self._say = say
        self._producer: AIOKafkaProducer | None = None
        self._connecting = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def publish(self, worker: str, life: str) -> None:
        """Say that this life of a worker is over. Called after waitpid, never before."""
        task = asyncio.create_task(self._send(Life(worker=worker, life=life, state="gone")))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task}, timeout=PATIENCE)

    async def _send(self, said: Life) -> None:
        """Until the broker has it. Without it the next owner waits for the request that may be open."""
        while True:
            try:
                producer = await self._connected()
                await producer.send_and_wait(TOPIC, said.model_dump_json().encode(), partition=0)
            except (KafkaError, OSError) as error:
                self._say("licet", f"the death of {said.worker} is not published yet: {type(error).__name__}")
                await asyncio.sleep(AGAIN)
            else:
                return

    async def _connected(self) -> AIOKafkaProducer:
        async with self._connecting:
            if self._producer is None:
                producer = AIOKafkaProducer(bootstrap_servers=self._bootstrap, acks="all", **self._options)
                try:
                    await producer.start()
                except BaseException:
                    await producer.stop()
                    raise
                self._producer = producer
            return self._producer

    async def close(self) -> None:
        """Give up what has not been sent."""
        for task in tuple(self._tasks):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self._producer is not None:
            with suppress(KafkaError, OSError, TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._producer.stop()
            self._producer = None
