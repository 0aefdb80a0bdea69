"""A02 at the fetcher: whatever the name, notation, answer or redirect, nothing inside is connected to.

The witness in here is the interpreter's audit event of every connect call; `test_namespace.py` asks the
kernel of a network namespace as well.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.client import Fetcher, _unfit
from crawler.fetch.gate import AddressRefusedError, Resolver, SystemLookup, socket_factory
from crawler.fetch.network import Network
from crawler.rules.addresses import name_refusal
from crawler.rules.urls import UrlRefused, canonical, host_of
from models.web import Outcome
from tests.fetch.notations import ALLOWED, HOSTS, REFUSED, URLS
from tests.fetch.witness import request

_CONNECTS: list[object] = []


def _audit(event: str, args: tuple[object, ...]) -> None:
    # Clients of other tests may still run in threads of their own; the fetcher connects in this one.
    if event == "socket.connect" and threading.current_thread() is threading.main_thread():
        _CONNECTS.append(args[1])


sys.addaudithook(_audit)


class Liar:
    """A resolver that answers what the attacker wants, the next answer at each call."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def connects() -> list[object]:
    _CONNECTS.clear()
    return _CONNECTS


@pytest_asyncio.fixture
async def liar() -> AsyncIterator[Liar]:
    yield Liar(["127.0.0.1"])


async def outcome(lookup: Liar, url: str = "https://shop.example/") -> Outcome:
    fetcher = Fetcher(Network(), lookup)
    response = await fetcher.fetch(request(url, timeout=5.0))
    await fetcher.close()
    return response.outcome


@pytest.mark.parametrize("address", REFUSED)
async def test_A02_a_name_with_a_refused_address_is_not_connected_to(address: str, connects: list[object]) -> None:
    assert await outcome(Liar([address])) is Outcome.REFUSED_ADDRESS
    assert connects == []


@pytest.mark.parametrize("address", REFUSED)
async def test_A02_one_bad_address_refuses_the_whole_answer(address: str, connects: list[object]) -> None:
    assert await outcome(Liar(["8.8.8.8", "2606:4700:4700::1111", address])) is Outcome.REFUSED_ADDRESS
    assert connects == []


@pytest.mark.parametrize("host", HOSTS)
async def test_A02_a_host_that_is_no_public_name_is_not_even_looked_up(
    host: str, liar: Liar, connects: list[object]
) -> None:
    assert await outcome(liar, f"https://{host}/") is Outcome.REFUSED_ADDRESS
    assert (connects, liar.asked) == ([], [])


@pytest.mark.parametrize("url", URLS)
async def test_E03_a_url_that_is_not_canonical_https_is_not_sent(
    url: str, liar: Liar, connects: list[object]
) -> None:
    assert await outcome(liar, url) is Outcome.REFUSED_ADDRESS
    assert (connects, liar.asked) == ([], [])


@pytest.mark.parametrize("address", REFUSED)
def test_A02_the_last_gate_refuses_what_a_resolver_let_through(address: str) -> None:
    make = socket_factory(Network())
    bare, _, zone = address.partition("%")
    place = (bare, 443, 0, int(zone or 0)) if ":" in address else (bare, 443)
    with pytest.raises(AddressRefusedError):
        make((10 if ":" in address else 2, 1, 6, "", place))


@pytest.mark.parametrize("address", ALLOWED)
@pytest.mark.parametrize("port", [0, 22, 80, 444, 8443, 6379])
def test_E03_the_last_gate_opens_port_443_alone(address: str, port: int) -> None:
    make = socket_factory(Network())
    family = 10 if ":" in address else 2
    with pytest.raises(AddressRefusedError):
        make((family, 1, 6, "", (address, port)))
    make((family, 1, 6, "", (address, 443))).close()


async def test_F55_rebinding_finds_no_window(connects: list[object]) -> None:
    lookup = Liar(["127.0.0.1"], ["8.8.8.8"], ["127.0.0.1"])
    assert await outcome(lookup) is Outcome.REFUSED_ADDRESS
    assert connects == []
    assert lookup.asked == ["shop.example"]


