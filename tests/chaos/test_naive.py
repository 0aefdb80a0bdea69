"""The checkers condemn a worker that promises nothing."""

from __future__ import annotations

from tests.chaos.naive import play


def test_a_naive_worker_is_condemned_for_pace_overlap_authority_robots_and_audit() -> None:
    found = play().anomalies()
    assert {one.invariant for one in found} >= {"I1", "I2", "I3", "I4", "I5", "I9"}
    assert all(one.lines for one in found)
