"""The whole house on loopback: broker, database, workers, sink and an origin, each a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psycopg2.extras
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from crawler.rules.tokens import token
from crawler.rules.urls import site_key
from migrations import upgrade
from models import ids
from models.database import make_engine
from stack.kafka import Kafka
from stack.net import free_port
from stack.postgres import Postgres
from stack.process import Process
from stack.restore import restore
from stack.tansu import Tansu
from stack.topics_admin import apply
from tests.support.origin import Asked, read_log

KEY = b"a key of the tests, long enough for anybody"
SESSION = 6.0
"""Seconds; the shortest that the settings allow."""


class House:
    """Everything that runs, and the questions that tests ask of it."""

    def __init__(self, folder: Path, broker: Kafka | Tansu, postgres: Postgres, names: list[str]) -> None:
        self.folder = folder
        self.broker = broker
        self.names = names
        self.url = postgres.create_database(f"house_{uuid.uuid4().hex[:8]}")
        self.workers: dict[str, Process] = {}
        self.worker_module = "demo.worker"
        self.bot = "ema"
        self.resolvers: list[str] = []
        self.sink: Process | None = None
        self._origin: subprocess.Popen[str] | None = None
        self._network = folder / "network.json"
        self.log = folder / "origin.jsonl"
        self._producer: AIOKafkaProducer | None = None

    async def start(self, workers: int, handler: str) -> None:
        """Bring everything up; returns when all workers and the sink are ready."""
        (self.folder / "key").write_bytes(KEY)
        (self.folder / "key").chmod(0o600)
        self._start_origin(handler)
        await apply(self.broker.bootstrap)
        engine = make_engine(self.url, "tests")
        upgrade(engine)
        engine.dispose()
        await restore(self.broker.bootstrap, self.url)
        self.sink = self._process("sink", [sys.executable, "-m", "app", "sink"])
        for number in range(workers):
            self.add_worker(f"worker-{number + 1}")
        await self.until_ready(*self.workers, "sink")
        self._producer = AIOKafkaProducer(
            bootstrap_servers=self.broker.bootstrap, max_batch_size=1 if self.broker.kind == "tansu" else 16384
        )
        await self._producer.start()

    def add_worker(self, name: str) -> None:
        """Start a worker, or start one again under its name."""
        self.workers[name] = self._process(name, [sys.executable, "-m", self.worker_module, str(self._network)])

    async def stop(self) -> None:
        """End everything that this house started."""
        if self._producer is not None:
            await self._producer.stop()
        await asyncio.gather(*(worker.stop(8.0) for worker in self.workers.values()))
        if self.sink is not None:
            await self.sink.stop(5.0)
        if self._origin is not None:
            self._origin.terminate()
            self._origin.wait(10)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def _start_origin(self, handler: str) -> None:
        config = self.folder / "origin.json"
        config.write_text(json.dumps({"handler": handler, "log": str(self.log), "folder": str(self.folder / "ca")}))
        self._origin = subprocess.Popen(
            [sys.executable, "-m", "tests.support.origin", "--config", str(config), "--until-stdin-closes"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with suppress(OSError):
            # The witness is not to be pushed aside by those it watches: on a starved machine it noted the end of an
            # answer 88 ms late, so that a gap of 1.05 s read .97. Only root may raise a priority.
            os.setpriority(os.PRIO_PROCESS, self._origin.pid, -15)
        assert self._origin.stdout is not None
        ready = json.loads(self._origin.stdout.readline())
        routes = {name: ["127.0.0.1", ready["port"]] for name in self.names}
        self._network.write_text(json.dumps({"routes": routes, "ca": ready["ca"], "resolvers": self.resolvers}))

    def _process(self, name: str, argv: list[str]) -> Process:
        port = free_port()
        (self.folder / f"{name}.port").write_text(str(port))
        env = {
            **os.environ,
            "LICET_KAFKA": self.broker.bootstrap,
            "LICET_BROKER_KIND": self.broker.kind,
            "LICET_DATABASE_URL": self.url,
            "LICET_TOKEN_KEY_FILE": str(self.folder / "key"),
            "LICET_BOT": self.bot,
            "LICET_DATA": str(self.folder / "data"),
            "LICET_WORKER_NAME": name,
            "LICET_METRICS_PORT": str(port),
            "LICET_SESSION_TIMEOUT": str(SESSION),
            "LICET_HEARTBEAT_INTERVAL": "1",
        }
        process = Process(name, argv, self.folder / f"{name}.log", env=env)
        process.spawn()
        return process

    async def until_ready(self, *names: str, seconds: float = 60.0) -> None:
        """Wait until these processes say so on `/ready`."""
        for name in names:
            await self.until(lambda name=name: self.ready(name), seconds, f"{name} is ready")  # type: ignore[misc]

    def ready(self, name: str) -> bool:
        """Whether a process answers 200 on `/ready`."""
        return self.get(name, "ready")[0] == 200

    def get(self, name: str, path: str) -> tuple[int, str]:
        """What a process serves on its loopback port."""
        port = (self.folder / f"{name}.port").read_text()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    async def until(self, true: Callable[[], Any], seconds: float, what: str) -> Any:
        """Wait for a condition in another process, which no event tells of."""
        deadline = time.monotonic() + seconds
        while not (found := await asyncio.to_thread(true)):
            assert time.monotonic() < deadline, f"not after {seconds} s: {what}\n{self._tails()}"
            await asyncio.sleep(0.2)
        return found

    def _tails(self) -> str:
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text(errors='replace')[-1500:]}" for log in logs)

    async def say(self, topic: str, kind: str = "", **data: Any) -> str:
        """Publish an intake event as a console would; its id."""
        event = str(uuid.uuid4())
        said = {"id": event, "type": kind or topic, "version": 1, "producer": "tests", "data": data}
        place = data.get("address")  # one order for one site, as whoever says two things about it in a row needs
        await self.send(topic, json.dumps(said).encode(), place.encode() if isinstance(place, str) else None)
        return event

    async def send(self, topic: str, value: bytes | None, key: bytes | None = None) -> Any:
        """Publish any bytes; the broker's record metadata."""
        assert self._producer is not None
        return await self._producer.send_and_wait(topic, value, key=key)

    async def verify(self, host: str, account: str = "acme") -> None:
        """Prove a site by token file (the shops serve every account's token)."""
        event = await self.say("verification-requested", account=account, address=host)
        job = ids.job_id("verification", event)
        found = await self.until(
            lambda: self.rows("SELECT kind, reason FROM verifications WHERE job = %s", job), 40, f"{host} is verified"
        )
        assert found[0]["kind"] == "verified", found

    async def crawl(self, host: str, account: str = "acme") -> str:
        """Ask for a crawl; its id."""
        return ids.job_id("crawl", await self.say("crawl-requested", account=account, address=host))

    async def ended(self, *crawls: str, seconds: float) -> list[dict[str, Any]]:
        """The audit rows of these crawls, when all of them are closed."""
        query = "SELECT * FROM crawls WHERE crawl = ANY(%s::uuid[]) AND (terminal_kind IS NOT NULL OR NOT accepted)"
        wanted = list(crawls)
        return await self.until(  # type: ignore[no-any-return]
            lambda: rows if len(rows := self.rows(query, wanted)) == len(wanted) else None,
            seconds,
            f"{len(wanted)} crawls have ended",
        )

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """A query's rows."""
        url = self.url.replace("postgresql+psycopg2", "postgresql")
        with (
            psycopg2.connect(url) as connection,
            connection.cursor(cursor_factory=psycopg2.extras.RealDictCursor) as cursor,
        ):
            cursor.execute(query, values or None)
            return [dict(row) for row in cursor.fetchall()]

    def asked(self) -> list[Asked]:
        """The origin's log."""
        return read_log(self.log) if self.log.exists() else []

    async def topic(self, name: str) -> list[Any]:
        """Every record of a topic, from its beginning until nothing more comes."""
        consumer = AIOKafkaConsumer(name, bootstrap_servers=self.broker.bootstrap, auto_offset_reset="earliest")
        await consumer.start()
        found: list[Any] = []
        try:
            while batch := await consumer.getmany(timeout_ms=1500):
                found += [record for records in batch.values() for record in records]
        finally:
            await consumer.stop()
        return found


def token_of(host: str, account: str = "acme") -> str:
    """The proof token that the house's key gives."""
    return token(KEY, "ema", account, site_key(host), time.time())