async def test_A02_staff_are_told_why_and_no_more_leaves_than_the_outcome() -> None:
    fetcher = Fetcher(Network(), Liar(["8.8.8.8", "169.254.169.254"]))
    response = await fetcher.fetch(request("https://shop.example/"))
    assert response.detail == "shop.example has 169.254.169.254: not public"
    await fetcher.close()


async def test_F53_a_name_with_1000_addresses_is_tried_at_two_of_each_family() -> None:
    many = [f"8.8.{n // 250}.{n % 250 + 1}" for n in range(500)] + [f"2606:4700::{n:x}" for n in range(1, 501)]
    assert len(await Resolver(Network(), Liar(many)).resolve("shop.example", 443)) == 4


async def test_F53_no_address_and_no_name_are_dns_failures() -> None:
    async def none(_: str) -> Sequence[str]:
        return []

    async def unknown(_: str) -> Sequence[str]:
        raise OSError("Name or service not known")

    for lookup in (none, unknown):
        fetcher = Fetcher(Network(), lookup)
        assert (await fetcher.fetch(request("https://shop.example/"))).outcome is Outcome.DNS
        await fetcher.close()


def test_routes_lead_to_loopback_alone() -> None:
    for address in ("8.8.8.8", "10.0.0.1", "0.0.0.0", "::ffff:10.0.0.1"):
        with pytest.raises(ValueError, match="not loopback"):
            Network(routes={"shop.example": (address, 443)})


def test_a_private_authority_is_for_routes_alone() -> None:
    with pytest.raises(ValueError, match="for routes alone"):
        Network(ca="ca.pem")


async def test_a_network_with_routes_knows_no_other_name_and_no_public_address(connects: list[object]) -> None:
    network = Network(routes={"shop.example": ("127.0.0.1", 1)})
    fetcher = Fetcher(network)
    assert (await fetcher.fetch(request("https://other.example/"))).outcome is Outcome.DNS
    assert connects == []
    assert network.refusal("8.8.8.8", 443)
    assert network.refusal("127.0.0.1", 2)
    await fetcher.close()


def test_nothing_in_the_environment_opens_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROUTES", "LICET_ROUTES", "NETWORK_ROUTES", "HTTPS_PROXY", "ALL_PROXY", "https_proxy", "NETRC"):
        monkeypatch.setenv(name, "shop.example=127.0.0.1:8443")
    assert dict(Network().routes) == {}
    assert Network().refusal("127.0.0.1", 443)


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, connects: list[object]) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:3128")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:3128")
    assert await outcome(Liar(["10.0.0.1"])) is Outcome.REFUSED_ADDRESS
    assert connects == []


@given(st.text(max_size=60) | st.sampled_from(HOSTS + URLS).map(lambda part: f"https://{part}/"))
def test_A02_what_the_rules_call_canonical_is_sent_or_refused_by_name_alone(text: str) -> None:
    try:
        url = canonical(text if "://" in text else f"https://shop.example/{text}")
    except UrlRefused:
        return
    why = _unfit(request(url))
    assert why is None or why == name_refusal(host_of(url))


async def test_F53_a_resolver_that_hangs_ends_at_the_deadline(connects: list[object]) -> None:
    async def hang(_: str) -> Sequence[str]:
        await asyncio.Event().wait()
        raise AssertionError

    fetcher = Fetcher(Network(), hang)
    response = await fetcher.fetch(request("https://shop.example/", timeout=0.1))
    assert response.outcome is Outcome.TIMEOUT
    assert (response.elapsed < 1, connects) == (True, [])
    await fetcher.close()


async def test_the_machine_s_resolver_is_asked_in_threads_of_our_own() -> None:
    lookup = SystemLookup(threads=1)
    with pytest.raises(OSError, match=r"\w"):
        await lookup("shop.invalid")  # RFC 6761 6.4: never a name
    lookup.close()
