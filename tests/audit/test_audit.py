"""`licet audit` from the audit rows of a real database (E24)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from commands.line import licet
from models import events, ids
from models.events import Fact
from tests.sink import histories
from tests.sink.histories import ACCOUNT, CRAWL, REFUSED, START, history, request

SITE = "shop.example"

CHECK, PROOF = ids.job_id("check", "save-1"), ids.job_id("verification", "verify-1")
ROME = ZoneInfo("Europe/Rome")


def apply(engine: Engine, facts: list[Fact]) -> None:
    """The facts as they would be of a site that a command may name."""
    histories.apply(engine, [fact.model_copy(update={"site": SITE}) for fact in facts])


def outside(number: int, job: str, kind: str, after: float) -> events.RequestEnded:
    own = {"id": ids.event_id(job, "request", number), "job": job, "started_at": START + after}
    return request(number, f"https://{SITE}/", kind).model_copy(update={**own, "ended_at": START + after + 0.2})


def between(first: float, last: float) -> tuple[str, ...]:
    """A window of seconds after the start, by the clocks of Rome."""
    times = [datetime.fromtimestamp(START + at, UTC).astimezone(ROME).replace(tzinfo=None) for at in (first, last)]
    return ("--from", times[0].isoformat(), "--to", times[1].isoformat(), "--zone", "Europe/Rome")


@pytest.fixture
def filled(engine: Engine, database_url: str) -> str:
    checks = [outside(1, CHECK, "address_check", 2), outside(1, PROOF, "token_file", 9)]
    apply(engine, [*history(), *checks])
    return database_url


def ask(url: str, *arguments: str, host: str = SITE) -> Result:
    env = {"LICET_DATABASE_URL": url, "LICET_KAFKA": "127.0.0.1:9"}
    return CliRunner().invoke(licet, ("audit", host, *arguments), env=env, catch_exceptions=False)


def answer(url: str, *arguments: str, code: int = 0) -> Any:
    result = ask(url, *arguments, "--json")
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_E24_a_window_names_crawls_refusals_and_what_was_outside_of_them(filled: str) -> None:
    found = answer(filled, *between(-10, 600))
    ran, refused = sorted(found["crawls"], key=lambda row: row["accepted"], reverse=True)
    assert (ran["crawl"], ran["requester"], ran["requested_by"], ran["account"]) == (
        CRAWL,
        "customer",
        "ann",
        ACCOUNT,
    )
    assert ran["in_window"] == {"page": 3, "robots": 1}
    assert ran["authority"].startswith("a token file, on file since 2023-11-14 23:13:30 CET")
    assert (refused["crawl"], refused["refusal"], refused["in_window"]) == (REFUSED, "unverified", {})
    assert refused["authority"] == "no proof on file"
    assert [(row["what"], row["in_window"]) for row in found["outside_crawls"]] == [
        ("check of a saved address", {"address_check": 1}),
        ("looking for a proof", {"token_file": 1}),
    ]
    assert found["answer"].startswith("Yes: 6 requests to shop.example")
    assert ran["requested_at"].startswith("2023-11-14T23:13:39")
    assert ran["requested_at"].endswith("+01:00")


def test_E24_the_window_cuts_what_is_counted(filled: str) -> None:
    found = answer(filled, *between(22, 23))
    assert [row["crawl"] for row in found["crawls"]] == [CRAWL]
    assert found["crawls"][0]["in_window"] == {"page": 1}
    assert found["outside_crawls"] == []
    quiet = answer(filled, *between(40, 50))
    assert [(row["crawl"], row["in_window"]) for row in quiet["crawls"]] == [(CRAWL, {})]
    assert quiet["answer"].startswith("No: 0 requests")


def test_E24_a_request_that_came_back_after_the_end_counts(filled: str, engine: Engine) -> None:
    late = request(9, f"https://{SITE}/late").model_copy(update={"started_at": START + 59, "ended_at": START + 70})
    apply(engine, [late])
    found = answer(filled, *between(65, 69))
    assert [(row["crawl"], row["in_window"]) for row in found["crawls"]] == [(CRAWL, {"page": 1})]


def test_E24_a_url_that_was_never_asked_for_is_no_request(filled: str, engine: Engine) -> None:
    apply(engine, [request(9, f"https://{SITE}/never").model_copy(update={"sent": False})])
    assert answer(filled, *between(28, 30))["crawls"][0]["in_window"] == {}


@pytest.mark.parametrize("host", ["www.shop.example", "https://SHOP.example/some/page"])
def test_E24_people_read_a_table_that_says_what_it_covers(filled: str, host: str) -> None:
    result = ask(filled, *between(-10, 600), host=host)
    assert result.exit_code == 0
    assert "never a single line of a log" in result.stdout
    for said in ("Yes: 6 requests", "refused: unverified", "2023-11-14 23:13:39 CET", "robots 1", "address_check 1"):
        assert said in result.stdout


def wembi(said: str, after: float) -> Fact:
    kind = {"listed": events.Listed, "unlisted": events.Unlisted}[said]
    return kind(id=f"{said}{after}", at=START + after, site=SITE, by="ann", reason="project 3")


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ([], "never on the operator's list"),
        ([("listed", 5)], "on the operator's list since 2023-11-14 23:13:25 CET, put there by ann (project 3)"),
        ([("listed", 5), ("unlisted", 9)], "off the operator's list since 2023-11-14 23:13:29 CET"),
        ([("listed", 5), ("unlisted", 500)], "on the operator's list since 2023-11-14 23:13:25 CET"),
        ([("listed", 500)], "never on the operator's list"),  # what came after the decision was not its ground
    ],
)
def test_E24_W01_the_operator_s_list_is_the_authority_as_it_stood_then(
    engine: Engine, database_url: str, said: list[tuple[str, float]], begins: str
) -> None:
    decided = histories.decided(accepted=True)
    bare = decided.model_copy(update={"bot": "wembi", "verified": False, "proof": None, "verified_at": None})
    apply(engine, [bare, *(wembi(*one) for one in said)])
    found = answer(database_url, *between(-10, 600))
    assert found["crawls"][0]["authority"].startswith(begins)


def shown(url: str, *arguments: str) -> Result:
    env = {"LICET_DATABASE_URL": url, "LICET_KAFKA": "127.0.0.1:9"}
    return CliRunner().invoke(licet, ("show", SITE, *arguments), env=env, catch_exceptions=False)


def test_E11_a_site_with_nothing_but_an_attestation_is_shown_as_still_to_be_proved(
    engine: Engine, database_url: str
) -> None:
    own: dict[str, Any] = {"site": SITE, "host": SITE}
    paper = {"method": "attestation", "weaker": True, "by": "ann", "kept_at": "drawer 3"}
    dns: dict[str, Any] = {"method": "dns", "weaker": False}
    apply(engine, [
        events.Verified(id="v1", at=START, account="anna", **paper, **own),
        events.Verified(id="v2", at=START, account="ben", **paper, **own),
        events.Verified(id="v3", at=START + 1, account="ben", **dns, **own),
        events.Verified(id="v4", at=START, account="carl", **dns, **own),
        events.Verified(id="v5", at=START + 1, account="carl", **paper, **own),
        events.Verified(id="v6", at=START, account="dora", **paper, **own),
        events.VerificationWithdrawn(id="v7", at=START + 1, site=SITE, account="dora", by="ann", reason="sold"),
    ])  # fmt: skip
    assert json.loads(shown(database_url, "--json").stdout)["still_to_be_proved"] == ["anna"]
    said = shown(database_url).stdout
    assert said.count("STILL TO BE PROVED") == 1
    assert f"`licet token {SITE} --account anna`" in said
    apply(engine, [events.Verified(id="v8", at=START + 2, account="anna", **dns, **own)])
    assert "STILL TO BE PROVED" not in shown(database_url).stdout


def test_E24_nothing_is_a_sentence_and_code_1(filled: str) -> None:
    for found in (ask(filled, *between(5000, 6000)), ask(filled, *between(-10, 600), host="other.example")):
        assert found.exit_code == 1
        assert found.stdout.startswith("No: nothing was asked of ")
        assert "never a single line of a log" in found.stdout
    assert answer(filled, *between(5000, 6000), code=1)["crawls"] == []


@pytest.mark.parametrize(
    ("arguments", "host"),
    [
        (("--from", "2026-03-02", "--to", "2026-03-03", "--zone", "Rome/Europe"), SITE),
        (("--from", "soon", "--to", "2026-03-03", "--zone", "UTC"), SITE),
        (("--from", "2026-03-04", "--to", "2026-03-02", "--zone", "UTC"), SITE),
        (("--from", "2026-03-02", "--to", "2026-03-03"), SITE),
        (("--from", "2026-03-02", "--to", "2026-03-03", "--zone", "UTC"), "http://"),
    ],
)
def test_E24_a_mistake_is_code_2_and_no_answer(filled: str, arguments: tuple[str, ...], host: str) -> None:
    found = ask(filled, *arguments, host=host)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "Traceback" not in found.stderr


def test_E24_a_database_that_is_away_is_no_answer_of_no() -> None:
    found = ask("postgresql+psycopg2://nobody@127.0.0.1:9/none", *between(0, 1))
    assert (found.exit_code, found.stdout) == (2, "")
