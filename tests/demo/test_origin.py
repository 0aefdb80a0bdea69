"""The origin speaks HTTP as a good web server does, over TLS that has to be trusted by hand."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from multidict import CIMultiDictProxy

from demo.origin import TOKEN_PATH, Origin, SampleSite
from demo.resources import Resource, folder

HOST = "bottega.example"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[SampleSite]:
    async with SampleSite(tmp_path / "origin") as started:
        yield started


@pytest.fixture
async def client(site: SampleSite) -> AsyncIterator[aiohttp.ClientSession]:
    context = ssl.create_default_context(cafile=str(site.ca_file))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:
        yield session


async def ask(
    client: aiohttp.ClientSession,
    site: Origin,
    path: str,
    method: str = "GET",
    host: str = HOST,
    **headers: str,
) -> tuple[int, CIMultiDictProxy[str], bytes]:
    async with client.request(
        method,
        f"https://127.0.0.1:{site.port}{path}",
        headers={"Host": host, **headers},
        server_hostname=host,
        allow_redirects=False,
    ) as response:
        return response.status, response.headers, await response.read()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/robots.txt", "text/plain; charset=utf-8"),
        ("/sitemap.xml", "application/xml; charset=utf-8"),
        ("/listino-2025.pdf", "application/pdf"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/img/pumo.svg", "image/svg+xml"),
        ("/prodotti/?ordina=prezzo", "text/html; charset=utf-8"),
    ],
)
async def test_each_kind_of_file_has_its_type(
    site: SampleSite, client: aiohttp.ClientSession, path: str, kind: str
) -> None:
    status, headers, body = await ask(client, site, path)
    assert (status, headers["Content-Type"], int(headers["Content-Length"])) == (200, kind, len(body))


async def test_redirects_misses_and_refusals(site: SampleSite, client: aiohttp.ClientSession) -> None:
    status, headers, _ = await ask(client, site, "/spedizioni/")
    assert (status, headers["Location"]) == (301, "/spedizioni-e-resi/")
    assert (await ask(client, site, "/notizie/mercatino-2022/"))[0] == 404
    status, headers, _ = await ask(client, site, "/", method="POST")
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


async def test_head_is_get_without_the_body(site: SampleSite, client: aiohttp.ClientSession) -> None:
    get, head = await ask(client, site, "/"), await ask(client, site, "/", method="HEAD")
    assert head[2] == b""
    assert (get[0], get[1]["Content-Length"]) == (head[0], head[1]["Content-Length"])


async def test_www_is_redirected_and_other_names_are_sent_away(site: SampleSite) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as client:
        status, headers, _ = await ask(client, site, "/contatti/?a=%20b", host="WWW.bottega.example:443")
        assert (status, headers["Location"]) == (301, "https://bottega.example:443/contatti/?a=%20b")
        assert (await ask(client, site, "/", host="elsewhere.example"))[0] == 421


async def test_an_unchanged_page_is_a_304(site: SampleSite, client: aiohttp.ClientSession) -> None:
    _, headers, _ = await ask(client, site, "/")
    status, again, body = await ask(client, site, "/", **{"If-None-Match": headers["ETag"]})
    assert (status, again["ETag"], body) == (304, headers["ETag"], b"")


async def test_a_token_can_be_placed_and_taken_away(site: SampleSite, client: aiohttp.ClientSession) -> None:
    assert (await ask(client, site, TOKEN_PATH))[0] == 404
    site.place_token("abc")
    status, headers, body = await ask(client, site, TOKEN_PATH)
    assert (status, headers["Content-Type"], body) == (200, "text/plain; charset=utf-8", b"abc")
    site.place(TOKEN_PATH, None)
    assert (await ask(client, site, TOKEN_PATH))[0] == 404


async def test_one_connection_serves_several_requests(site: SampleSite) -> None:
    context = ssl.create_default_context(cafile=str(site.ca_file))
    reader, writer = await asyncio.open_connection("127.0.0.1", site.port, ssl=context, server_hostname=HOST)
    for _ in range(2):
        writer.write(b"HEAD / HTTP/1.1\r\nHost: bottega.example\r\n\r\n")
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_nobody_trusts_the_authority_by_accident(site: SampleSite) -> None:
    async with aiohttp.ClientSession() as client:
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await ask(client, site, "/")
    assert site.entries() == []


async def test_every_request_is_logged_with_its_times(site: SampleSite, client: aiohttp.ClientSession) -> None:
    await ask(client, site, "/robots.txt", **{"User-Agent": "EmaIngestBot/1.0"})
    await ask(client, site, "/prodotti/?ordina=prezzo")
    first, second = site.entries()
    assert (first.host, first.path, first.status, first.user_agent) == (
        HOST,
        "/robots.txt",
        200,
        "EmaIngestBot/1.0",
    )
    assert (second.path, second.query) == ("/prodotti/", "ordina=prezzo")
    assert first.arrived <= first.ended <= second.arrived <= second.ended


async def test_a_request_ends_when_its_body_is_out_and_not_before(tmp_path: Path) -> None:
    big = Resource(b"x" * 20_000_000, "text/plain")
    async with Origin(tmp_path, {"/big": big}.get, (HOST,)) as site:
        context = ssl.create_default_context(cafile=str(site.ca_file))
        reader, writer = await asyncio.open_connection("127.0.0.1", site.port, ssl=context, server_hostname=HOST)
        writer.write(b"GET /big HTTP/1.1\r\nHost: bottega.example\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        assert site.entries() == []
        writer.transport.abort()
        await site.stop()
        assert [(entry.status, entry.size) for entry in site.entries()] == [(0, 20_000_000)]


async def test_stop_closes_the_port_and_may_be_called_twice(tmp_path: Path) -> None:
    site = SampleSite(tmp_path)
    await site.start()
    await site.stop()
    await site.stop()
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection("127.0.0.1", site.port)


def test_a_folder_is_served_in_place_and_nothing_beside_it(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    (root / "library").mkdir(parents=True)
    (root / "index.html").write_text("home")
    (root / "library" / "a.html").write_text("a")
    (tmp_path / "secret.html").write_text("no")
    (root / "out.html").symlink_to(tmp_path / "secret.html")
    find = folder(root, {"/robots.txt": Resource(b"User-agent: *\n", "text/plain")})
    found = {path: resource.body for path in ("/", "/library/a.html", "/robots.txt") if (resource := find(path))}
    assert found == {"/": b"home", "/library/a.html": b"a", "/robots.txt": b"User-agent: *\n"}
    assert [find(path) for path in ("/../secret.html", "/out.html", "/library", "/no.html", "/a\0b")] == [None] * 5
