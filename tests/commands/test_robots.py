from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from commands.robots import robots

CASES = json.loads((Path(__file__).parent.parent / "data" / "robots_cases.json").read_text())
URL = "https://shop.example/cart"


def run(*arguments: str, body: bytes = b"User-agent: *\nDisallow: /cart\nCrawl-delay: 4\n") -> Result:
    return CliRunner().invoke(robots, [*arguments, "--file", "-"], input=body)


def test_the_exit_code_tells_allow_deny_and_error() -> None:
    assert run("https://shop.example/").exit_code == 0
    assert run(URL).exit_code == 1
    for url in ("nonsense", "ftp://shop.example/"):
        assert run(url).exit_code == 2
    assert CliRunner().invoke(robots, [URL, "--file", "/nonexistent"]).exit_code == 2
    assert run(URL, "--bot", "ema", "--token", "x").exit_code == 2


def test_it_names_the_rule_the_group_and_what_was_not_read() -> None:
    result = run(URL, body=b"\xef\xbb\xbfUser-agent: EmaIngestBot\nDisallow: /cart\nnot a record\n")
    for words in (
        "deny",
        "disallow: /cart",
        "EmaIngestBot",
        "byte order mark",
        "1 lines that are no record",
        "sha256",
    ):
        assert words in result.output


def test_json_says_the_same() -> None:
    report = json.loads(run(URL, "--json", "--bot", "wembi").output)
    assert (report["allowed"], report["rule"], report["group"]) == (False, "disallow: /cart", "*")
    assert (report["token"], report["crawl_delay"]) == ("WembiBot", 4.0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["id"]))
def test_C07_every_case_of_the_table_by_command(case: dict[str, str]) -> None:
    result = run(case["url"], "--token", case["token"], body=base64.b64decode(case["robots_base64"]))
    assert result.exit_code == (0 if case["allowed"] else 1)
