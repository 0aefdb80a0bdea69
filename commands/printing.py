"""Results on standard output: a table for people, JSON for programs, from the same values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click
import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]
PIPE = 400
"""Columns, when nobody watches."""

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")


def print_json(value: object) -> None:
    """One JSON document, times in UTC."""
    click.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def print_row(title: str, row: Row) -> None:
    """One row, a line for each value; what is empty is left out."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        if value is not None and value not in ("", {}, []):
            table.add_row(name.replace("_", " "), cell(value))
    _print(table)


def print_rows(title: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Several rows, the named columns."""
    if not rows:
        return
    table = Table(title=Text(title), title_justify="left", title_style="bold")
    for name in columns:
        table.add_column(name.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(cell(row[name]) for name in columns))
    _print(table)


def _print(table: Table) -> None:
    """Folded to a terminal's width; into a pipe or a file in full lines, so that they can be searched."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPE)
    console.print(table)


def cell(value: object) -> Text:
    """A value as people read it. `Text`, so that brackets in a customer's words are no markup (E02)."""
    if value is None:
        return Text("-")
    if isinstance(value, bool):
        return Text(("no", "yes")[value])
    if isinstance(value, datetime):
        return Text(value.strftime("%Y-%m-%d %H:%M:%S"))
    if isinstance(value, Mapping):
        return Text(", ".join(f"{name} {count}" for name, count in value.items()))
    if isinstance(value, list | tuple):
        return Text("\n".join(str(item) for item in value))
    return Text(str(value))
