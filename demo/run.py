"""`make run`: the main job, once, on this machine alone.

Brings up the embedded stack, serves the bundled shop over HTTPS on loopback, and does what a business and its console
would do: save the address, place the token file, ask for the crawl. Everything lives in one folder (`var/demo`).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer
from rich.console import Console
from sqlalchemy import Engine, text

import bots
from commands.stack import until_stopped
from crawler.rules.tokens import token
from crawler.rules.urls import site_key
from demo import log
from demo.origin import SampleSite
from demo.progress import Display, Snapshot
from demo.summary import Summary, show
from models import ids
from models.database import make_engine
from models.settings import Settings
from models.stack_file import StackFile
from stack.errors import StackError
from stack.folder import AlreadyRunning, Folder
from stack.supervisor import Supervisor

ACCOUNT = "bottega"
DATA = Path("var/demo")
BEAT = 0.2
AUDIT_ROW = "SELECT * FROM crawls WHERE crawl = :crawl"
STORED = (
    "SELECT count(DISTINCT page_id) AS pages, count(pair_id) AS pairs"
    " FROM pages LEFT JOIN pairs USING (page_id) WHERE crawl = :crawl"
)


class DemoFailed(Exception):
    """The demonstration did not end as it should; the sentence says where."""


def main() -> int:
    """Run it; exit code 0 only when the crawl completed and the pace was kept."""
    console = Console()
    result: list[int] = []
    try:
        asyncio.run(until_stopped(_run(console, result)))
    except (AlreadyRunning, DemoFailed, StackError) as error:
        console.print(f"[red]{error}[/red]")
        return 1
    return result[0] if result else 130


async def _run(console: Console, result: list[int]) -> None:
    console.print("[bold]Licet[/bold]: one crawl of a sample business, on an embedded broker and database.")
    _begin_afresh()
    async with SampleSite(DATA / "site") as site:
        network = DATA / "network.json"
        routes = {host: ["127.0.0.1", site.port] for host in site.hosts}
        network.write_text(json.dumps({"routes": routes, "ca": str(site.ca_file.resolve())}))
        worker = (sys.executable, "-m", "demo.worker", str(network.resolve()))
        async with Supervisor(DATA, settings=Settings(data=DATA), worker_command=worker) as stack:
            result.append(await Demo(console, site, stack).play())


def _begin_afresh() -> None:
    """Each run shows the whole job, so it starts from nothing; a run that is under way keeps its folder."""
    folder = Folder(DATA)
    folder.lock()
    folder.release()
    shutil.rmtree(DATA)
    DATA.mkdir(parents=True)


class Demo:
    """The business, its console, and somebody who watches."""

    def __init__(self, console: Console, site: SampleSite, stack: Supervisor) -> None:
        assert stack.stack is not None
        self._console = console
        self._site = site
        self._host = site.hosts[0]
        self._file: StackFile = stack.stack
        self._profile = bots.load(self._file.bot)
        self._engine: Engine = make_engine(self._file.database_url, "licet-demo")

    async def play(self) -> int:
        """Save, prove, crawl, report."""
        event = await self._say("address-saved", address=self._host)
        check = await self._wait("SELECT status FROM address_checks WHERE job = :job", ids.job_id("check", event))
        self._console.print(f"1. [bold]{self._host}[/bold] is saved; one HEAD says {check['status']}.")
        key = Path(self._file.token_key_file).read_bytes()
        proof = token(key, self._profile.name, ACCOUNT, site_key(self._host), time.time())
        self._site.place_token(proof)
        event = await self._say("verification-requested", address=self._host, method="token_file")
        found = await self._wait(
            "SELECT kind, reason FROM verifications WHERE job = :job", ids.job_id("verification", event)
        )
        if found["kind"] != "verified":
            raise DemoFailed(f"The proof was not found: {found['reason']}")
        self._console.print(f"2. The token file with {proof} is found: verified for the account {ACCOUNT}.")
        began = time.monotonic()
        event = await self._say("crawl-requested", address=self._host, by="make run")
        crawl = ids.job_id("crawl", event)
        self._console.print("3. The crawl runs: one request at a time, at least a second apart.")
        row = await self._watch(crawl)
        return self._report(row, time.monotonic() - began)

    async def _say(self, kind: str, **data: Any) -> str:
        """Publish an intake event, as any console would; its id."""
        event = str(uuid.uuid4())
        said = {
            "id": event,
            "type": kind,
            "version": 1,
            "occurred_at": datetime.now(UTC).isoformat(),
            "producer": "demo",
            "data": {"account": ACCOUNT, **data},
        }
        producer = AIOKafkaProducer(bootstrap_servers=self._file.kafka, max_batch_size=1)
        await producer.start()
        try:
            await producer.send_and_wait(kind, json.dumps(said).encode())
        finally:
            await producer.stop()
        return event

    def _row(self, query: str, **values: object) -> dict[str, Any] | None:
        with self._engine.connect() as connection:
            found = connection.execute(text(query), values).mappings().first()
        return dict(found) if found else None

    async def _wait(self, query: str, job: str, seconds: float = 30.0) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if found := await asyncio.to_thread(self._row, query, job=job):
                return found
            await asyncio.sleep(BEAT)
        raise DemoFailed(f"Nothing after {seconds:g} s: {query}")

    async def _watch(self, crawl: str) -> dict[str, Any]:
        """Show the crawl until its audit row is closed."""
        with Display(self._console) as display:
            while True:
                row = await asyncio.to_thread(self._row, AUDIT_ROW, crawl=crawl) or {}
                if row.get("accepted") is False:
                    raise DemoFailed(f"The gate refused the crawl: {row['refusal']}.")
                display.show(await asyncio.to_thread(self._snapshot, crawl, row))
                if row.get("terminal_kind"):
                    return row
                await asyncio.sleep(BEAT)

    def _snapshot(self, crawl: str, row: dict[str, Any]) -> Snapshot:
        counts = self._row(
            "SELECT (SELECT count(*) FROM pages WHERE crawl = :crawl) AS pages, count(*) FILTER (WHERE sent) AS sent,"
            " count(*) FILTER (WHERE kind = 'page') AS known, max(ended_at) AS ended FROM fetches WHERE job = :crawl",
            crawl=crawl,
        )
        assert counts is not None
        done = bool(row.get("terminal_kind"))
        next_in = None
        if counts["ended"] and not done:
            age = time.time() - counts["ended"].timestamp()
            next_in = max(0.0, self._profile.pace.crawl.delay - age)
        phase = row.get("terminal_kind") or ("crawling" if counts["sent"] else "starting")
        return Snapshot(self._host, phase, counts["pages"], counts["known"], counts["sent"], next_in, done)

    def _report(self, row: dict[str, Any], seconds: float) -> int:
        entries = self._site.entries()
        stored = self._row(STORED, crawl=row["crawl"])
        assert stored is not None
        audit = {name: row[name] for name in AUDIT}
        summary = Summary(
            self._host, row["terminal_kind"], stored["pages"], stored["pairs"], seconds,
            log.requests_by_kind(entries), log.smallest_gap(entries), self._profile.pace.crawl.delay, audit,
        )  # fmt: skip
        show(summary, self._console)
        self._engine.dispose()
        return 0 if summary.paced and row["terminal_kind"] == "completed" else 1


AUDIT = (
    "crawl", "host", "account", "requester", "requested_by", "requested_at", "accepted", "verified", "proof",
    "verified_at", "bot", "robots", "terminal_kind", "terminal_reason", "pages", "pairs", "outcomes",
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
