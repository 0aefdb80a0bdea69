"""What is sent, on which connection, and what a server may not do with a connection that it has."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from crawler.fetch import client
from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from models.web import Outcome, Response
from tests.fetch.witness import measured, request, until
from tests.support.origin import Answer, Asked, Origin, Raw, gaps, overlaps

PAGE = b"<html>page</html>"
HTML = {"Content-Type": "text/html"}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n"


class Site:
    """An origin and a fetcher that knows the way to it; `says` may be changed by a test."""

    def __init__(self) -> None:
        self.says: Callable[[Asked], Answer | Raw | Awaitable[Answer | Raw]] = lambda _: (200, HTML, PAGE)
        self.origin = Origin(self._answer)
        self.fetcher: Fetcher

    def _answer(self, asked: Asked) -> Answer | Raw | Awaitable[Answer | Raw]:
        return self.says(asked)

    async def get(self, path: str = "/", **changes: object) -> Response:
        return await self.fetcher.fetch(request(f"https://shop.example{path}", **changes))


@pytest_asyncio.fixture
async def site() -> AsyncIterator[Site]:
    made = Site()
    async with made.origin as origin:
        names = origin.routes("shop.example", "www.shop.example")
        made.fetcher = Fetcher(Network(routes=names, ca=origin.trust))
        yield made
        await made.fetcher.close()


async def test_E01_E03_only_the_request_s_headers_and_host_are_sent(site: Site) -> None:
    await site.get("/a%2Fb~%7E|c?x=1")
    await site.get("/", method="HEAD", headers=())
    assert [one.head.split("\r\n") for one in site.origin.asked] == [
        [
            "GET /a%2Fb~%7E|c?x=1 HTTP/1.1",
            "Host: shop.example",
            "User-Agent: EmaIngestBot/1.0",
            "Accept-Encoding: gzip, deflate",
        ],
        ["HEAD / HTTP/1.1", "Host: shop.example"],
    ]


async def test_E03_cookies_are_never_kept_nor_sent(site: Site) -> None:
    site.says = lambda _: (200, HTML | {"Set-Cookie": "sid=1; Path=/; Domain=shop.example"}, PAGE)
    await site.get()
    await site.get()
    assert all(one.header("cookie") is None for one in site.origin.asked)


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "PUT", "CONNECT", "get", "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"])
async def test_E03_nothing_but_get_and_head_leaves(site: Site, method: str) -> None:
    assert (await site.get(method=method)).outcome is Outcome.REFUSED_ADDRESS
    assert site.origin.connections == 0


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nX: y", "a\0b"])
async def test_F76_a_header_cannot_be_smuggled(site: Site, value: str) -> None:
    response = await site.get(headers=(("User-Agent", value),))
    assert response.outcome is Outcome.PROTOCOL
    assert site.origin.asked == []


async def test_E20_a_redirect_is_an_answer_and_never_followed(site: Site) -> None:
    site.says = lambda _: (302, {"Location": "https://www.shop.example/next"}, b"")
    response = await site.get()
    assert (response.outcome, response.header("location")) == (
        Outcome.REDIRECTED,
        "https://www.shop.example/next",
    )
    assert len(site.origin.asked) == 1


async def test_W09_304_is_not_modified_only_to_a_conditional_get(site: Site) -> None:
    site.says = lambda _: (304, {"ETag": '"x"'}, b"")
    asked = (("If-None-Match", '"x"'),)
    assert (await site.get(headers=asked)).outcome is Outcome.NOT_MODIFIED
    assert (await site.get()).outcome is Outcome.HTTP_OTHER


async def test_a_site_s_requests_share_a_connection_within_a_job(site: Site) -> None:
    for path in ("/", "/p/1", "/p/2"):
        assert (await site.get(path)).outcome is Outcome.OK
    assert site.origin.connections == 1
    assert overlaps(site.origin.asked) == []
    assert len(gaps(site.origin.asked)["shop.example"]) == 2


async def test_a_forgotten_connection_is_not_used_again(site: Site) -> None:
    await site.get()
    site.fetcher.forget_connections()
    await site.get()
    assert site.origin.connections == 2


async def test_a_connection_in_use_is_finished_and_then_forgotten(site: Site) -> None:
    go = asyncio.Event()

    async def slowly(_: Asked) -> Answer:
        await go.wait()
        return 200, HTML, PAGE

    site.says = slowly
    asked = asyncio.create_task(site.get())
    await until(lambda: bool(site.origin.asked))
    site.fetcher.forget_connections()
    go.set()
    assert (await asked).outcome is Outcome.OK
    await site.get()
    assert site.origin.connections == 2


async def test_an_abandoned_answer_gives_its_connection_up_at_once(site: Site) -> None:
    async def never(_: Asked) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    site.says = never
    assert (await site.get(timeout=0.1)).outcome is Outcome.TIMEOUT
    await until(lambda: site.origin.asked[0].ended is not None)
    assert site.origin.asked[0].abandoned
    assert ((site.origin.asked[0].ended or 0) - site.origin.asked[0].arrived) / 1e9 < 0.5


async def test_cancelling_is_the_only_exception_and_closes_the_connection(site: Site) -> None:
    async def never(_: Asked) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    site.says = never
    asked = asyncio.create_task(site.get(timeout=30))
    await until(lambda: bool(site.origin.asked))
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await until(lambda: site.origin.asked[0].ended is not None)
    assert site.origin.asked[0].abandoned


async def test_A01_a_broken_kept_connection_is_never_a_second_request(site: Site) -> None:
    async def cut(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    site.says = lambda asked: (200, HTML, PAGE) if asked.id == 1 else Raw(cut)
    assert (await site.get("/first")).outcome is Outcome.OK
    response = await site.get("/second")
    assert (response.outcome, response.status) == (Outcome.CONNECT, None)
    assert [one.target for one in site.origin.asked] == ["/first", "/second"]


def then_unasked(more: bytes, times: int = 1) -> Raw:
    """Answer, keep the connection, and speak again without being asked."""

    async def play(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER + b"hi")
        await writer.drain()
        await asyncio.sleep(0.05)
        for _ in range(times):
            writer.write(more)
            await writer.drain()
        await asyncio.sleep(0.2)

    return Raw(play)


@pytest.mark.parametrize("more", [ANSWER + b"no", b"garbage", b"\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n"])
async def test_an_answer_that_nobody_asked_for_is_not_the_next_one(site: Site, more: bytes) -> None:
    site.says = lambda asked: then_unasked(more) if asked.id == 1 else (200, HTML, PAGE)
    assert (await site.get("/first")).body == b"hi"
    await asyncio.sleep(0.1)
    assert (await site.get("/second")).body == PAGE
    assert site.origin.connections == 2


async def test_two_answers_at_once_spoil_the_connection_not_the_next_page(site: Site) -> None:
    async def twice(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER + b"hi" + ANSWER + b"no")
        await asyncio.sleep(0.2)

    site.says = lambda asked: Raw(twice) if asked.id == 1 else (200, HTML, PAGE)
    assert (await site.get("/first")).body == b"hi"
    assert (await site.get("/second")).body == PAGE


async def test_a_second_answer_behind_a_split_body_spoils_only_the_connection(site: Site) -> None:
    async def split(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER + b"h")
        await asyncio.sleep(0.05)
        writer.write(b"i" + ANSWER + b"no")
        await asyncio.sleep(0.2)

    site.says = lambda asked: Raw(split) if asked.id == 1 else (200, HTML, PAGE)
    assert (await site.get("/first")).body == b"hi"
    assert (await site.get("/second")).body == PAGE


async def test_an_idle_connection_cannot_fill_our_memory(site: Site) -> None:
    site.says = lambda asked: then_unasked(ANSWER + b"no" + ANSWER * 0, 1) if asked.id > 1 else (200, HTML, PAGE)
    await site.get()
    site.says = lambda _: then_unasked((ANSWER + b"no") * 10_000, 100)
    response, cost = await measured(site.fetcher, request("https://shop.example/flood"))
    await asyncio.sleep(0.3)
    assert response.body == b"hi"
    assert cost.grown < 64 * 1024 * 1024


async def test_W11_requests_leave_from_the_configured_address(site: Site) -> None:
    names = site.origin.routes("shop.example")
    fetcher = Fetcher(Network(routes=names, ca=site.origin.trust, source_v4="127.0.0.9"))
    assert (await fetcher.fetch(request("https://shop.example/"))).outcome is Outcome.OK
    assert site.origin.asked[0].peer == "127.0.0.9"
    await fetcher.close()


async def test_W11_a_family_without_a_source_address_is_not_used(site: Site) -> None:
    names = site.origin.routes("shop.example")
    fetcher = Fetcher(Network(routes=names, ca=site.origin.trust, source_v6="::1"))
    assert (await fetcher.fetch(request("https://shop.example/"))).outcome is Outcome.CONNECT
    assert site.origin.connections == 0
    await fetcher.close()


async def test_an_idle_connection_is_not_used_after_its_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "KEEPALIVE", 0.02)
    await site.get()
    await asyncio.sleep(0.05)
    await site.get()
    assert site.origin.connections == 2


async def test_C11_never_more_than_four_requests_in_flight_to_a_host(site: Site) -> None:
    go, most = asyncio.Event(), 0

    async def hold(_: Asked) -> Answer:
        nonlocal most
        most = max(most, sum(one.ended is None for one in site.origin.asked))
        await go.wait()
        return 200, HTML, PAGE

    site.says = hold
    asked = [asyncio.create_task(site.get(f"/{n}", timeout=5)) for n in range(7)]
    await until(lambda: most == 4)
    await asyncio.sleep(0.05)
    go.set()
    assert {one.outcome for one in await asyncio.gather(*asked)} == {Outcome.OK}
    assert most == 4


async def test_W11_ipv6_with_its_own_source_address() -> None:
    async with Origin(address="::1") as origin:
        fetcher = Fetcher(Network(routes=origin.routes("shop.example"), ca=origin.trust, source_v6="::1"))
        assert (await fetcher.fetch(request("https://shop.example/"))).outcome is Outcome.OK
        assert origin.asked[0].peer == "::1"
        await fetcher.close()


def expected(status: int) -> Outcome:
    special = {429: Outcome.RATE_LIMITED, 503: Outcome.RATE_LIMITED}
    special |= dict.fromkeys((204, 205, 206), Outcome.HTTP_OTHER)
    usual = {2: Outcome.OK, 4: Outcome.HTTP_4XX, 5: Outcome.HTTP_5XX}
    return special.get(status, usual.get(status // 100, Outcome.HTTP_OTHER))


async def test_F67_every_status_has_one_outcome(site: Site) -> None:
    site.says = lambda asked: (int(asked.target[1:]), HTML, b"" if asked.target in {"/204", "/304"} else PAGE)
    for status in range(200, 1000):
        response = await site.get(f"/{status}", media_types=None)
        assert (response.status, response.outcome) == (status, expected(status))


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_E20_the_five_redirects(site: Site, status: int) -> None:
    site.says = lambda _: (status, {"Location": "/x"}, b"")
    assert (await site.get()).outcome is Outcome.REDIRECTED


def test_a_context_that_does_not_verify_is_refused() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    with pytest.raises(ValueError, match="does not verify"):
        Network(routes={"shop.example": ("127.0.0.1", 1)}, ca=context).tls()
