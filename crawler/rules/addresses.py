"""Which addresses and host names may be connected to: public unicast ones and no others (A02).

`ipaddress.is_global` is not enough: on Python 3.11 it passes NAT64 and 6to4 forms of 127.0.0.1, multicast and
the metadata address of a cloud. So IPv6 is an allow-list, the one block that is handed out to the world
(2000::/3), less what is carved out of it; and IPv4 is `is_global` with its gaps closed.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_GLOBAL_UNICAST = IPv6Network("2000::/3")  # RFC 4291 2.4, IANA: nothing else is allocated for unicast
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052 2.1: an IPv4 address in its last 32 bits

_SPECIAL_V6 = {
    IPv6Network("2001::/23"): "IETF protocol assignments (Teredo, ORCHID, benchmarking)",
    IPv6Network("2001:db8::/32"): "documentation",
    IPv6Network("2002::/16"): "6to4",
    IPv6Network("2620:4f:8000::/48"): "AS112",
    IPv6Network("3fff::/20"): "documentation",
}
_SPECIAL_V4 = {
    IPv4Network("168.63.129.16/32"): "cloud metadata",
    IPv4Network("192.0.0.0/24"): "IETF protocol assignments",
    IPv4Network("192.31.196.0/24"): "AS112",
    IPv4Network("192.52.193.0/24"): "AMT",
    IPv4Network("192.88.99.0/24"): "6to4 relay",
    IPv4Network("192.175.48.0/24"): "AS112",
}

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")  # RFC 1123 2.1, lower case only
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # a last label that resolvers read as a piece of an IPv4 address
_INSIDE = frozenset({"localhost", "local", "internal", "onion", "arpa", "alt"})  # RFC 6761, 6762, 7686, 9476


def refusal(address: str | IPv4Address | IPv6Address) -> str | None:
    """Why an address must not be connected to, or None when it is public unicast (A02)."""
    try:
        ip = ip_address(address)
    except ValueError:
        return "not an address"
    return _refusal_v4(ip) if isinstance(ip, IPv4Address) else _refusal_v6(ip)


def name_refusal(host: str) -> str | None:
    """Why a host is no name of a public website, or None: the last look before a resolver sees it (A02).

    Resolvers read `127.1`, `0x7f.1` and `2130706433` as addresses, so a name that ends in a number is none.
    """
    labels = host.split(".")
    if len(labels) < 2 or len(host) > 253:
        return "not a full host name"
    if not all(_LABEL.fullmatch(label) for label in labels):
        return "not a host name"
    if _NUMBER.fullmatch(labels[-1]):
        return "ends in a number"
    return "a name for inside use" if labels[-1] in _INSIDE else None


def _refusal_v4(ip: IPv4Address) -> str | None:
    if ip.is_multicast:
        return "multicast"
    if not ip.is_global or ip.is_reserved:
        return "not public"
    return next((why for net, why in _SPECIAL_V4.items() if ip in net), None)


def _refusal_v6(ip: IPv6Address) -> str | None:
    if ip.scope_id is not None:
        return "has a zone"
    if ip in _NAT64:
        return _refusal_v4(IPv4Address(int(ip) & 0xFFFFFFFF))
    if ip not in _GLOBAL_UNICAST or not ip.is_global:
        return "not public"
    return next((why for net, why in _SPECIAL_V6.items() if ip in net), None)
