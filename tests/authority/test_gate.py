"""Every combination of what the gate looks at, and its answer, from the table beside this file."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, get_args

import pytest

import bots
from crawler.rules import gate
from crawler.rules.gate import Asking
from models.events import Refusal
from models.profile import Profile
from models.state import Account, Confirmation, Head, Job, Proof, Suspension

TABLE = Path(__file__).with_name("decisions.txt")
AXES: dict[str, tuple[str, ...]] = {
    "bot": ("ema", "certant", "wembi"),
    "asked": ("crawl", "listing"),
    "stop": ("none", "suspended", "blocked", "both"),
    "proof": ("none", "mine", "weak", "other"),
    "word": ("no", "yes"),
    "requester": ("customer", "schedule", "staff"),
    "running": ("no", "same", "another"),
    "scope": ("site", "list", "off"),
    "cap": ("free", "full"),
}
NOW = 1_800_000_000.0
HOST = "shop.example"
SAID = Suspension(at=1.0, by="ann", reason="so")
STRONG = Proof(method="dns", host=HOST, at=1.0)
WEAK = Proof(method="attestation", host=HOST, at=1.0, weaker=True, by="ann", kept_at="drawer 3")


def table() -> list[tuple[list[str], str]]:
    lines = [line.split() for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return [(cells[: len(AXES)], cells[-1]) for cells in lines]


def expected(case: dict[str, str]) -> tuple[int, str]:
    """The number of the line that decides, and its answer."""
    for number, (cells, answer) in enumerate(table_lines):
        if all(cell == "*" or case[axis] in cell.split("|") for axis, cell in zip(AXES, cells, strict=True)):
            return number, answer
    raise AssertionError(f"the table has no line for {case}")


table_lines = table()


def head_of(case: dict[str, str]) -> Head:
    """A site in the state that the case describes."""
    account = Account(
        proof={"mine": STRONG, "weak": WEAK}.get(case["proof"]),
        confirmed=Confirmation(at=1.0, by="carl") if case["word"] == "yes" else None,
        scope=(f"https://{HOST}/a",) if case["scope"] == "list" else None,
        schedule=case["scope"] != "off",
    )
    kinds = {"same": case["asked"], "another": "verification", "no": None}
    kind = kinds[case["running"]]
    jobs = (Job(id="j", kind=kind, account="x", host=HOST, start="", accepted_at=0, deadline=9e9),) if kind else ()
    return Head(
        site=HOST,
        partition=0,
        accounts={"acme": account, "rival": Account(proof=STRONG if case["proof"] == "other" else None)},
        suspended=SAID if case["stop"] in ("suspended", "both") else None,
        blocked=SAID if case["stop"] in ("blocked", "both") else None,
        listed=SAID if case["word"] == "yes" else None,
        jobs=jobs,
        starts={gate.day_of(NOW): tuple("abcde") if case["cap"] == "full" else ("a",)},
    )


def answer_of(case: dict[str, Any]) -> str:
    asking = Asking("acme", case["requester"], NOW, HOST, f"https://{HOST}/", case["asked"])
    return gate.admit(head_of(case), asking, bots.load(case["bot"])).refusal or "start"


def test_E05_E21_E22_E25_W01_W13_C01_every_combination_is_decided_as_the_table_says() -> None:
    used = set()
    for values in itertools.product(*AXES.values()):
        case = dict(zip(AXES, values, strict=True))
        number, answer = expected(case)
        used.add(number)
        assert answer_of(case) == answer, case
    assert used == set(range(len(table_lines))), "a line of the table decides nothing"


def test_every_refusal_has_a_sentence_and_the_table_has_every_refusal() -> None:
    assert set(gate.SENTENCES) == set(get_args(Refusal))
    assert {answer for _, answer in table_lines} == {*get_args(Refusal), "start"}


def case(**more: str) -> dict[str, str]:
    plain = {"bot": "ema", "asked": "crawl", "stop": "none", "proof": "mine", "word": "no", "requester": "customer"}
    return {**plain, "running": "no", "scope": "site", "cap": "free", **more}


@pytest.mark.parametrize(("starts", "answer"), [(4, "start"), (5, "cap"), (6, "cap")])
def test_E21_the_sixth_start_of_a_day_is_refused(starts: int, answer: str) -> None:
    head = head_of(case()).model_copy(update={"starts": {gate.day_of(NOW): tuple(map(str, range(starts)))}})
    asking = Asking("acme", "customer", NOW, HOST, "")
    assert (gate.admit(head, asking, bots.load("ema")).refusal or "start") == answer


def test_E21_the_day_is_the_utc_day_of_the_asking() -> None:
    midnight = 1_800_057_600.0
    head = head_of(case()).model_copy(update={"starts": {gate.day_of(midnight - 1): tuple("abcde")}})
    for at, refused in ((midnight - 1, True), (midnight, False)):
        asking = Asking("acme", "customer", at, HOST, "")
        assert (gate.admit(head, asking, bots.load("ema")).refusal == "cap") is refused


def test_E21_a_redelivered_start_counts_once_and_staff_do_not_count() -> None:
    head = Head(site=HOST, partition=0)
    for crawl, requester in (("a", "customer"), ("a", "customer"), ("b", "schedule"), ("c", "staff")):
        head = gate.counted(head, crawl, requester, NOW)  # type: ignore[arg-type]
    assert head.starts[gate.day_of(NOW)] == ("a", "b")


@pytest.mark.parametrize(
    ("plan", "proved", "pages"),
    [("", False, 25), ("trial", False, 25), ("paid", False, 100), ("trial", True, 1000), ("paid", True, 5000)],
)
def test_C02_pages_kept_follow_from_plan_and_proof(plan: str, proved: bool, pages: int) -> None:
    assert gate.limits_of(bots.load("certant"), Account(), plan, proved=proved).pages == pages


@pytest.mark.parametrize("plan", ["PAID", "gold", "paid ", "unlimited", "5000"])
def test_C02_an_unknown_plan_is_the_narrowest(plan: str) -> None:
    assert gate.limits_of(bots.load("certant"), Account(), plan, proved=True).pages == 1000


def test_C06_before_the_proof_is_found_again_the_standard_limit_holds() -> None:
    head = head_of(case(word="yes"))
    asking = Asking("acme", "customer", NOW, HOST, f"https://{HOST}/", plan="paid")
    verdict = gate.admit(head, asking, bots.load("certant"))
    assert verdict.recheck
    assert verdict.limits is not None
    assert verdict.limits.pages == 100


def test_E18_no_plan_widens_ema() -> None:
    for proved in (True, False):
        limits = gate.limits_of(bots.load("ema"), Account(), "paid", proved=proved)
        assert (limits.pages, limits.page_requests, limits.pairs_requests) == (60, 120, 0)
        listed = gate.limits_of(bots.load("ema"), Account(scope=("x",)), "paid", proved=proved)
        assert (listed.pages, listed.page_requests, listed.pairs_requests) == (60, 60, 20)


@pytest.mark.parametrize(
    ("proof", "host", "start", "counts"),
    [
        ({"method": "dns"}, "shop.example", "/", True),
        ({"method": "dns"}, "www.shop.example", "/", False),
        ({"method": "token_file"}, "www.shop.example", "/", False),
        ({"method": "start_page_meta"}, "www.shop.example", "/", True),
        ({"method": "start_page_meta", "path": "/~ann"}, "shop.example", "/~ann/", True),
        ({"method": "start_page_meta", "path": "/~ann"}, "shop.example", "/~ann", True),
        ({"method": "start_page_meta", "path": "/~ann"}, "shop.example", "/~anna/", False),
        ({"method": "start_page_meta", "path": "/~ann"}, "shop.example", "/", False),
        ({"method": "start_page_header", "path": "/~ann"}, "www.shop.example", "/~ann/", False),
    ],
)
def test_C03_C04_a_proof_counts_for_its_host_or_its_path(
    proof: dict[str, Any], host: str, start: str, counts: bool
) -> None:
    held = Proof(host=HOST, at=1.0, **proof)
    asking = Asking("acme", "customer", NOW, host, f"https://{host}{start}")
    profile: Profile = bots.load("certant")
    assert (gate.counting_proof(held, asking, profile) is not None) is counts


def test_E06_a_proof_of_ema_counts_for_both_names() -> None:
    asking = Asking("acme", "customer", NOW, f"www.{HOST}", f"https://www.{HOST}/")
    assert gate.counting_proof(STRONG, asking, bots.load("ema")) is STRONG


def test_E11_a_site_with_nothing_but_an_attestation_stays_flagged() -> None:
    assert gate.still_to_be_proved(Account(proof=WEAK))
    assert not gate.still_to_be_proved(Account(proof=STRONG))
    assert not gate.still_to_be_proved(Account())


def test_E10_E11_a_weaker_proof_never_takes_the_place_of_a_stronger() -> None:
    assert gate.better(STRONG, WEAK) is STRONG
    assert gate.better(WEAK, STRONG) is STRONG
    assert gate.better(None, WEAK) is WEAK
    newer = STRONG.model_copy(update={"at": 2.0})
    assert gate.better(STRONG, newer) is newer
