"""Ask for everything that is refused, inside a network namespace, and print what its kernel counted.

A pair of virtual cables is the default route, and something listens on port 443 of every address of lo: a
packet to a refused address has somewhere to go, and would be counted.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from tests.fetch import dns_stub
from tests.fetch.notations import HOSTS, REFUSED, URLS
from tests.fetch.witness import request

_WORLD = """
ip link set lo up
ip link add name wall type veth peer name beyond
ip link set wall arp off up
ip link set beyond arp off up
ip addr add 198.51.100.2/32 dev wall
ip route add default dev wall
ip -6 addr add 2001:db8::2/64 dev wall nodad
ip -6 route add default dev wall
"""


def build_world() -> None:
    """Interfaces, routes, and a name server of our own in a mount namespace of our own."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf", delete=False) as file:
        file.write("nameserver 127.0.0.53\noptions timeout:1 attempts:2\n")
    subprocess.run(["mount", "--bind", file.name, "/etc/resolv.conf"], check=True, capture_output=True)
    Path(file.name).unlink()
    for line in _WORLD.strip().splitlines():
        subprocess.run(line.split(), check=True, capture_output=True)


def counters() -> dict[str, int]:
    """Connections begun, datagrams sent and IP packets that left, by the kernel's count."""
    lines = Path("/proc/net/snmp").read_text(encoding="ascii").splitlines()
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        kind = names.split(":")[0]
        found |= {f"{kind}.{n}": int(v) for n, v in zip(names.split()[1:], values.split()[1:], strict=True)}
    six = dict(line.split() for line in Path("/proc/net/snmp6").read_text(encoding="ascii").splitlines())
    return {
        "tcp_connects": found["Tcp.ActiveOpens"],
        "udp_datagrams": found["Udp.OutDatagrams"] + int(six["Udp6OutDatagrams"]),
        "ipv4_packets": found["Ip.OutRequests"],
    }


class Listener:
    """Port 443 of everything on this side: whatever comes here has come through."""

    def __init__(self) -> None:
        self.accepted = 0

    async def start(self) -> None:
        for address in ("0.0.0.0", "::"):
            await asyncio.start_server(self._serve, address, 443)

    async def _serve(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        writer.close()


async def ask(answers: Sequence[Sequence[str]], url: str = "https://shop.example/", patience: float = 10) -> str:
    """The outcome of one request with a resolver that answers so."""
    left = list(answers)

    async def lookup(_: str) -> Sequence[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    fetcher = Fetcher(Network(), lookup)
    response = await fetcher.fetch(request(url, timeout=patience))
    await fetcher.close()
    return str(response.outcome)


async def look_up(label: str, patience: float = 10) -> tuple[str, str]:
    """The outcome of one request by the way that production goes: `Network()` and the machine's resolver."""
    fetcher = Fetcher(Network())
    response = await fetcher.fetch(request(f"https://{label}.example/", timeout=patience))
    await fetcher.close()
    return str(response.outcome), response.detail


async def through_dns() -> dict[str, object]:
    """Names of every bad kind through getaddrinfo and a name server of the attacker's."""
    stub = dns_stub.Stub()
    await stub.start("127.0.0.53")
    before = counters()
    refused = {label: (await look_up(label))[0] for label in dns_stub.REFUSED}
    failed = {label: (await look_up(label))[0] for label in [*dns_stub.NO_ADDRESS, dns_stub.LOOP]}
    silent = (await look_up(dns_stub.SILENT, 0.3))[0]
    after = counters()
    turns = [(await look_up(dns_stub.ALTERNATING, 0.4))[0] for _ in range(3)]
    rebound = counters()
    many = (await look_up(dns_stub.MANY, 1))[0]
    return {
        "refused": sorted(set(refused.values())),
        "failed": sorted(set(failed.values())),
        "silent": silent,
        "connects": after["tcp_connects"] - before["tcp_connects"],
        "rebinding": turns,
        "rebinding_connects": rebound["tcp_connects"] - after["tcp_connects"],
        "many": many,
        "questions": len(stub.asked),
    }


async def main() -> None:
    """Everything refused first, then one public address to show that the witness sees, then through DNS."""
    build_world()
    listener = Listener()
    await listener.start()
    before = counters()
    outcomes = [await ask([[address]]) for address in REFUSED]
    outcomes += [await ask([["8.8.8.8", address]]) for address in REFUSED]
    outcomes += [await ask([["127.0.0.1"]], f"https://{host}/") for host in HOSTS]
    outcomes += [await ask([["127.0.0.1"]], url) for url in URLS]
    after = counters()
    public = await ask([["8.8.8.8"]], patience=0.5)
    control = counters()
    report = {
        "asked": len(outcomes),
        "outcomes": sorted(set(outcomes)),
        "accepted": listener.accepted,
        "refused": {key: after[key] - before[key] for key in before},
        "public": public,
        "control": {key: control[key] - after[key] for key in before},
        "dns": await through_dns(),
        "accepted_at_the_end": listener.accepted,
    }
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main())
