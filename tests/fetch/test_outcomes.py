"""A04: the list of outcomes is closed, and the documentation has exactly it."""

from __future__ import annotations

import re
from pathlib import Path

from models.web import Outcome


def test_A04_every_outcome_is_documented_once_and_no_other() -> None:
    page = Path(__file__).parents[2] / "docs" / "outcomes.md"
    rows = re.findall(r"^\| `([a-z0-9_]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(Outcome)
