"""One hostile origin process for the whole suite, and fetchers that know the way to it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
import uvloop

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from tests.support.origin import Asked, read_log


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The loop that workers run on."""
    return {"uvloop": uvloop.new_event_loop}


@dataclass(frozen=True)
class Place:
    """Where the hostile origin is."""

    port: int
    ca: str
    log: Path

    def network(self, *names: str) -> Network:
        return Network(routes=dict.fromkeys(names, ("127.0.0.1", self.port)), ca=self.ca)

    def asked(self, target: str) -> list[Asked]:
        return [one for one in read_log(self.log) if one.target == target]


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("hostile")
    command = [sys.executable, "-m", "tests.support.origin", "--handler", "tests.fetch.hostile:handler"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--until-stdin-closes"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        yield Place(ready["port"], ready["ca"], Path(ready["log"]))
        process.terminate()


@pytest_asyncio.fixture
async def fetcher(hostile: Place) -> AsyncIterator[Fetcher]:
    made = Fetcher(hostile.network("shop.example"))
    yield made
    await made.close()
