"""A name server that answers as an attacker's would, for the machine's own resolver (F53, F55)."""

from __future__ import annotations

import asyncio

import dns.message
import dns.rcode
import dns.rrset

REFUSED = {
    "metadata": ["A 169.254.169.254"],
    "loopback": ["A 127.0.0.1"],
    "zero": ["A 0.0.0.0"],
    "private": ["A 10.1.2.3"],
    "mixed": ["A 8.8.8.8", "A 127.0.0.1"],
    "mixed-families": ["A 8.8.8.8", "AAAA ::1"],
    "mapped": ["AAAA ::ffff:127.0.0.1"],
    "nat64": ["AAAA 64:ff9b::7f00:1"],
    "six-to-four": ["AAAA 2002:7f00:1::"],
    "local6": ["AAAA fe80::1"],
    "alias": ["CNAME metadata.example.", "A 169.254.169.254"],
    "alias-to-localhost": ["CNAME inside.example.", "A 127.0.0.1"],
}
NO_ADDRESS = {"nx": "NXDOMAIN", "failing": "SERVFAIL", "refusing": "REFUSED", "empty": "NOERROR"}
LOOP = "loop"
SILENT = "silent"
MANY = "many"
ALTERNATING = "rebinding"


class Stub(asyncio.DatagramProtocol):
    """UDP without a limit: 1,000 addresses in one datagram."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def start(self, address: str) -> None:
        """Listen on port 53 of `address`."""
        loop = asyncio.get_running_loop()
        await loop.create_datagram_endpoint(lambda: self, (address, 53))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """One question."""
        answer = self._answer(data)
        if answer is None:
            return
        self._transport.sendto(answer.to_wire(max_size=65535), addr)  # type: ignore[attr-defined]

    def _answer(self, data: bytes) -> dns.message.Message | None:
        question = dns.message.from_wire(data)
        answer = dns.message.make_response(question)
        [asked] = question.question
        name, kind = str(asked.name), asked.rdtype.name
        label = name.split(".", maxsplit=1)[0]
        self.asked.append(f"{name} {kind}")
        if label == SILENT:
            return None
        if label in NO_ADDRESS:
            answer.set_rcode(dns.rcode.from_text(NO_ADDRESS[label]))
        at = name
        for record in self._records(label):
            of, value = record.split()
            if of in {"CNAME", kind}:
                answer.answer.append(dns.rrset.from_text(at, 0, "IN", of, value))
            at = value if of == "CNAME" else at
        return answer

    def _records(self, label: str) -> list[str]:
        if label == LOOP:
            return ["CNAME loop.example."]
        if label == MANY:
            return [f"A 8.{n // 250}.{n % 250}.8" for n in range(1000)]
        if label == ALTERNATING:
            turns = sum(one.startswith(ALTERNATING) and one.endswith(" A") for one in self.asked)
            return ["A 8.8.8.8"] if turns == 1 else ["A 127.0.0.1"]
        return REFUSED.get(label, [])
