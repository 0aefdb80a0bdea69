"""The address policy (A02): public unicast and nothing else, however it is written."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.rules.addresses import name_refusal, refusal
from tests.fetch.notations import ALLOWED, HOSTS, REFUSED


@pytest.mark.parametrize("address", REFUSED)
def test_A02_an_address_that_is_not_public_unicast_is_refused(address: str) -> None:
    assert refusal(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_A02_a_public_address_is_not_refused(address: str) -> None:
    assert refusal(address) is None


@pytest.mark.parametrize(
    "text", ["", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "shop.example", "[::1]", "8.8.8.8 "]
)
def test_A02_what_is_no_address_is_refused(text: str) -> None:
    assert refusal(text)


@given(st.ip_addresses(v=4))
def test_A02_never_wider_than_the_library_and_the_same_through_nat64(ip: IPv4Address) -> None:
    if refusal(ip) is None:
        assert ip.is_global
        wrong = (ip.is_multicast, ip.is_private, ip.is_loopback, ip.is_link_local, ip.is_reserved)
        assert not any(wrong)
    assert refusal(IPv6Address((0x64FF9B << 96) | int(ip))) == refusal(ip)
    for wrapped in (f"::ffff:{ip}", f"::ffff:0:{ip}", f"::{ip}"):
        assert refusal(wrapped)


@given(st.ip_addresses(v=6))
def test_A02_ipv6_passes_only_inside_the_unicast_block_or_nat64(ip: IPv6Address) -> None:
    if refusal(ip) is None:
        assert ip in IPv6Network("2000::/3") or ip in IPv6Network("64:ff9b::/96")
        assert ip.sixtofour is None
        assert ip.teredo is None


@pytest.mark.parametrize("host", HOSTS)
def test_A02_a_host_that_is_no_public_name_is_refused(host: str) -> None:
    assert name_refusal(host)


@pytest.mark.parametrize(
    "host",
    [
        "shop.example",
        "www.shop.example",
        "xn--bcher-kva.example",
        "a.b.c.d.example",
        "1.example",
        "0x7f.example",
        "3com.com",
    ],
)
def test_a_public_name_is_not_refused(host: str) -> None:
    assert name_refusal(host) is None


@given(st.text(max_size=40))
def test_A02_no_text_passes_as_a_name_and_is_an_address(host: str) -> None:
    if name_refusal(host) is None:
        assert host.isascii()
        assert not any(char in host for char in "@:/\\%[]?# \r\n\0")
        assert refusal(host) == "not an address"
