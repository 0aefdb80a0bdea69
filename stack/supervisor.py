"""A whole stack in the foreground: broker, database, schema, topics, workers, sink, in this order.

Everything is a child of this process and dies with it. What is not configured is embedded: without `kafka` in
the settings a Tansu is started, without `database_url` a PostgreSQL, both in the data folder. Workers are
given no database: they write to the broker alone.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from models.settings import Settings
from models.stack_file import StackFile
from stack.child import Child
from stack.errors import StackError
from stack.folder import Folder
from stack.kept import kept_rows
from stack.net import LOOPBACK, free_port
from stack.obituaries import Obituaries
from stack.postgres import Postgres
from stack.process import Process, Say, print_line, run
from stack.restore import restore_when_up_to_date
from stack.tansu import Tansu
from stack.topics_admin import apply

ROOT = Path(__file__).resolve().parent.parent
APP = (sys.executable, "-m", "app")
ROLE = (sys.executable, "-m", "agents.start")
"""A worker or a sink without the command line, whose imports take longer than the rest of a restart."""
BEAT = 0.1
WORKER_GRACE, SINK_GRACE, BROKER_GRACE, DATABASE_GRACE = 5.0, 2.0, 1.0, 1.5  # Ctrl-C ends all within 10 s
MEMORY = "licet-worker-sites-changelog"
STARTS_WITHOUT = (
    "this folder was used before, and the embedded broker keeps nothing over a restart. Crawls that were running and"
    " messages and facts that were waiting are gone."
)


class Supervisor:
    """One stack. `start` returns when everything is ready; `wait` until it fails; `stop` ends it in order.

    The commands can be replaced, so that a demo or a test brings its own worker; an empty one is left out.
    """

    def __init__(  # noqa: PLR0913 - parts that a demo or a test replaces, by keyword
        self,
        data: Path,
        *,
        settings: Settings | None = None,
        workers: int = 1,
        worker_command: Sequence[str] = (*ROLE, "worker"),
        sink_command: Sequence[str] = (*ROLE, "sink"),
        migrate_command: Sequence[str] = (*APP, "migrate"),
        environ: Mapping[str, str] | None = None,
        say: Say = print_line,
        patience: float = 90.0,
    ) -> None:
        self.folder = Folder(data)
        self.settings = settings or Settings(data=data)
        self.workers = workers if worker_command else 0
        self.commands = {"worker": worker_command, "sink": sink_command, "migrate": migrate_command}
        self.environ = dict(os.environ if environ is None else environ)
        self.say = say
        self.patience = patience
        self.tansu: Tansu | None = None
        self.postgres: Postgres | None = None
        self.children: list[Child] = []
        self.stack: StackFile | None = None
        self._obituaries: Obituaries | None = None
        self._watcher: asyncio.Task[None] | None = None

    async def start(self) -> StackFile:
        """Bring everything up; when any of it fails, everything is stopped again."""
        began = time.monotonic()
        self.folder.lock()
        try:
            await self._servers()
            await self._schema_and_topics()
            self._spawn_children()
            await self._until_ready()
        except BaseException:
            await self.stop()
            raise
        self._watcher = asyncio.create_task(self._watch())
        names = ", ".join(child.name for child in self.children) or "no workers"
        self.say("licet", f"ready after {time.monotonic() - began:.1f} s: {names}. Ctrl-C stops everything.")
        return self._file()

    async def wait(self) -> None:
        """Until the stack cannot go on, which is a `StackError`."""
        if self._watcher is not None:
            await self._watcher

    async def stop(self) -> None:
        """Workers, sink, broker, database, within 10 s; what does not leave in time is ended."""
        if self._watcher is not None:
            self._watcher.cancel()
            with suppress(asyncio.CancelledError, StackError):
                await self._watcher
            self._watcher = None
        workers = [child for child in self.children if child.name != "sink"]
        await asyncio.gather(*(child.stop(WORKER_GRACE) for child in workers))
        await asyncio.gather(*(c.stop(SINK_GRACE) for c in self.children if c not in workers))
        if self._obituaries is not None:
            await self._obituaries.close()
        if self.tansu is not None:
            await self.tansu.stop(BROKER_GRACE)
        if self.postgres is not None:
            await self.postgres.stop(DATABASE_GRACE)
        self.folder.release()

    def process(self, name: str) -> Process:
        """The process of this name, for whoever wants to stop, freeze or kill it."""
        found = {child.name: child.process for child in self.children}
        if self.tansu is not None and self.tansu.process is not None:
            found["broker"] = self.tansu.process
        if self.postgres is not None and self.postgres.process is not None:
            found["database"] = self.postgres.process
        return found[name]

    async def _servers(self) -> None:
        data = self.folder.path
        starting = []
        if self.settings.kafka is None:
            self.tansu = Tansu(data)
            starting.append(self.tansu.start())
        if self.settings.database_url is None:
            self.postgres = Postgres(data)
            starting.append(self.postgres.start())
        results = await asyncio.gather(*starting, return_exceptions=True)  # none may go on unseen
        for result in results:
            if isinstance(result, BaseException):
                raise result
        url = self.settings.require_database() if self.postgres is None else self.postgres.url()
        self.stack = StackFile(
            kafka=self.settings.require_kafka() if self.tansu is None else self.tansu.bootstrap,
            broker_kind=self.settings.broker_kind if self.tansu is None else "tansu",
            database_url=url,
            token_key_file=str((self.settings.token_key_file or self.folder.token_key()).resolve()),
            bot=self.settings.bot,
        )
        whose = {True: "embedded", False: "yours"}
        self.say("licet", f"broker {self.stack.kafka} ({whose[self.tansu is not None]} {self.stack.broker_kind})")
        self.say("licet", f"database ({whose[self.postgres is not None]}), data folder {data}")

    async def _schema_and_topics(self) -> None:
        stack = self._file()
        if self.commands["migrate"]:
            process = Process("migrate", self.commands["migrate"], self.say, env=self._environment(database=True))
            if await run(process, self.patience) != 0:
                raise StackError(f"The database could not be brought up to date (exit code {process.exit_code}).")
        changes = await apply(stack.kafka, replication=self.settings.replication)
        created = [change for change in changes if ": created" in change]
        for change in changes:
            if change not in created:
                self.say("topics", change)
        self.say("topics", f"{len(created)} created" if created else "all as topics.yaml has them")
        if self.tansu is not None and self.folder.used_with_embedded_broker():
            self.say("licet", f"{STARTS_WITHOUT} PostgreSQL still has: {await kept_rows(stack.database_url)}.")
        if any(MEMORY in change for change in created):
            await self._restore(stack)

    async def _restore(self, stack: StackFile) -> None:
        """A03: the memory is new, so what the database knows is put into it before any worker starts."""
        try:
            sites = await restore_when_up_to_date(stack.kafka, stack.database_url)
        except StackError as error:
            self.say("licet", f"no request is made until `licet restore` has run: {error}")
        else:
            self.say("licet", f"memory: {sites} sites put back from the database")

    def _spawn_children(self) -> None:
        roles = [(f"worker-{n + 1}", "worker") for n in range(self.workers)]
        if self.commands["sink"]:
            roles.append(("sink", "sink"))
        stack = self._file()
        self._obituaries = Obituaries(stack.kafka, stack.broker_kind, self.say)
        for name, role in roles:
            port = free_port()
            env = self._environment(database=role == "sink") | {
                "LICET_WORKER_NAME": name,
                "LICET_METRICS_HOST": LOOPBACK,
                "LICET_METRICS_PORT": str(port),
            }
            child = Child(name, self.commands[role], env, port, self.say, silence=self.settings.silence)
            if role == "worker":
                child.with_spare = tuple(self.commands[role][: len(ROLE)]) == ROLE
                child.gone = self._obituaries.publish
            self.children.append(child)
            child.spawn()
        self._write()

    def _environment(self, *, database: bool) -> dict[str, str]:
        """What a child is told; it wins over any file that the child reads too."""
        stack = self._file()
        env = {key: value for key, value in self.environ.items() if key != "LICET_DATABASE_URL"}
        env |= {
            "LICET_KAFKA": stack.kafka,
            "LICET_BROKER_KIND": stack.broker_kind,
            "LICET_TOKEN_KEY_FILE": stack.token_key_file,
            "LICET_BOT": stack.bot,
            "LICET_DATA": str(self.folder.path),
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH")))),
            "PYTHONUNBUFFERED": "1",
        }
        if stack.broker_kind == "tansu" and "session_timeout" not in self.settings.model_fields_set:
            env |= {"LICET_SESSION_TIMEOUT": "6", "LICET_HEARTBEAT_INTERVAL": "1"}  # a join takes half of it
        if database:
            env["LICET_DATABASE_URL"] = stack.database_url
        return env

    async def _until_ready(self) -> None:
        deadline = time.monotonic() + self.patience
        while late := [child.name for child in self.children if not child.ready]:
            if time.monotonic() > deadline:
                raise StackError(f"{', '.join(late)} not ready after {self.patience:g} seconds.")
            await self._beat()
            await asyncio.sleep(BEAT)

    async def _watch(self) -> None:
        while True:
            await self._beat()
            await asyncio.sleep(BEAT)

    async def _beat(self) -> None:
        """Start again what has died; an embedded broker that has is the end."""
        if self.tansu is not None and not self.tansu.alive:
            raise StackError("The embedded broker has ended, and all that it held is gone: start the stack again.")
        if self.postgres is not None and not self.postgres.alive:
            await self._revive(self.postgres)
        if any(await asyncio.gather(*(child.step() for child in self.children))):
            self._write()

    async def _revive(self, database: Postgres) -> None:
        """Start the database again on its data; sessions of the dead one may hold on to it for a moment."""
        self.say("licet", "the database has ended; it is started again")
        for pause in (0.5, 2.0, None):
            try:
                await database.start()
                break
            except StackError:
                if pause is None:
                    raise
                await asyncio.sleep(pause)
        self._write()
        self.say("licet", "the database is back")

    def _write(self) -> None:
        """Tell the other commands what runs where."""
        stack = self._file()
        stack.pids.clear()
        for server in (self.tansu, self.postgres):
            stack.pids.update({} if server is None else server.pids)
        stack.pids.update({child.name: child.process.pid for child in self.children})
        stack.ports.update({child.name: child.port for child in self.children})
        stack.write(self.folder.path)

    def _file(self) -> StackFile:
        if self.stack is None:
            raise StackError("The stack has not been started.")
        return self.stack

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
