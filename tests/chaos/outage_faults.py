"""The nemesis's faults of servers: the broker and the database, stopped, killed, frozen, locked, with a full disk."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from contextlib import suppress
from typing import Any

from tests.chaos.rig import Rig, waiting

FULL = 8.0
"""Seconds that a disk stays full after it was noticed."""


class OutageFaults:
    """Each is a coroutine of a target and its own dice, and heals itself."""

    _rig: Rig
    outage = 60.0
    """Seconds that broker and database are away in `broker_down` and `database_down`."""

    # broker

    async def _broker_back(self, node: int, began: float) -> dict[str, Any]:
        await self._rig.kafka.restart(node)
        return {"away": time.monotonic() - began}

    async def broker_restart(self, name: str, rng: random.Random) -> dict[str, Any]:
        """A clean restart."""
        node, began = rng.randrange(self._rig.kafka.nodes), time.monotonic()
        await self._rig.kafka.stop_node(node)
        return await self._broker_back(node, began)

    async def broker_kill(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Kill -9 and a restart."""
        node, began = rng.randrange(self._rig.kafka.nodes), time.monotonic()
        await self._rig.kafka.kill(node)
        await asyncio.sleep(rng.uniform(0, 6))
        return await self._broker_back(node, began)

    async def broker_freeze(self, name: str, rng: random.Random) -> None:
        """SIGSTOP of ten seconds."""
        process = self._rig.kafka.processes[rng.randrange(self._rig.kafka.nodes)]
        process.send(signal.SIGSTOP)
        await asyncio.sleep(10.0)
        process.send(signal.SIGCONT)

    async def broker_down(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Stopped for a minute."""
        node, began = rng.randrange(self._rig.kafka.nodes), time.monotonic()
        await self._rig.kafka.stop_node(node)
        gone = time.monotonic_ns()
        await asyncio.sleep(self.outage)
        return {"gone": gone} | await self._broker_back(node, began)

    async def broker_full(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Its disk is full (F16). Kafka ends itself when it cannot write; with space again, it is started again."""
        rig, began = self._rig, time.monotonic()
        broker, disk = rig.kafka.processes[0], rig.disks["kafka"]
        disk.fill()
        try:
            ended = await waiting(lambda: not broker.alive, 30)
            gone = time.monotonic_ns()
            await asyncio.sleep(FULL)
        finally:
            disk.free()
        if not ended:
            await rig.kafka.kill()
        return {"gone": gone, "ended_itself": ended} | await self._broker_back(0, began)

    # database

    async def _database_away(self, seconds: float, number: signal.Signals) -> dict[str, Any]:
        postgres = self._rig.postgres
        assert postgres.process is not None
        await postgres.process.stop(5.0, number)
        await asyncio.sleep(seconds)
        return await self._database_back()

    async def _database_back(self) -> dict[str, Any]:
        postgres = self._rig.postgres
        for pause in (1.0, 3.0, None):
            try:
                await postgres.start()
                break
            except Exception:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        return {"drained": await self._rig.drained(90.0)}

    async def database_down(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Stopped at once (SIGQUIT is PostgreSQL's immediate shutdown) for a minute."""
        return await self._database_away(self.outage, signal.SIGQUIT)

    async def database_full(self, name: str, rng: random.Random) -> dict[str, Any]:
        """Its disk is full (F25): the sink waits with what it has in hand."""
        disk, postgres = self._rig.disks["postgres"], self._rig.postgres
        disk.fill()
        try:
            refused = await waiting(self._refused, 30)
            await asyncio.sleep(FULL)
        finally:
            disk.free()
        if not postgres.alive:
            return {"refused": refused, "ended_itself": True} | await self._database_back()
        return {"refused": refused, "drained": await self._rig.drained(90.0)}

    def _refused(self) -> bool:
        """Whether the sink says that it is waiting."""
        return not self._rig.ready("sink")

    async def database_kill(self, name: str, rng: random.Random) -> dict[str, Any]:
        """An immediate shutdown and a start."""
        return await self._database_away(rng.uniform(0, 5), signal.SIGQUIT)

    async def database_restart(self, name: str, rng: random.Random) -> dict[str, Any]:
        """A fast shutdown and a start."""
        return await self._database_away(1.0, signal.SIGINT)

    async def database_terminate(self, name: str, rng: random.Random) -> None:
        """Every session is terminated, in the middle of whatever it does."""
        for _ in range(3):
            with suppress(Exception):
                await asyncio.to_thread(
                    self._rig.rows,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                    " AND datname IS NOT NULL",
                )
            await asyncio.sleep(rng.uniform(0.05, 1.0))

    async def database_lock(self, name: str, rng: random.Random) -> None:
        """Somebody holds a lock on the tables for ten seconds."""

        def hold() -> None:
            self._rig.rows("BEGIN; LOCK TABLE fetches, crawls IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(10)")

        with suppress(Exception):
            await asyncio.to_thread(hold)
