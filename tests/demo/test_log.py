"""What is read from an origin's log is what happened there."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from demo import log
from models.web import Kind

ONE = log.Entry("shop.example", "GET", "/", "", 200, "x", 10.0, 10.2, 5)


def at(start: float, end: float, **changes: object) -> log.Entry:
    return replace(ONE, arrived=start, ended=end, **changes)  # type: ignore[arg-type]


def test_the_gap_runs_from_the_end_of_one_to_the_arrival_of_the_next() -> None:
    assert log.smallest_gap([at(0, 0.5), at(1.5, 2), at(3.25, 4)]) == 1.0


def test_a_short_request_does_not_hide_a_long_one_still_running() -> None:
    assert log.smallest_gap([at(0, 9), at(10, 10.1), at(11.5, 12), at(11.9, 12)]) == 11.9 - 12
    assert log.smallest_gap([at(0, 9), at(1, 2), at(4, 5)]) == -8


def test_gaps_are_counted_per_domain_with_and_without_www() -> None:
    assert log.smallest_gap([at(0, 1), at(1.5, 2, host="www.shop.example")]) == 0.5
    assert log.smallest_gap([at(0, 1), at(1.5, 2, host="other.example")]) is None


def test_proofs_and_address_checks_are_not_part_of_the_pace() -> None:
    token = at(0.9, 1.0, path="/.well-known/ema-site-verification.txt")
    assert log.smallest_gap([at(0, 0.5), token, at(1.6, 2)]) == 1.6 - 0.5
    assert log.smallest_gap([]) is None


def test_kinds_are_told_by_method_and_path() -> None:
    kinds = {
        Kind.ROBOTS: at(0, 1, path="/robots.txt"),
        Kind.SITEMAP: at(0, 1, path="/sitemap.xml"),
        Kind.TOKEN_FILE: at(0, 1, path="/.well-known/ema-site-verification.txt"),
        Kind.ADDRESS_CHECK: at(0, 1, method="HEAD"),
        Kind.PAGE: ONE,
    }
    for kind, entry in kinds.items():
        assert entry.kind is kind
    assert log.requests_by_kind([*kinds.values(), ONE]) == {
        "page": 2,
        "robots": 1,
        "sitemap": 1,
        "token_file": 1,
        "address_check": 1,
    }


@given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 50)), min_size=2))
def test_the_gap_is_negative_exactly_when_two_overlap(spans: list[tuple[int, int]]) -> None:
    entries = [at(start, start + length) for start, length in spans]
    ordered = sorted((start, start + length) for start, length in spans)
    overlap = any(b[0] < a[1] for i, a in enumerate(ordered) for b in ordered[i + 1 :])
    gap = log.smallest_gap(entries)
    assert gap is not None
    assert (gap < 0) is overlap


def test_a_log_is_read_back_in_order_of_arrival(tmp_path: Path) -> None:
    file = tmp_path / "origin.jsonl"
    assert log.read(file) == []
    late, early = at(5, 6), at(1, 9, path="/à?b", user_agent='"\n')
    log.write(file, late)
    log.write(file, early)
    assert log.read(file) == [early, late]
