"""The commands against a running stack, in the order in which a customer would use them.

One scenario in one test: each step needs the one before, and the stack is the slow part.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from crawler.rules.tokens import token
from tests.commands.conftest import Town

pytestmark = pytest.mark.stack
HOST, PAGES = "bottega.example", ("https://bottega.example/", "https://bottega.example/en/faq/")

SCOPE = [word for page in PAGES for word in ("--page", page)]


def test_E05_E07_E09_E23_E25_save_prove_crawl_look_suspend(town: Town) -> None:
    _nothing_is_known(town)
    _saved(town)
    _refused_before_the_proof(town)
    _not_proved_then_proved(town)
    crawl = _crawled(town)
    _shown(town, crawl)
    _suspended_and_resumed(town, crawl)


def _nothing_is_known(town: Town) -> None:
    for command in ("crawl", "verify", "token"):
        result = town.licet(command, HOST)
        assert result.exit_code == 1
        assert f"licet save {HOST} --account NAME" in result.stderr
    assert "Nothing is known" in town.licet("show", HOST).stderr
    assert f"licet crawl {HOST}" in town.licet("pages", HOST).stderr
    assert town.shop.entries() == []


def _saved(town: Town) -> None:
    found: dict[str, Any] = town.json("save", "www." + HOST, "--account", "anna", *SCOPE)
    assert (found["account"], found["site"], found["answers"]) == ("anna", HOST, True)
    again = town.licet("save", "www." + HOST, "--account", "anna", *SCOPE)
    assert "answers" not in again.stdout
    assert again.exit_code == 0, again.output
    assert [entry.method for entry in town.shop.entries()] == ["HEAD"]  # E07: the same address again asks nothing
    refused = town.licet("save", "www." + HOST, "--account", "anna", *SCOPE, "--note", "Googlebot")
    assert refused.exit_code == 1
    assert "note" in refused.stderr


def _refused_before_the_proof(town: Town) -> None:
    result = town.licet("crawl", HOST)
    assert result.exit_code == 1
    assert f"licet verify {HOST} --account anna" in result.stderr
    assert "refused_unverified" in result.stdout
    assert town.licet("crawl", HOST, "--staff").exit_code == 2


def _not_proved_then_proved(town: Town) -> None:
    failed = town.licet("verify", HOST)
    assert failed.exit_code == 1
    assert "ema-site-verification.txt" in failed.stderr
    said: dict[str, Any] = town.json("token", HOST)
    assert town.stack.stack is not None
    key = Path(town.stack.stack.token_key_file).read_bytes()
    assert said["token"] == token(key, "ema", "anna", HOST, time.time())
    assert set(said["places"]) == {"token_file", "dns", "homepage"}
    assert said["token"] in town.licet("token", HOST, "--method", "dns").stdout
    town.shop.place_token(said["token"])
    verified: dict[str, Any] = town.json("verify", HOST)
    assert (verified["kind"], verified["method"], verified["account"]) == ("verified", "token_file", "anna")


def _crawled(town: Town) -> str:
    found: dict[str, Any] = town.json("crawl", HOST, "--by", "anna@bottega.example")
    assert (found["terminal_kind"], found["requested_by"]) == ("completed", "anna@bottega.example")
    assert (found["verified"], found["proof"], found["bot"]) == (True, "token_file", "ema")
    assert found["pages"] == len(PAGES)
    return str(found["crawl"])


def _shown(town: Town, crawl: str) -> None:
    shown: dict[str, Any] = town.json("show", crawl)
    asked = [entry["url"] for entry in shown["fetches"] if entry["sent"]]
    assert asked[0].endswith("/robots.txt")
    assert set(PAGES) <= set(asked)
    assert "robots" in town.licet("show", crawl).stdout
    site: dict[str, Any] = town.json("show", HOST)
    assert site["suspended"] is False
    assert [row["kind"] for row in site["verifications"]] == ["verified", "failed"]
    assert [row["terminal_kind"] for row in site["crawls"]] == ["completed", "refused_unverified"]
    held: dict[str, Any] = town.json("pages", HOST, "--text")
    assert {row["url"] for row in held["pages"]} == set(PAGES)
    assert all(row["text"] for row in held["pages"])
    assert "text" not in town.json("pages", HOST)["pages"][0]  # type: ignore[index]
    assert PAGES[1] in town.licet("pages", HOST).stdout.replace("\n", "")
    assert town.licet("show", str(uuid.uuid4())).exit_code == 1


def _suspended_and_resumed(town: Town, crawl: str) -> None:
    who = ("--by", "ben", "--reason", "asked by mail")
    assert town.json("suspend", HOST, *who)["kind"] == "suspended"
    assert "SUSPENDED" in town.licet("show", HOST).stdout
    refused = town.licet("crawl", HOST)
    assert refused.exit_code == 1
    assert f"licet resume {HOST}" in refused.stderr
    moved: dict[str, Any] = town.json("save", HOST, "--account", "anna", *SCOPE)  # E07: a stopped site is not asked
    assert (moved["answers"], moved["not_checked"]) == (None, "suspended")
    assert town.json("resume", HOST, *who)["kind"] == "resumed"
    again = town.licet("resume", HOST, *who)
    assert (again.exit_code, again.stdout) == (1, "")
    assert "is not suspended" in again.stderr
    started: dict[str, Any] = town.json("crawl", HOST, "--staff", "--by", "ben")
    assert (started["requester"], started["terminal_kind"]) == ("staff", "completed")
    assert started["crawl"] != crawl
