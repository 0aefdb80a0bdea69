"""Hostile origins, F56-F84: each case ends in time, costs little, and has the right outcome.

`pytest tests/fetch/test_hostile.py -rP` prints the cost of each case.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from crawler.fetch.client import Fetcher
from models.web import Outcome, Request
from tests.fetch.conftest import Place
from tests.fetch.hostile import CASES, Case
from tests.fetch.witness import Witness, measured, request

MB = 1024 * 1024
SHORT = 0.8  # the timeout of the cases that reach it


def expected(case: Case) -> tuple[Outcome, ...]:
    return case.expect if isinstance(case.expect, tuple) else (case.expect,)


def posed(case: Case, host: str) -> Request:
    timeout = {"timeout": SHORT} if Outcome.TIMEOUT in expected(case) else {}
    return request(f"https://{host}{case.path}", **(timeout | case.request))


def kernel_buffers() -> int:
    """Bytes that the kernel takes from a server's hands on both sides of a connection, whoever reads them."""
    return sum(int(Path(f"/proc/sys/net/ipv4/tcp_{side}mem").read_text("ascii").split()[2]) for side in "rw")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.fault}_{case.name}")
async def test_hostile(case: Case, fetcher: Fetcher, hostile: Place) -> None:
    await fetcher.fetch(request("https://shop.example/calm"))  # certificates: paid before
    asked = posed(case, "shop.example")
    response, cost = await measured(fetcher, asked)
    print(
        f"{case.fault} {case.name}: {response.outcome} in {cost.took:.2f} s of {asked.timeout} s, "
        f"+{cost.grown / MB:.1f} MB, loop held {cost.held * 1000:.0f} ms, {response.detail}"
    )
    assert response.outcome in expected(case), response.detail
    assert cost.took <= asked.timeout + 1
    assert cost.grown <= 64 * MB
    assert cost.held <= 0.25
    if case.body is not None:
        assert len(response.body) == case.body
    if response.outcome not in {Outcome.OK, Outcome.HTTP_4XX, Outcome.HTTP_5XX, Outcome.RATE_LIMITED}:
        assert response.body in {b"", *([response.body] if response.outcome is Outcome.HTTP_OTHER else [])}
    assert all(value.isprintable() or "\t" in value for _, value in response.headers)
    str(response).encode()  # no lone surrogate anywhere
    after = await fetcher.fetch(request("https://shop.example/calm"))
    assert after.outcome is Outcome.OK
    if case.sent_at_most is not None:
        assert sum(one.sent for one in hostile.asked(case.path)) <= case.sent_at_most + kernel_buffers()


async def test_all_of_them_at_once_cost_one_worker_no_more_than_each_alone(hostile: Place) -> None:
    names = {case.path: f"s{number}.example" for number, case in enumerate(CASES)}
    fetcher = Fetcher(hostile.network(*names.values()))
    asked = [posed(case, names[case.path]) for case in CASES]
    async with Witness() as cost:
        responses = await asyncio.gather(*(fetcher.fetch(one) for one in asked))
    await fetcher.close()
    print(
        f"{len(responses)} at once: {cost.took:.2f} s, +{cost.grown / MB:.1f} MB, loop held {cost.held * 1000:.0f} ms"
    )
    assert all(response.elapsed <= one.timeout + 1 for response, one in zip(responses, asked, strict=True))
    assert cost.grown <= 64 * MB
    assert cost.held <= 1.0  # the promise is 0.25 s for each; 139 at once may meet in one turn of the loop


def test_there_are_at_least_80_cases() -> None:
    assert len(CASES) >= 80
    assert len({case.path for case in CASES}) == len(CASES)
