"""Which part of the world a fetcher may touch, as one value that is made at an entry point and nowhere else.

Production makes `Network()`: public unicast on port 443. The demo and the tests make one with `routes`. There
is no option, file, environment variable or event that builds routes, so none can open loopback (A02).
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

from crawler.rules.addresses import refusal

HTTPS_PORT = 443  # E03: canonical URLs carry no port


@dataclass(frozen=True, slots=True)
class Network:
    """What may be connected to, whom to trust and from which addresses to leave.

    `routes` sends a name to a loopback address and port; a network with routes knows no other name and no
    public address. `ca` is the authority of those servers (a PEM file or a context that verifies).
    `source_v4` and `source_v6` are the static addresses of W11: once one is set, a family without one is
    not used.
    """

    routes: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    ca: str | Path | ssl.SSLContext | None = None
    source_v4: str | None = None
    source_v6: str | None = None
    resolvers: tuple[str, ...] = ()
    """DNS-over-HTTPS servers of a network with routes, on loopback; without routes they are configuration."""

    def __post_init__(self) -> None:
        if self.ca is not None and not self.routes:
            raise ValueError("a private authority is for routes alone: the web's certificates are the web's")
        for name, (address, _) in self.routes.items():
            if not ip_address(address).is_loopback:
                raise ValueError(f"route of {name}: {address} is not loopback")
        for url in self.resolvers:
            if not self.routes or not ip_address(urlsplit(url).hostname or "").is_loopback:
                raise ValueError(f"resolver {url}: a network with routes has its own, on loopback")
        object.__setattr__(self, "routes", MappingProxyType(dict(self.routes)))

    def refusal(self, address: str, port: int) -> str | None:
        """Why this address and port must not be connected to, or None (A02)."""
        if self.routes:
            return None if (address, port) in self.routes.values() else "not a route"
        return refusal(address) or (None if port == HTTPS_PORT else "not the https port")

    def leaves_by(self, version: int) -> bool:
        """Whether an IP version is used: all are until a source is set, then those with one (W11)."""
        unset = self.source_v4 is None and self.source_v6 is None
        return unset or (self.source_v4 if version == 4 else self.source_v6) is not None

    def source(self, address: str) -> str | None:
        """The address to leave from to reach `address` (W11), or None for the machine's choice."""
        version = 6 if ":" in address else 4
        if not self.leaves_by(version):
            raise OSError(f"no source address is configured for IPv{version}")
        return self.source_v6 if version == 6 else self.source_v4

    def tls(self) -> ssl.SSLContext:
        """The context for every connection: certificates and names are always verified (A02)."""
        if self.ca is None:
            context = _of_the_web()
        else:
            context = self.ca if isinstance(self.ca, ssl.SSLContext) else ssl.create_default_context(cafile=self.ca)
        if context.verify_mode is not ssl.CERT_REQUIRED or not context.check_hostname:
            raise ValueError("a context that does not verify is never used")
        return context


@cache
def _of_the_web() -> ssl.SSLContext:
    """One for the whole process: the web's authorities take 30 ms to load."""
    return ssl.create_default_context()
