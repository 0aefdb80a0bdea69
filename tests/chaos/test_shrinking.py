"""A failing schedule is shrunk to the faults that it needs, in few runs: each takes minutes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.chaos import run
from tests.chaos.nemesis import Fault
from tests.chaos.run import PROFILES, shortest, shrink


def planned(count: int) -> list[Fault]:
    return [Fault(10.0 * (number + 1), "kill", "worker-1", number) for number in range(count)]


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_what_is_left_is_what_it_takes_and_in_order(case: tuple[int, set[int]]) -> None:
    count, needed = case
    runs = 0

    def fails(part: list[Fault]) -> bool:
        nonlocal runs
        runs += 1
        return needed <= {fault.dice for fault in part}

    assert [fault.dice for fault in shortest(planned(count), fails)] == sorted(needed)
    if len(needed) == 1:
        assert runs <= 4 * count.bit_length()


def test_each_part_is_a_run_of_its_own_that_begins_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[tuple[str, list[Fault]]] = []

    def once(folder: Path, _profile: object, faults: list[Fault], _seed: int) -> tuple[bool, dict[str, Any]]:
        played.append((folder.name, faults))
        return not any(fault.dice == 13 for fault in faults), {}

    monkeypatch.setattr(run, "once", once)
    (left,) = shrink(tmp_path, PROFILES["short"], planned(16), 7)
    assert left.dice == 13
    assert len({name for name, _ in played}) == len(played)
    for _, faults in played:
        assert faults[0].at == 5
        assert all(later.at - fault.at == 10 * (later.dice - fault.dice) for fault, later in pairwise(faults))
