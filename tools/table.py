"""The table of docs/promises.md: read, checked, and written again with new cells of tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from tools.proofs import Test

_COUNTS: Final = {"E": 28, "W": 14, "C": 14, "A": 5}
IDS: Final = tuple(f"{letter}{number:02}" for letter, count in _COUNTS.items() for number in range(1, count + 1))
"""Every promise there is: Ema, Wembi, Certant, all bots."""
STATES: Final = ("kept", "planned")
_ROW: Final = re.compile(r"^\| ([A-Z]\d+) \|")


class BadTableError(ValueError):
    """The table says something that it cannot say; the message names the row."""


@dataclass(frozen=True, slots=True)
class Row:
    """One promise: its id, our words for it, and whether it is kept already."""

    id: str
    title: str
    state: str


def read(text: str) -> list[Row]:
    """The rows in their order."""
    rows = [_row(line) for line in text.splitlines() if _ROW.match(line)]
    for row in rows:
        if row.state not in STATES:
            raise BadTableError(f"{row.id} has the state {row.state!r}, allowed are: {', '.join(STATES)}")
    return rows


def complete(rows: Sequence[Row], named: Iterable[str]) -> None:
    """Raises unless every promise has exactly one row, and tests name no promise that does not exist."""
    ids = [row.id for row in rows]
    missing = [name for name in IDS if name not in ids]
    twice = [name for name in dict.fromkeys(ids) if ids.count(name) > 1]
    unknown = sorted({*ids, *named} - set(IDS))
    for names, problem in ((missing, "no row for"), (twice, "two rows for"), (unknown, "no such promise:")):
        if names:
            raise BadTableError(f"{problem} {', '.join(names)}")


def rewritten(text: str, tests: Mapping[str, Sequence[Test]]) -> str:
    """The whole document with new cells of tests; everything else stays as it is."""
    return "".join(_line(line, tests) for line in text.splitlines(keepends=True))


def _line(line: str, tests: Mapping[str, Sequence[Test]]) -> str:
    if not _ROW.match(line):
        return line
    row = _row(line)
    cells = (row.id, row.title, row.state, _cell(tests.get(row.id, [])))
    return "| " + " | ".join(cells).rstrip() + " |\n"


def _row(line: str) -> Row:
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if len(cells) != 4:
        raise BadTableError(f"{cells[0]} has {len(cells)} cells, four are wanted")
    return Row(cells[0], cells[1], cells[2])


def _cell(tests: Sequence[Test]) -> str:
    """Each file once, as a link, with the names of its tests."""
    files = groupby(sorted(tests), key=lambda test: test.file)
    return "<br>".join(f"[{file}](../{file}): {_names(group)}" for file, group in files)


def _names(tests: Iterable[Test]) -> str:
    return ", ".join(f"`{test.name}`" for test in tests)
