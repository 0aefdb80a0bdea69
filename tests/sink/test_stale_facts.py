"""What a frozen process tells late, and what is told twice, changes no row: whatever has been told since (I12, F31)."""

from __future__ import annotations

from typing import Any

import pytest

from models.events import Fact
from tests.chaos.projecting import Tables, project
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"


@pytest.fixture(scope="module")
def told() -> list[Fact]:
    """A site's life: settings twice, a proof, crawls, a kill in between, a suspension and its end."""
    world = World([Shop(SITE, pages=5, busy=frozenset({2}))], 4)
    world.start("worker-1")
    world.run(5)
    for note in ("spring", "autumn"):
        world.say("address-saved", SITE, note=note)
        world.run(5)
    world.say("verification-requested", SITE)
    world.run(10)
    world.crawl(SITE)
    world.run(4)
    world.kill("worker-1")
    world.settle()
    world.crawl(SITE)
    world.run(5)
    world.operator("suspend-site", SITE)
    world.run(5)
    world.operator("resume-site", SITE)
    world.run(5)
    world.crawl(SITE)
    world.settle()
    return world.told()


def test_I12_a_fact_that_comes_again_at_any_time_changes_nothing(told: list[Fact]) -> None:
    assert len({type(fact) for fact in told}) >= 10
    rows = project(told)
    for late in range(len(told)):
        assert project([*told, told[late]]) == rows, told[late]


def test_I12_facts_of_a_frozen_process_that_come_after_its_successor_s_change_nothing(told: list[Fact]) -> None:
    """All that was told within some moments comes once more, in its order, behind everything else."""
    rows = project(told)
    for begin in range(0, len(told), 3):
        assert project([*told, *told[begin : begin + 7]]) == rows


def older(fact: Any, seconds: float) -> Any:
    return fact.model_copy(update={"at": fact.at - seconds, "id": "00000000-0000-5000-8000-000000000000"})


def test_E07_older_settings_and_pauses_never_take_the_place_of_newer_ones(told: list[Fact]) -> None:
    first, last = [fact for fact in told if fact.type == "settings-saved"]  # type: ignore[union-attr]
    assert settings(project([last, first])) == settings(project([first, last])) == "autumn"
    assert settings(project([last, older(last.model_copy(update={"note": "stale"}), 1.0)])) == "autumn"


def settings(tables: Tables) -> Any:
    (row,) = tables["settings"]
    return row["note"]


def test_E25_a_late_suspension_s_copy_leaves_the_resumption_in_force(told: list[Fact]) -> None:
    suspended = next(fact for fact in told if fact.type == "suspended")  # type: ignore[union-attr]
    rows = project([*told, suspended])["suspensions"]
    assert [row["kind"] for row in sorted(rows, key=lambda row: str(row["at"]))] == ["suspended", "resumed"]


def test_A04_an_answer_that_was_told_and_lost_leaves_the_later_attempt_as_the_outcome(told: list[Fact]) -> None:
    """docs/outcomes.md: of a URL's final rows the one of the highest number, in whichever order they come."""
    answer: Any = next(fact for fact in told if fact.type == "request-ended" and fact.final and fact.kind == "page")  # type: ignore[union-attr]
    lost = answer.model_copy(update={"outcome": "interrupted", "final": False, "at": answer.at + 30})
    again = answer.model_copy(
        update={"id": "00000000-0000-5000-8000-000000000001", "number": answer.number + 1, "outcome": "http_5xx"}
    )
    for order in ([answer, lost, again], [lost, again, answer], [again, lost, answer]):
        rows = [row for row in project(order)["fetches"] if row["final"]]
        assert max(rows, key=lambda row: int(row["number"]))["outcome"] == "http_5xx"
