"""The witness is tested too: what it calls an overlap, a gap and an end."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch.client import Fetcher
from crawler.fetch.network import Network
from models.web import Outcome
from tests.fetch.witness import request, until
from tests.support.origin import Answer, Asked, Origin, gaps, overlaps, read_log

PAGE = (200, {"Content-Type": "text/html"}, b"page")


def asked(number: int, arrived: int, ended: int | None, name: str = "shop.example") -> Asked:
    return Asked(number, 1, name, "GET", "/", "", arrived, ended)


def test_an_arrival_before_the_end_is_an_overlap_with_or_without_www() -> None:
    log = [asked(1, 0, 100), asked(2, 99, 150, "www.shop.example"), asked(3, 150, 160), asked(4, 0, 999, "b.example")]
    assert [(one.id, two.id) for one, two in overlaps(log)] == [(1, 2)]
    assert gaps(log)["shop.example"] == [-1e-9, 0.0]


def test_a_request_that_never_ended_overlaps_with_all_that_follow() -> None:
    log = [asked(1, 0, None), asked(2, 10, 20), asked(3, 30, 40)]
    assert [(one.id, two.id) for one, two in overlaps(log)] == [(1, 2), (1, 3)]
    assert gaps(log)["shop.example"] == [float("-inf")] * 2


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=12))
def test_overlaps_are_what_the_definition_says(spans: list[tuple[int, int]]) -> None:
    log = [asked(number, start, start + length) for number, (start, length) in enumerate(spans)]
    found = {tuple(sorted((one.id, two.id))) for one, two in overlaps(log)}
    order = sorted(log, key=lambda one: one.arrived)
    expected = {
        tuple(sorted((one.id, two.id)))
        for place, one in enumerate(order)
        for two in order[place + 1 :]
        if (one.ended or 0) > two.arrived
    }
    assert found == expected
    assert bool(expected) == any(gap < 0 for gap in gaps(log)["shop.example"])


async def test_real_requests_at_once_overlap_and_one_after_another_do_not() -> None:
    async def together(one: Asked) -> Answer:
        if one.target == "/together":
            await until(lambda: len(origin.asked) == 4)
        return PAGE

    async with Origin(together) as origin:
        fetcher = Fetcher(Network(routes=origin.routes("shop.example", "www.shop.example"), ca=origin.trust))
        for _ in range(2):
            await fetcher.fetch(request("https://shop.example/"))
        assert overlaps(origin.asked) == []
        assert 0 < gaps(origin.asked)["shop.example"][0] < 1
        both = (
            fetcher.fetch(request(f"https://{name}/together", timeout=5.0))
            for name in ("shop.example", "www.shop.example")
        )
        await asyncio.gather(*both)
        assert len(overlaps(origin.asked)) == 1
        await fetcher.close()


async def test_an_abandoned_request_ends_when_its_connection_does() -> None:
    async def never(_: Asked) -> Answer:
        await asyncio.Event().wait()
        return PAGE

    async with Origin(never) as origin:
        fetcher = Fetcher(Network(routes=origin.routes("shop.example"), ca=origin.trust))
        await fetcher.fetch(request("https://shop.example/", timeout=0.1))
        await until(lambda: origin.asked[0].ended is not None)
        assert origin.asked[0].abandoned
        await fetcher.close()


async def ask_for_a_page(place: dict[str, Any]) -> None:
    fetcher = Fetcher(Network(routes={"shop.example": ("127.0.0.1", place["port"])}, ca=place["ca"]))
    assert (await fetcher.fetch(request("https://shop.example/p/1", timeout=5.0))).outcome is Outcome.OK
    await fetcher.close()


def test_as_a_process_it_writes_its_log_and_ends_with_its_parent(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.support.origin", "--folder", str(tmp_path), "--until-stdin-closes"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        place = json.loads(process.stdout.readline())
        asyncio.run(ask_for_a_page(place))
        process.stdin.close()
        assert process.wait(5) == 0
    [only] = read_log(Path(place["log"]))
    assert (only.name, only.target, only.status) == ("shop.example", "/p/1", 200)
    assert only.sent > 300
    assert only.ended is not None
    assert only.ended > only.arrived
