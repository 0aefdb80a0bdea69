"""The child-process pool: a document costs a child, never the worker (E17's cousin for parsing, F73)."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from crawler.reading.pool import ParseLimit, Readers, ReadingFailed
from models.reading import Reading
from tests.reading import jobs

MB = 1024 * 1024


@pytest_asyncio.fixture
async def readers() -> AsyncIterator[Readers]:
    pool = Readers(1, cpu_seconds=1, preload=("tests.reading.jobs",))
    yield pool
    await pool.close()


async def test_a_job_returns_values_of_our_models(readers: Readers) -> None:
    found = await readers.run(jobs.reading, "Olives")
    assert isinstance(found, Reading)
    assert (found.title, found.links[0].text, found.facts[0]) == ("Olives", "home", {"a": [1, None]})


async def test_a_job_that_answers_with_what_it_does_not_declare_fails_by_name(readers: Readers) -> None:
    with pytest.raises(ReadingFailed, match="undeclared answers with a str"):
        await readers.run(jobs.undeclared)


async def test_a_body_of_two_megabytes_passes_both_ways(readers: Readers) -> None:
    assert await readers.run(jobs.length, b"x" * 2_000_000) == 2_000_000
    assert len(await readers.run(jobs.environment)) < 10


@pytest.mark.parametrize(
    ("job", "args", "why"),
    [
        (jobs.spin, (), "cpu"),
        (jobs.hog, (600 * MB,), "memory"),
        (jobs.crash, (), "ended with -11"),
        (jobs.lie, (b"",), "no value"),
        (jobs.lie, (b"\x01{}",), "no value"),
        (jobs.lie, (b"\x00[]",), "no value"),
        (jobs.lie, (b'\x00{"title": 1}',), "no value"),
        (jobs.lie, (b'\x00{"facts": ' + b"[" * 100_000,), "no value"),
        (jobs.lie, (b"\x8fr\n\nk\nk\n\n",), "no value"),  # as a pickle: a memo of 180 million places
        (jobs.flood, (), "ended with"),
    ],
)
async def test_F73_a_breach_ends_in_parse_limit_and_the_next_job_is_unaffected(
    readers: Readers, job: object, args: tuple[object, ...], why: str
) -> None:
    before = await readers.run(jobs.pid)
    with pytest.raises(ParseLimit, match=why):
        await readers.run(job, *args, deadline=20)  # type: ignore[arg-type]
    assert await readers.run(jobs.length, b"abc") == 3
    assert await readers.run(jobs.pid) != before


async def test_a_child_that_hangs_is_killed_at_the_deadline(readers: Readers) -> None:
    await readers.run(jobs.pid)
    started = time.monotonic()
    with pytest.raises(ParseLimit, match="time"):
        await readers.run(jobs.sleep, 60, deadline=0.2)
    assert time.monotonic() - started < 1.0
    assert await readers.run(jobs.length, b"abc") == 3


async def test_an_exception_of_the_job_is_text_and_the_child_stays(readers: Readers) -> None:
    before = await readers.run(jobs.pid)
    with pytest.raises(ReadingFailed, match="ValueError"):
        await readers.run(jobs.fail)
    assert await readers.run(jobs.pid) == before


async def test_a_child_that_has_swollen_is_replaced_after_its_answer(readers: Readers) -> None:
    before = await readers.run(jobs.pid)
    assert await readers.run(jobs.swell, 300 * MB) == 300 * MB
    assert await readers.run(jobs.pid) != before


async def test_the_kernel_holds_the_limits_anew_for_each_job(readers: Readers) -> None:
    first = await readers.run(jobs.limits)
    assert first["RLIMIT_AS"] == 512 * MB
    assert first["RLIMIT_CORE"] == first["RLIMIT_FSIZE"] == 0
    assert first["RLIMIT_CPU"] <= 2


async def test_no_secret_of_ours_is_in_a_childs_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://user:secret@db/licet")
    pool = Readers(1)
    try:
        assert "secret" not in str(await pool.run(jobs.environment))
    finally:
        await pool.close()


async def test_the_event_loop_runs_on_while_a_page_is_parsed(readers: Readers) -> None:
    await readers.run(jobs.pid)
    gaps: list[float] = []

    async def tick() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.005)
            gaps.append(time.monotonic() - last)
            last = time.monotonic()

    ticking = asyncio.create_task(tick())
    await readers.run(jobs.sleep, 0.3)
    await asyncio.gather(*(readers.run(jobs.length, b"x" * 2_000_000) for _ in range(5)))
    ticking.cancel()
    assert len(gaps) > 20
    assert sorted(gaps)[len(gaps) // 2] < 0.05


async def test_jobs_wait_their_turn_and_a_cancelled_one_does_not_spoil_the_next(readers: Readers) -> None:
    await readers.run(jobs.pid)
    slow = asyncio.create_task(readers.run(jobs.sleep, 30))
    waiting = asyncio.create_task(readers.run(jobs.length, b"four"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    slow.cancel()
    assert await waiting == 4


async def test_closing_ends_a_job_that_is_under_way_and_leaves_no_process() -> None:
    pool = Readers(2)
    child = await pool.run(jobs.pid)
    busy = [asyncio.create_task(pool.run(jobs.sleep, 30)) for _ in range(2)]
    await asyncio.sleep(0.05)
    await pool.close()
    assert all(
        isinstance(one, ParseLimit | RuntimeError) for one in await asyncio.gather(*busy, return_exceptions=True)
    )
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


async def test_a_child_that_cannot_start_says_so() -> None:
    pool = Readers(1, preload=("no.such.module",))
    try:
        with pytest.raises(RuntimeError, match="does not start"):
            await pool.run(jobs.pid)
    finally:
        await pool.close()


def test_children_die_with_a_worker_that_is_killed() -> None:
    script = (
        "import asyncio, os, signal\n"
        "from crawler.reading.pool import Readers\n"
        "from tests.reading import jobs\n"
        "async def main():\n"
        "    pool = Readers(1)\n"
        "    print(await pool.run(jobs.pid), flush=True)\n"
        "    asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGKILL)\n"
        "    await pool.run(jobs.sleep, 60)\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    child = Path(f"/proc/{int(done.stdout)}")
    give_up = time.monotonic() + 5
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < give_up:
        time.sleep(0.01)  # the kernel's signal is on its way
    assert not child.exists() or "Z" in (child / "stat").read_text().split()[2]


HOSTILE = {
    "adoption_agency_40kB": "<b i>" * 2000 + "<i i>" * 2000 + "x</b>" * 2000,
    "links_in_paragraphs_100kB": "".join(f"<p><a href={'A' * 20}{n}><p>a" for n in range(3000)),
    "divs_500kB": "<div>" * 100_000,
    "attributes_890kB": "<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">",
    "one_line_2MB": "<a href=x>" * 200_000,
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_F73_documents_that_are_bombs_cost_a_child_at_most(name: str) -> None:
    pool = Readers(1, cpu_seconds=2, preload=("tests.reading.jobs",))
    started = time.monotonic()
    try:
        found = await pool.run(jobs.parse, HOSTILE[name], deadline=15)
        assert found >= 0
    except ParseLimit:
        pass
    finally:
        await pool.close()
    assert time.monotonic() - started < 16
