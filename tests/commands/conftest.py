"""A whole running stack for the commands: embedded broker and database, one worker, one sink, the sample shop."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from commands.line import licet
from demo.origin import SampleSite
from models.settings import Settings
from stack.supervisor import Supervisor


@dataclass
class Town:
    """The stack and the shop in it, and the command line against them."""

    data: Path
    shop: SampleSite
    stack: Supervisor

    def licet(self, *arguments: str) -> Result:
        return licet_in(self.data, *arguments)

    def json(self, *arguments: str, code: int = 0) -> dict[str, object]:
        result = self.licet(*arguments, "--json")
        assert result.exit_code == code, result.output
        found: dict[str, object] = json.loads(result.stdout)
        return found


def licet_in(data: Path, *arguments: str, **more: str) -> Result:
    return CliRunner().invoke(licet, arguments, env={"LICET_DATA": str(data), **more}, catch_exceptions=False)


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    folder = tmp_path_factory.mktemp("town")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(make: Callable[[], object]) -> object:
        return asyncio.run_coroutine_threadsafe(make(), loop).result(120)  # type: ignore[arg-type]

    shop = SampleSite(folder / "shop")
    run(shop.start)
    network = folder / "network.json"
    routes = {host: ["127.0.0.1", shop.port] for host in shop.hosts}
    network.write_text(json.dumps({"routes": routes, "ca": str(shop.ca_file.resolve())}))
    data = folder / "data"
    worker = (sys.executable, "-m", "demo.worker", str(network))
    lines: list[str] = []
    stack = Supervisor(
        data,
        settings=Settings(data=data, session_timeout=6, heartbeat_interval=1),
        worker_command=worker,
        say=lambda name, line: lines.append(f"{name} {line}"),
    )
    try:
        run(stack.start)
        yield Town(data, shop, stack)
    finally:
        run(stack.stop)
        run(shop.stop)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        (folder / "stack.log").write_text("\n".join(lines))
        print("\n".join(lines[-30:]))
