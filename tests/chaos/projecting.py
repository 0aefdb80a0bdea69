"""What a database holds of some facts: the sink's rules played in memory, for histories that no database made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agents.rows import PAIRS, Rule, Target, rows
from models.events import Fact

Tables = dict[str, list[dict[str, Any]]]


def project(facts: Iterable[Fact]) -> Tables:
    """Table -> rows, the facts taken one by one in their order."""
    found: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
    for fact in facts:
        for target, row in rows(fact):
            key = tuple(row[name] for name in target.keys)
            table = found.setdefault(target.table.__tablename__, {})
            table[key] = _merged(target, table.get(key), row)
    return {name: [_plain(row) for row in table.values()] for name, table in found.items()}


def _merged(target: Target, held: dict[str, Any] | None, row: dict[str, Any]) -> dict[str, Any]:
    if held is None:
        return dict(row)
    if target.rule is Rule.FILL:
        return held if held.get(target.mark) is not None else {**held, **row}
    if target.rule is Rule.LATEST:
        return {**held, target.mark: max(held[target.mark], row[target.mark])}
    if target.rule is Rule.NEWEST:
        return max(held, row, key=lambda one: (one[target.mark], one["fact"]))
    if target.rule is Rule.WIDEN:
        return {
            **held,
            "first_at": min(held["first_at"], row["first_at"]),
            "last_at": max(held["last_at"], row["last_at"]),
        }
    return held


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """As JSON would have it: dates and UUIDs are texts."""
    return {
        name: value if isinstance(value, bool | int | float | str | list | dict | None) else str(value)
        for name, value in row.items()
        if name != PAIRS
    }
