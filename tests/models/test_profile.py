"""Packaged ceilings can be tightened, never widened (E01, E16, E18, E21, W05, W10, C02, C08, C11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

import bots
from models.ceilings import ProfileError

EMA, WEMBI, CERTANT = (bots.load(name) for name in ("ema", "wembi", "certant"))


@pytest.mark.parametrize(
    ("bot", "field", "value"),
    [
        ("ema", "identity.token", "OtherBot"),  # E01
        ("ema", "identity.version", "2.0"),
        ("ema", "identity.page", "https://other.example/"),
        ("ema", "identity.note_max", 81),
        ("ema", "pace.crawl.delay", 0.99),  # E16
        ("ema", "pace.listing.delay", 0.4),
        ("ema", "pace.max_in_flight", 2),
        ("ema", "pace.crawl.crawl_delay_cap", 5),  # E15
        ("ema", "pace.own_sites", {"delay": 0.1, "response_factor": 0, "crawl_delay_cap": None}),
        ("ema", "budget.pages", 61),  # E18
        ("ema", "budget.page_requests", 121),
        ("ema", "budget.sitemap_requests", 6),
        ("ema", "budget.listed_pages", 61),
        ("ema", "budget.pairs_only_pages", 21),
        ("ema", "budget.llms_txt_requests", 1),  # A01
        ("ema", "gate.customer_starts_per_day", 6),  # E21
        ("ema", "gate.customer_starts_per_day", None),
        ("ema", "gate.kind", "operator_list"),  # E05
        ("ema", "gate.recheck_proof", True),
        ("ema", "timeouts.crawl", 31),  # E17
        ("ema", "refusal.retries", 3),  # E19
        ("ema", "refusal.wait_cap", 13),
        ("ema", "robots.policy", "rfc9309"),  # E14
        ("ema", "robots.html_is_unreadable", False),
        ("ema", "robots.max_hops", 6),
        ("ema", "robots.lifetime", 1),  # E15
        ("ema", "scope.query", "strip_tracking"),  # E20
        ("ema", "bodies.page", 2_000_001),
        ("ema", "media.page", ["text/html", "application/pdf"]),  # E04
        ("ema", "proofs.file.max_bytes", 2048),  # E09
        ("ema", "address_check.timeout", 6),  # E07
        ("wembi", "pace.crawl.delay", 2.9),  # W05
        ("wembi", "pace.crawl.response_factor", 2.9),
        ("wembi", "pace.own_sites.delay", 0.4),
        ("wembi", "pace.scope", "job"),  # W04
        ("wembi", "pace.max_in_flight", 2),
        ("wembi", "budget.pages", 2001),  # W10
        ("wembi", "robots.lifetime", 90_000),  # W03
        ("wembi", "gate.schedule", True),  # W01
        ("wembi", "refusal.pause_cap", 90_000),  # W06
        ("certant", "budget.plans.trial.standard", 26),  # C02
        ("certant", "budget.plans.paid.proved", 5001),
        ("certant", "pace.crawl.crawl_delay_cap", 9),  # C08
        ("certant", "pace.max_in_flight", 5),  # C11
        ("certant", "pace.crawl.delay", 0.4),
        ("certant", "discovery.noindex", "record"),  # C09
        ("ema", "no.such.field", 1),
        ("ema", "pace.crawl.delay", "abc"),
        ("ema", "pace.crawl.delay", float("nan")),
        ("ema", "pace.crawl", 5),
    ],
)
def test_E01_E16_E18_E21_W05_W10_C02_C08_C11_a_widening_is_refused_by_name(bot: str, field: str, value: Any) -> None:
    with pytest.raises(ProfileError) as caught:
        bots.load(bot).tightened(nested(field, value), origin="licet.yaml")
    named = caught.value
    assert named.origin == "licet.yaml"
    assert field.startswith(named.field)
    assert named.allowed
    assert str(named).startswith("licet.yaml: ")


@pytest.mark.parametrize(
    ("bot", "field", "value"),
    [
        ("ema", "pace.crawl.delay", 2),
        ("ema", "budget.pages", 0),
        ("ema", "gate.customer_starts_per_day", 1),
        ("ema", "gate.schedule", False),
        ("ema", "media.page", ["text/html"]),
        ("ema", "discovery.obey_nofollow", True),
        ("ema", "publication.contact", "crawler@example.com"),
        ("wembi", "identity.page", "https://example.com/bot"),
        ("wembi", "egress.ipv4", "192.0.2.1"),
        ("certant", "refusal.pause_after", 3),
        ("certant", "budget.plans.trial.standard", 5),
    ],
)
def test_a_tightening_is_taken(bot: str, field: str, value: Any) -> None:
    profile = bots.load(bot).tightened(nested(field, value))
    got: Any = profile
    for part in field.split("."):
        got = getattr(got, part)
    assert got == (tuple(value) if isinstance(value, list) else value)
    assert profile != bots.load(bot)


def nested(field: str, value: Any) -> dict[str, Any]:
    for part in reversed(field.split(".")):
        value = {part: value}
    return dict(value)


def test_a_tightened_profile_cannot_be_loosened_again() -> None:
    with pytest.raises(ProfileError, match=r"at least 2\.0"):
        EMA.tightened({"pace": {"crawl": {"delay": 2}}}).tightened({"pace": {"crawl": {"delay": 1.5}}})


def test_a_file_of_the_operators_names_itself_in_the_refusal(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("bot: ema\nbudget: {pages: 100}\n")
    with pytest.raises(ProfileError, match=r"mine\.yaml: budget\.pages = 100 is refused: at most 60"):
        bots.load_file(path)
    path.write_text("bot: ema\nbudget: {pages: 30}\n")
    assert bots.load_file(path).budget.pages == 30


@pytest.mark.parametrize("content", ["", "[]", "bot: nobody", "{", "bot: [ema]"])
def test_an_unreadable_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(content)
    with pytest.raises(ProfileError, match=r"mine\.yaml"):
        bots.load_file(path)


def test_the_environment_tightens_and_never_widens() -> None:
    assert bots.from_environment(EMA, {"LICET_BOT__PACE__CRAWL__DELAY": "2.5", "PATH": "x"}).pace.crawl.delay == 2.5
    with pytest.raises(ProfileError, match="LICET_BOT__PACE__CRAWL__DELAY"):
        bots.from_environment(EMA, {"LICET_BOT__PACE__CRAWL__DELAY": "0.5"})


@pytest.mark.parametrize("name", bots.NAMES)
def test_the_packaged_file_given_as_an_operators_changes_nothing(name: str) -> None:
    assert bots.load_file(Path(bots.__file__).parent / f"{name}.yaml") == bots.load(name)


def test_profiles_are_frozen_and_complete() -> None:
    with pytest.raises(ValidationError):
        EMA.budget.pages = 100  # type: ignore[misc]
    with pytest.raises(KeyError, match="certant, ema, wembi"):
        bots.load("nobody")


def test_E03_E16_contradictions_are_refused() -> None:
    data = EMA.model_dump()
    data["robots"]["offsite_hops"] = True
    with pytest.raises(ValidationError):
        type(EMA).model_validate(data)


def test_the_three_numbers_of_every_policy() -> None:
    assert (EMA.gate.customer_starts_per_day, EMA.budget.pages, EMA.pace.crawl.delay) == (5, 60, 1.0)
    assert (WEMBI.budget.pages, WEMBI.pace.crawl.delay, WEMBI.pace.crawl.response_factor) == (2000, 3.0, 3.0)
    assert (CERTANT.pace.max_in_flight, CERTANT.pace.crawl.crawl_delay_cap) == (4, 10.0)
