"""F58, F66: certificates are always verified, a handshake is part of the deadline, ports may be closed."""

from __future__ import annotations

import asyncio
import datetime as dt
import socket
import ssl
from collections.abc import Awaitable, Callable

import pytest
import trustme

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from models.web import Outcome, Response
from tests.fetch.witness import measured, request
from tests.support.origin import Origin


def server(ca: trustme.CA, *names: str, **options: object) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert(*names, **options).configure_cert(context)  # type: ignore[arg-type]
    return context


async def ask(network: Network, patience: float = 5) -> Response:
    fetcher = Fetcher(network)
    response, cost = await measured(fetcher, request("https://shop.example/", timeout=patience))
    await fetcher.close()
    assert cost.took <= patience + 1
    assert cost.held <= 0.25
    assert cost.grown <= 64 * 1024 * 1024
    return response


def expired(ca: trustme.CA) -> ssl.SSLContext:
    return server(ca, "shop.example", not_after=dt.datetime.now(dt.UTC) - dt.timedelta(days=1))


def other_name(ca: trustme.CA) -> ssl.SSLContext:
    return server(ca, "other.example")


def subdomain_only(ca: trustme.CA) -> ssl.SSLContext:
    return server(ca, "*.shop.example")


def unknown_authority(_: trustme.CA) -> ssl.SSLContext:
    return server(trustme.CA(), "shop.example")


def no_name(ca: trustme.CA) -> ssl.SSLContext:
    return server(ca, "127.0.0.1")


def old_version(ca: trustme.CA) -> ssl.SSLContext:
    context = server(ca, "shop.example")
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    return context


def wants_our_certificate(ca: trustme.CA) -> ssl.SSLContext:
    context = server(ca, "shop.example")
    context.verify_mode = ssl.CERT_REQUIRED
    return context


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "make",
    [expired, other_name, subdomain_only, unknown_authority, no_name, old_version, wants_our_certificate],
)
async def test_F58_a_bad_certificate_or_version_gets_no_request(
    make: Callable[[trustme.CA], ssl.SSLContext],
) -> None:
    ca = trustme.CA()
    async with Origin(tls=make(ca), ca=ca) as origin:
        response = await ask(Network(routes=origin.routes("shop.example"), ca=origin.trust))
        broken_off = {Outcome.CONNECT} if make in {old_version, wants_our_certificate} else set()
        assert response.outcome in {Outcome.TLS} | broken_off, response.detail
        assert origin.asked == []


Play = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def silence(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
    await asyncio.sleep(5)


async def garbage(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 mail.example ESMTP\r\n" * 100)
    await asyncio.sleep(5)


async def endless_garbage(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"\x16\x03\x03\x40\x00" + b"\0" * 16384)
        await writer.drain()


async def plain_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.write(b"HTTP/1.1 400 plain HTTP request sent to TLS port\r\n\r\n")
    await asyncio.sleep(5)


async def goodbye(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(100)
    writer.close()


async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for byte in b"\x16\x03\x03\x40\x00" + b"\0" * 100:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.05)


@pytest.mark.parametrize(
    ("play", "expected"),
    [
        (silence, {Outcome.TIMEOUT}),
        (garbage, {Outcome.TLS}),
        (endless_garbage, {Outcome.TLS, Outcome.TIMEOUT}),
        (plain_http, {Outcome.TLS}),
        (goodbye, {Outcome.CONNECT, Outcome.TLS}),
        (drip, {Outcome.TIMEOUT, Outcome.TLS}),
    ],
)
async def test_F58_F66_a_handshake_that_goes_wrong_ends_in_time(play: Play, expected: set[Outcome]) -> None:
    tasks: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        try:
            await play(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    place = listening.sockets[0].getsockname()
    try:
        patience = 0.8 if Outcome.TIMEOUT in expected else 5
        response = await ask(Network(routes={"shop.example": (place[0], place[1])}), patience)
        assert response.outcome in expected, response.detail
    finally:
        for task in tasks:
            if task is not None:
                task.cancel()
        listening.close()


async def test_F66_a_closed_port_is_a_connect_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert (await ask(Network(routes={"shop.example": ("127.0.0.1", port)}))).outcome is Outcome.CONNECT


async def test_F66_a_port_that_accepts_nobody_ends_at_the_deadline() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        crowd = [socket.socket() for _ in range(4)]
        for one in crowd:
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        response = await ask(Network(routes={"shop.example": full.getsockname()}), 0.5)
        assert response.outcome is Outcome.TIMEOUT
        for one in crowd:
            one.close()
