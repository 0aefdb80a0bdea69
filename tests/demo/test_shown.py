"""What a stranger sees of the demonstration, in a terminal and in a log."""

import io
import itertools

import pytest
from rich.console import Console

from demo.progress import Display, Snapshot
from demo.summary import Summary, show

START = Snapshot("shop.example", "robots.txt", requests=1, next_in=0.9)
DONE = Snapshot("shop.example", "finished", 47, 47, 51, done=True)


def console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=110, color_system=None)


def printed(of: Console) -> str:
    assert isinstance(of.file, io.StringIO)
    return of.file.getvalue()


def test_a_log_gets_a_line_for_each_phase_and_one_every_few_seconds() -> None:
    now, out = 100.0, console(terminal=False)
    with Display(out, lambda: now) as display:
        display.show(START)
        for second in range(12):
            now += 1
            display.show(Snapshot("shop.example", "crawling", second, 47, second + 2, 0.5))
        display.show(DONE)
    lines = printed(out).splitlines()
    assert lines[0] == "shop.example: robots.txt, 0 pages, requests: 1, next request in 0.9 s"
    assert [line.split(", ")[1] for line in lines[1:]] == [f"{n} of 47 pages" for n in (0, 5, 10, 47)]
    assert "\x1b" not in printed(out)


def test_nothing_new_is_not_printed_again() -> None:
    minutes, out = itertools.count(0, 60), console(terminal=False)
    with Display(out, lambda: float(next(minutes))) as display:
        for _ in range(3):
            display.show(START)
    assert len(printed(out).splitlines()) == 1


def test_a_terminal_gets_a_bar_with_pages_requests_and_the_wait() -> None:
    out = console(terminal=True)
    with Display(out) as display:
        display.show(Snapshot("shop.example", "crawling", 10, 47, 12, 0.4))
        display.show(DONE)
    text = printed(out)
    assert "10 pages   12 requests  next request in 0.4 s" in text
    assert "47 pages   51 requests" in text


def test_a_wait_that_is_over_is_not_shown_as_negative() -> None:
    assert Snapshot("a.example", "crawling", next_in=-0.3).line().endswith("next request in 0.0 s")


@pytest.mark.parametrize(("gap", "words"), [(1.0004, "kept"), (0.9996, "BROKEN"), (None, "fewer than two")])
def test_the_summary_says_whether_the_pace_was_kept(gap: float | None, words: str) -> None:
    out = console(terminal=False)
    show(Summary("shop.example", "finished", 47, 40, 52.5, {"page": 49, "robots": 1}, gap, 1.0), out)
    assert words in printed(out)
    assert "50 (page 49, robots 1)" in printed(out)


def test_the_summary_shows_the_audit_row_as_it_stands() -> None:
    audit = {"requested_by": "[bold]console[/]", "verified": True, "reason": None}
    out = console(terminal=False)
    show(Summary("shop.example", "finished", 1, 0, 1.0, {}, None, 1.0, audit), out)
    text = printed(out)
    assert "[bold]console[/]" in text
    assert "yes" in text
