"""What the guard, the pool and the child cost per page: `python -m bench.fetch [pages]`.

Paired in one run: each round fetches the same page twice over kept TLS connections from an origin in another
process, once bare (aiohttp as it comes, the parse in the worker) and once our way (`Fetcher`, the parse in a
child). CPU seconds of worker and child are counted, not wall time.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import aiohttp

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from crawler.reading.page import read_html
from crawler.reading.pool import Readers
from models.web import Kind, Request
from tests.support.origin import Answer, Asked

ROUND = 25  # pages between two looks at the clocks
PARAGRAPH = "<p>Our shop is open from <b>Monday</b> to <a href='/hours'>Saturday</a>, nine to six.</p>\n"
BODY = f"<html><head><title>Shop</title></head><body>{PARAGRAPH * 200}</body></html>".encode()
HEADERS = (("User-Agent", "EmaIngestBot/1.0"), ("Accept-Encoding", "gzip, deflate"))


def handler(_: Asked) -> Answer:
    """The origin's one page, of an ordinary size (about 20 kB)."""
    return 200, {"Content-Type": "text/html; charset=utf-8"}, BODY


def read(body: bytes) -> object:
    """The parse, the same in both ways."""
    return read_html(body.decode(), "https://shop.example/")


def cpu() -> float:
    """CPU seconds of the process that is asked."""
    return time.process_time()


class _Fixed(aiohttp.abc.AbstractResolver):
    def __init__(self, port: int) -> None:
        self._port = port

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[aiohttp.abc.ResolveResult]:
        found = {"hostname": host, "host": "127.0.0.1", "port": self._port, "family": 2, "proto": 0, "flags": 0}
        return [found]  # type: ignore[list-item]

    async def close(self) -> None:
        """Nothing to close."""


async def measure(pages: int, port: int, ca: str) -> dict[str, float]:
    """Milliseconds of CPU per page: medians of the rounds, and of their differences."""
    network = Network(routes={"shop.example": ("127.0.0.1", port)}, ca=ca)
    fetcher, readers = Fetcher(network), Readers(1, preload=("bench.fetch",))
    connector = aiohttp.TCPConnector(resolver=_Fixed(port), ssl=network.tls())
    asked = Request(Kind.PAGE, "https://shop.example/", HEADERS, 30, 2_000_000, media_types=frozenset({"text/html"}))

    async with aiohttp.ClientSession(connector=connector, headers=dict(HEADERS)) as session:

        async def bare() -> None:
            async with session.get("https://shop.example/") as response:
                read(await response.read())

        async def ours() -> None:
            response = await fetcher.fetch(asked)
            await readers.run(read, response.body)

        async def both_clocks() -> float:
            return time.process_time() + await readers.run(cpu)

        async def timed(work: Callable[[], Awaitable[None]]) -> float:
            before = await both_clocks()
            for _ in range(ROUND):
                await work()
            return (await both_clocks() - before) / ROUND * 1000

        await timed(bare)
        await timed(ours)
        rounds = [(await timed(bare), await timed(ours)) for _ in range(max(1, pages // ROUND))]
    await fetcher.close()
    await readers.close()
    return {
        "bare_ms": statistics.median(one for one, _ in rounds),
        "ours_ms": statistics.median(one for _, one in rounds),
        "added_ms": statistics.median(ours - bare for bare, ours in rounds),
    }


def main(pages: int = 500) -> dict[str, float]:
    """Start the origin, measure, print."""
    command = [sys.executable, "-m", "tests.support.origin", "--handler", "bench.fetch:handler"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [*command, "--until-stdin-closes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as origin:
        assert origin.stdout is not None
        place = json.loads(origin.stdout.readline())
        found = asyncio.run(measure(pages, place["port"], place["ca"]))
        origin.terminate()
    sys.stdout.write(
        f"CPU per page of {len(BODY) / 1000:.0f} kB: bare fetch and parse {found['bare_ms']:.2f} ms, "
        f"with guard, pool and child {found['ours_ms']:.2f} ms, added {found['added_ms']:.2f} ms (goal: 1.0 ms)\n"
    )
    return found


if __name__ == "__main__":
    # A child imports the functions it is asked for by the name of their module, which `__main__` is not.
    importlib.import_module("bench.fetch").main(*(int(text) for text in sys.argv[1:2]))
