"""A real TLS origin on loopback that writes down what arrives: the witness of every politeness claim.

In-process::

    async with Origin(handler) as origin:
        network = Network(routes=origin.routes("shop.example"), ca=origin.ca_file)

As a process that no nemesis touches (prints one JSON line `{"port": .., "ca": ..}` when it is ready, ends on
SIGTERM, SIGINT or, with `--until-stdin-closes`, with its parent)::

    python -m tests.support.origin --handler tests.support.origin:page --folder /tmp/x

Any name is served: a certificate is made for the name that the client asks for (SNI). A handler gets an
`Asked` and returns `(status, headers, body)`, or a `Raw` that writes what it likes. It may be async.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import inspect
import itertools
import json
import os
import signal
import ssl
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import trustme

Headers = Mapping[str, str] | Iterable[tuple[str, str]]
Answer = tuple[int, Headers, bytes]


@dataclass(slots=True)
class Asked:
    """One request as it arrived, and when it was over (`time.monotonic_ns`).

    `ended` is when its last byte had been written or its connection was gone, whichever was first; None
    while it is open. `site` is the name without `www.`: two names of one site are one site (E06).
    """

    id: int
    connection: int
    name: str
    method: str
    target: str
    head: str
    arrived: int
    ended: int | None = None
    status: int | None = None
    sent: int = 0
    abandoned: bool = False
    peer: str = ""

    @property
    def site(self) -> str:
        """The politeness key."""
        return self.name.removeprefix("www.")

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The header lines in order, names as sent."""
        lines = self.head.split("\r\n")[1:]
        return [(key, value.strip()) for key, _, value in (line.partition(":") for line in lines if line)]

    def header(self, name: str) -> str | None:
        """One header's value, or None."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class Raw:
    """Full control of the connection: `play` writes whatever it wants; the connection is closed after it."""

    play: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


Handler = Callable[[Asked], "Answer | Raw | Awaitable[Answer | Raw]"]


def page(asked: Asked) -> Answer:
    """The default site: robots.txt allows all, each page links the next ten."""
    if asked.target == "/robots.txt":
        return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow:\n"
    if asked.target != "/" and not asked.target.startswith("/p/"):
        return 404, {"Content-Type": "text/html"}, b"<h1>no such page</h1>"
    number = int(asked.target.removeprefix("/p/") or 0) if asked.target.startswith("/p/") else 0
    links = "".join(f'<a href="/p/{n}">page {n}</a>\n' for n in range(number + 1, number + 11))
    body = f"<html><title>Page {number} of {asked.name}</title><p>Text of page {number}.</p>{links}</html>"
    return 200, {"Content-Type": "text/html; charset=utf-8"}, body.encode()


def render(answer: Answer, method: str) -> bytes:
    """An ordinary answer as bytes; Content-Length is added unless the handler set a length itself."""
    status, headers, body = answer
    lines = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    names = {key.lower() for key, _ in lines}
    if not names & {"content-length", "transfer-encoding"} and status not in {204, 304}:
        lines.append(("Content-Length", str(len(body))))
    head = "".join(f"{key}: {value}\r\n" for key, value in lines)
    return f"HTTP/1.1 {status} Origin\r\n{head}\r\n".encode("latin-1") + (b"" if method == "HEAD" else body)


@dataclass(slots=True)
class _Connection:
    number: int
    name: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    ahead: bytes = b""  # bytes that came while an answer was being written


@dataclass(slots=True)
class Origin:
    """The server. `asked` is its memory, `log` its JSONL file: a line at arrival, one at the end."""

    handler: Handler = page
    log: Path | None = None
    folder: Path | None = None
    address: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None  # a context of the test's own: a wrong or expired certificate
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    port: int = 0
    ca: trustme.CA = field(default_factory=trustme.CA)
    _contexts: dict[str, ssl.SSLContext] = field(default_factory=dict)
    _ids: Any = field(default_factory=lambda: itertools.count(1))
    _server: asyncio.Server | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _names: dict[int, str] = field(default_factory=dict)  # id of an SSL object -> the name it asked for
    _trusted: ssl.SSLContext | None = None

    @property
    def trust(self) -> ssl.SSLContext:
        """A client context that trusts this origin alone (for `Network.ca`)."""
        if self._trusted is None:
            self._trusted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            self.ca.configure_trust(self._trusted)
        return self._trusted

    @property
    def ca_file(self) -> Path:
        """The authority as a PEM file (for `Network.ca` in another process)."""
        folder = self.folder or Path(tempfile.mkdtemp(prefix="origin-"))
        self.folder = folder
        path = folder / "ca.pem"
        if not path.exists():
            self.ca.cert_pem.write_to_path(path)
        return path

    def routes(self, *names: str) -> dict[str, tuple[str, int]]:
        """What `Network.routes` needs for these names."""
        return dict.fromkeys(names, (self.address, self.port))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Listen on a free port."""
        self._server = await asyncio.start_server(
            self._serve, self.address, self.port, ssl=self.tls or self._context(), limit=1 << 20, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is not None:
            self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert("origin.test").configure_cert(context)
        context.sni_callback = self._on_name
        return context

    def _on_name(self, tls: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if not name:
            return
        if name not in self._contexts:
            self._contexts[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.ca.issue_cert(name).configure_cert(self._contexts[name])
        tls.context = self._contexts[name]
        self._names[id(tls)] = name

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        name = self._names.pop(id(writer.get_extra_info("ssl_object")), "")
        connection = _Connection(self.connections, name, reader, writer)
        try:
            while await self._one(connection):
                pass
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # the client's right
        except asyncio.CancelledError:
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _one(self, connection: _Connection) -> bool:
        """One request and its answer; True when the connection may carry another."""
        asked = await self._arrival(connection)
        reader, writer = connection.reader, connection.writer
        answering = asyncio.ensure_future(self._answer(asked, reader, writer))
        watching = asyncio.ensure_future(reader.read(65536))
        try:
            await asyncio.wait({answering, watching}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done() and (watching.exception() or not watching.result()):
                asked.abandoned = True
                return False
            keep = await answering
            if watching.done():
                connection.ahead = watching.result()
            return keep and not (watching.done() and not connection.ahead)
        finally:
            self._over(asked)
            for task in (answering, watching):
                task.cancel()
            await asyncio.gather(answering, watching, return_exceptions=True)

    async def _arrival(self, connection: _Connection) -> Asked:
        first = connection.ahead or await connection.reader.readexactly(1)
        arrived, connection.ahead = time.monotonic_ns(), b""
        while b"\r\n\r\n" not in first:
            more = await connection.reader.read(65536)
            if not more:
                raise ConnectionResetError
            first += more
        head = first.partition(b"\r\n\r\n")[0].decode("latin-1")
        method, _, rest = head.partition("\r\n")[0].partition(" ")
        asked = Asked(
            next(self._ids),
            connection.number,
            connection.name,
            method,
            rest.rpartition(" ")[0],
            head,
            arrived,
        )
        asked.name = asked.name or (asked.header("host") or "")
        asked.peer = str(connection.writer.get_extra_info("peername")[0])
        self.asked.append(asked)
        self._write({"event": "arrived", **asdict(asked)})
        return asked

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        try:
            answer = self.handler(asked)
            result = await answer if inspect.isawaitable(answer) else answer
        except Exception as error:  # noqa: BLE001 - a broken handler is an answer that the test will see
            result = (500, {"Content-Type": "text/plain"}, repr(error).encode())
        if isinstance(result, Raw):
            await result.play(reader, _Counting(writer, asked))  # type: ignore[arg-type]
            return False
        asked.status = result[0]
        data = render(result, asked.method)
        writer.write(data)
        asked.sent += len(data)
        await writer.drain()
        self._over(asked)
        return "connection: close" not in asked.head.lower()

    def _over(self, asked: Asked) -> None:
        if asked.ended is None:
            asked.ended = time.monotonic_ns()
            self._write({"event": "ended", **asdict(asked)})

    def _write(self, line: dict[str, Any]) -> None:
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


class _Counting:
    """A writer that counts what a raw answer sent; everything else is the writer's."""

    def __init__(self, writer: asyncio.StreamWriter, asked: Asked) -> None:
        self._writer, self._asked = writer, asked

    def write(self, data: bytes) -> None:
        self._asked.sent += len(data)
        self._writer.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


def read_log(path: Path) -> list[Asked]:
    """The requests in a JSONL log; one that never ended keeps `ended=None`."""
    found: dict[int, Asked] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        entry.pop("event")
        found[entry["id"]] = Asked(**entry)
    return list(found.values())


def by_site(log: Iterable[Asked]) -> dict[str, list[Asked]]:
    """The requests of each site in the order of their arrival."""
    sites: dict[str, list[Asked]] = {}
    for asked in sorted(log, key=lambda one: one.arrived):
        sites.setdefault(asked.site, []).append(asked)
    return sites


def overlaps(log: Iterable[Asked]) -> list[tuple[Asked, Asked]]:
    """Pairs of requests to one site of which the second arrived before the first was over (E16, W04)."""
    pairs: list[tuple[Asked, Asked]] = []
    for requests in by_site(log).values():
        open_: list[Asked] = []
        for asked in requests:
            open_ = [one for one in open_ if one.ended is None or one.ended > asked.arrived]
            pairs += [(one, asked) for one in open_]
            open_.append(asked)
    return pairs


def gaps(log: Iterable[Asked]) -> dict[str, list[float]]:
    """Seconds from the end of the latest request before to each arrival, per site; negative in an overlap."""
    found: dict[str, list[float]] = {}
    for site, requests in by_site(log).items():
        found[site] = []
        last: float | None = None
        for asked in requests:
            if last is not None:
                found[site].append((asked.arrived - last) / 1e9)
            ended = float("inf") if asked.ended is None else asked.ended
            last = ended if last is None else max(last, ended)
    return found


def _load(spec: str) -> Handler:
    module, _, name = spec.partition(":")
    handler: Handler = getattr(importlib.import_module(module), name)
    return handler


def _build(options: argparse.Namespace) -> Origin:
    settings: dict[str, Any] = json.loads(Path(options.config).read_text("utf-8")) if options.config else {}
    settings |= {key: value for key, value in vars(options).items() if value is not None}
    folder = Path(settings.get("folder") or tempfile.mkdtemp(prefix="origin-"))
    folder.mkdir(parents=True, exist_ok=True)
    log = Path(settings.get("log") or folder / "origin.jsonl")
    handler = _load(settings.get("handler") or "tests.support.origin:page")
    return Origin(handler, log, folder, port=int(settings.get("port") or 0))


async def _run(origin: Origin, until_stdin_closes: bool) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if until_stdin_closes:
        loop.add_reader(0, lambda: None if os.read(0, 1) else stop.set())
    async with origin:
        ready = {"port": origin.port, "ca": str(origin.ca_file), "log": str(origin.log)}
        sys.stdout.write(json.dumps(ready) + "\n")
        sys.stdout.flush()
        await stop.wait()


def main() -> None:
    """Run an origin as a process of its own."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", help="a JSON file with the options below")
    parser.add_argument("--handler", help="module:function; default tests.support.origin:page")
    parser.add_argument("--log", help="JSONL file to append to")
    parser.add_argument("--folder", help="where ca.pem goes")
    parser.add_argument("--port", type=int)
    parser.add_argument("--until-stdin-closes", action="store_true")
    with contextlib.suppress(KeyboardInterrupt):
        options = parser.parse_args()
        asyncio.run(_run(_build(options), options.until_stdin_closes))


if __name__ == "__main__":
    # Handlers import this module by its name; run as `__main__` it would be a second one with other classes.
    importlib.import_module("tests.support.origin").main()
