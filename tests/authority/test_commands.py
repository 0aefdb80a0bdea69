"""Staff's commands against a running stack (E11, E13, E25, W13), in the order of a working day."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.commands.conftest import Town, town

__all__ = ["town"]
pytestmark = pytest.mark.stack
HOST = "bottega.example"
WHO = ("--by", "ann", "--reason", "asked by mail")


def test_E11_E13_E22_E25_W13_a_day_of_staff(town: Town, tmp_path: Path) -> None:
    _attested_and_withdrawn(town)
    _imported(town, tmp_path)
    _listed(town)
    _blocked(town)
    _asked_to_stop(town)
    _put_back(town)


def _attested_and_withdrawn(town: Town) -> None:
    said = ("--account", "anna", "--by", "ann", "--kept-at", "drawer 3")
    row = town.json("attest", HOST, *said)
    assert (row["kind"], row["method"], row["weaker"], row["kept_at"]) == (
        "verified",
        "attestation",
        True,
        "drawer 3",
    )
    assert town.json("withdraw", HOST, "--account", "anna", *WHO)["kind"] == "withdrawn"
    refused = town.licet("listing", HOST, "--account", "anna")
    assert refused.exit_code == 1
    assert "not verified" in refused.stderr


def _imported(town: Town, tmp_path: Path) -> None:
    file = tmp_path / "sites.csv"
    rows = "".join(f"anna,{name},ann,drawer {n}\n" for n, name in enumerate((HOST, "x.example", "y.example")))
    file.write_text("account,address,by,kept_at\n" + rows)
    for _ in range(2):
        result = town.licet("attest", "import", str(file))
        assert result.exit_code == 0, result.output
        assert "3 attestations are recorded." in result.stdout
    shown = town.json("show", "x.example")
    assert len(shown["verifications"]) == 1  # type: ignore[arg-type]


def _listed(town: Town) -> None:
    found = town.json("listing", HOST, "--account", "anna", "--by", "anna")
    pages = {page["url"]: page["title"] for page in found["pages"]}  # type: ignore[attr-defined]
    assert len(pages) > 5
    assert any(pages.values())


def _blocked(town: Town) -> None:
    assert town.json("block", HOST, *WHO)["kind"] == "blocked"
    refused = town.licet("crawl", HOST, "--account", "anna")
    assert "blocklist" in refused.stderr
    assert "BLOCKED" in town.licet("show", HOST).stdout
    assert town.json("unblock", HOST, *WHO)["kind"] == "unblocked"


def _asked_to_stop(town: Town) -> None:
    said = ("--by", "ann", "--from", "the owner", "--received", "2026-03-06T17:00+00:00")
    row = town.json("stop", HOST, *said)
    assert str(row["due_at"]).startswith("2026-03-09T17:00")
    assert row["done_at"]
    assert "to be confirmed" in town.licet("stops").stdout
    assert town.json("stop", "z.example", *said, "--record-only")["done_at"] is None
    assert "OVERDUE" in town.licet("stops").stdout
    assert "suspended this site" in town.licet("crawl", HOST, "--account", "anna").stderr
    assert town.json("stop-confirmed", str(row["stop_request"]), "--by", "bob")["confirmed_by"] == "bob"
    assert str(row["stop_request"]) not in town.licet("stops").stdout
    assert str(row["stop_request"]) in town.licet("stops", "--all").stdout
    assert town.json("resume", HOST, *WHO)["kind"] == "resumed"


def _put_back(town: Town) -> None:
    deadline = time.monotonic() + 30
    while (result := town.licet("restore")).exit_code and "has yet to read" in result.stderr:
        assert time.monotonic() < deadline
        time.sleep(0.5)  # the sink acknowledges once a second
    assert result.exit_code == 0, result.output
    assert "sites were told" in result.stdout
