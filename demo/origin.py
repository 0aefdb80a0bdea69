"""An HTTPS origin on loopback, for trying Licet out and for its tests.

It has a certificate authority of its own and a free port. Nothing in the production commands can be made to
trust that authority or to connect to loopback (A02): who uses this origin hands both in by an entry point of
its own.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import trustme
from aiohttp import web

from demo import build, log
from demo.resources import Finder, Resource, media_type

TOKEN_PATH: Final = "/.well-known/ema-site-verification.txt"  # E09
_READING: Final = frozenset({"GET", "HEAD"})
_PIECE: Final = 16_384


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    headers: dict[str, str]
    body: bytes = b""


class Origin:
    """Serves what `find` finds, under all the `hosts`, on 127.0.0.1 and a free port.

    The first host is the site; the others (such as `www.`) are redirected to it, unless `alike` says that all
    answer alike. Requests are logged to `folder/origin.jsonl`; the authority stands in `folder/ca.pem`.
    """

    def __init__(self, folder: Path, find: Finder, hosts: Sequence[str], *, alike: bool = False) -> None:
        self.hosts = tuple(hosts)
        self.log_file = folder / "origin.jsonl"
        self.ca_file = folder / "ca.pem"
        self.port = 0
        self._find = find
        self._alike = alike
        self._placed: dict[str, Resource] = {}
        self._runner: web.ServerRunner | None = None

    async def start(self) -> None:
        """Makes the authority and the certificate, and listens; `port` and `ca_file` hold from here on."""
        self.ca_file.parent.mkdir(parents=True, exist_ok=True)
        runner = web.ServerRunner(web.Server(self._answer, access_log=None), shutdown_timeout=1.0)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._certified()).start()
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Closes the port and every connection; a second stop does nothing."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    def place(self, path: str, resource: Resource | None) -> None:
        """Puts something at a path while the origin runs; None takes away what was placed there."""
        if resource is None:
            self._placed.pop(path, None)
        else:
            self._placed[path] = resource

    def place_token(self, text: str) -> None:
        """Puts the proof of ownership where E09 looks for it."""
        self.place(TOKEN_PATH, Resource(text.encode(), media_type(TOKEN_PATH)))

    def entries(self) -> list[log.Entry]:
        """What has been asked for so far, in order of arrival."""
        return log.read(self.log_file)

    def _certified(self) -> ssl.SSLContext:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca_file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*self.hosts).configure_cert(context)
        return context

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        arrived, status, reply = time.monotonic(), 0, self._reply(request)
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        body = b"" if request.method == "HEAD" else reply.body
        try:
            await response.prepare(request)
            if await _sent(response, body, request):
                status = reply.status
        except ConnectionError:
            response.force_close()
        finally:
            self._record(request, status, arrived, len(body))
        return response

    def _record(self, request: web.BaseRequest, status: int, arrived: float, size: int) -> None:
        agent = request.headers.get("User-Agent", "")
        asked = (_name(request.host), request.method, request.path, request.query_string)
        log.write(self.log_file, log.Entry(*asked, status, agent, arrived, time.monotonic(), size))

    def _reply(self, request: web.BaseRequest) -> _Reply:
        host = _name(request.host)
        if host not in self.hosts:
            return _plain(421, "This server does not speak for that name.")  # RFC 9110 15.5.20
        if request.method not in _READING:
            return _plain(405, "Only GET and HEAD.", {"Allow": "GET, HEAD"})  # RFC 9110 15.5.6
        if host != self.hosts[0] and not self._alike:
            _, colon, port = request.host.partition(":")
            return _moved(f"https://{self.hosts[0]}{colon}{port}{request.raw_path}")
        found = self._placed.get(request.path) or self._find(request.path)
        return _shown(request, found) if found else _plain(404, "Pagina non trovata. Page not found.")


class SampleSite(Origin):
    """The bundled shop (`demo/site`) as an origin: `bottega.example`, with `www.` redirected to it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, build.finder(), (build.HOST, "www." + build.HOST))


async def _sent(response: web.StreamResponse, body: bytes, request: web.BaseRequest) -> bool:
    """Sends the body in pieces, and waits until they have left; False when the client went away before.

    Written at once, 2.5 MB would stand in our own buffers while the request already counted as ended
    (measured), and the gap to the next one would look longer than it was. Now at most some 64 KB do.
    """
    for start in range(0, len(body), _PIECE):
        await response.write(body[start : start + _PIECE])
        if not await _flushed(request.transport):
            return False
    await response.write_eof()
    await _flushed(request.transport)  # whoever hangs up now may have all of it already: that is no fault
    return True


async def _flushed(transport: asyncio.Transport | None) -> bool:
    while transport is not None and not transport.is_closing():
        if not transport.get_write_buffer_size():
            return True
        await asyncio.sleep(0.001)
    return False


def _name(host: str) -> str:
    return host.partition(":")[0].lower()


def _shown(request: web.BaseRequest, found: Resource) -> _Reply:
    if found.location:
        return _moved(found.location)
    if request.headers.get("If-None-Match") == found.etag:
        return _Reply(304, {"ETag": found.etag})  # RFC 9110 13.1.2
    headers = {"Content-Type": found.media_type, "ETag": found.etag, "Content-Length": str(len(found.body))}
    return _Reply(found.status, headers, found.body)


def _moved(location: str) -> _Reply:
    return _plain(301, "Moved.", {"Location": location})


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> _Reply:
    body = text.encode()
    told = {"Content-Type": media_type("answer.txt"), "Content-Length": str(len(body))}
    return _Reply(status, told | (headers or {}), body)
