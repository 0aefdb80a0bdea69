"""The two doors of every connection: the answer of a resolver, and the address that is really used (A02).

aiohttp asks no resolver for an IP literal, and a resolver can lie, so the socket factory looks again. Nothing
is looked up between the two: what the resolver returned is what gets connected, so rebinding finds no window.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from aiohttp.abc import AbstractResolver, ResolveResult

from crawler.fetch.network import HTTPS_PORT, Network
from crawler.rules.addresses import name_refusal

Lookup = Callable[[str], Awaitable[Sequence[str]]]
AddrInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]

PER_FAMILY = 2  # a name with 1,000 addresses (F53) is tried at two of each family, not at all of them


class AddressRefusedError(OSError):
    """A name or address that is not connected to (A02); aiohttp passes OSErrors on."""


async def no_lookup(host: str) -> Sequence[str]:
    """The look-up of a network with routes: no other name exists."""
    raise OSError(f"{host} is not a route")


class SystemLookup:
    """getaddrinfo in threads of our own: aiohttp's way would let six hanging names stop every other name."""

    def __init__(self, threads: int = 64) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="dns")

    async def __call__(self, host: str) -> Sequence[str]:
        """All addresses of a name. The dot at its end keeps the machine's search domains out of it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._ask, f"{host}.")

    def close(self) -> None:
        """Let the threads go without waiting for the last answers."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    def _ask(host: str) -> list[str]:
        found = socket.getaddrinfo(host, HTTPS_PORT, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(place[0]) for *_, place in found))


class Resolver(AbstractResolver):
    """Names to addresses; one bad address refuses the whole answer (a rotating answer is an attack)."""

    def __init__(self, network: Network, lookup: Lookup) -> None:
        self._network, self._lookup = network, lookup

    async def resolve(
        self,
        host: str,
        port: int = 0,
        family: socket.AddressFamily = socket.AF_UNSPEC,
    ) -> list[ResolveResult]:
        """What aiohttp may connect to for `host`."""
        route = self._network.routes.get(host)
        if route is not None:
            return [_result(host, *route)]
        if why := name_refusal(host):
            raise AddressRefusedError(f"{host}: {why}")
        addresses = await self._lookup(host)
        for address in addresses:
            if why := self._network.refusal(address, port):
                raise AddressRefusedError(f"{host} has {address}: {why}")
        return [_result(host, address, port) for address in self._choice(host, addresses)]

    def _choice(self, host: str, addresses: Sequence[str]) -> list[str]:
        six = [one for one in addresses if ":" in one and self._network.leaves_by(6)]
        four = [one for one in addresses if ":" not in one and self._network.leaves_by(4)]
        if not (chosen := six[:PER_FAMILY] + four[:PER_FAMILY]):
            raise OSError(f"{host} has no address that we have a source for")
        return chosen

    async def close(self) -> None:
        """Nothing of its own to close."""


def socket_factory(network: Network) -> Callable[[AddrInfo], socket.socket]:
    """The last gate: a socket for the address that is about to be used, bound to our source (A02, W11)."""

    def make(info: AddrInfo) -> socket.socket:
        family, kind, proto, _, place = info
        address, port = str(place[0]), int(str(place[1]))
        zoned = len(place) > 3 and place[3]
        if why := "has a zone" if zoned else network.refusal(address, port):
            raise AddressRefusedError(f"{address}: {why}")
        made = socket.socket(family, kind, proto)
        if source := network.source(address):
            made.bind((source, 0))
        return made

    return make


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=flags)
