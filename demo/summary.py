"""The table at the end of the demonstration, from plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class Summary:
    """What came of one crawl. `smallest_gap` was seen at the origin; `pace` is what was promised (E16)."""

    host: str
    outcome: str
    pages: int
    pairs: int
    seconds: float
    requests: Mapping[str, int]
    smallest_gap: float | None
    pace: float
    audit: Mapping[str, object] = field(default_factory=dict)

    @property
    def paced(self) -> bool:
        """Whether no request came sooner after the end of the one before than promised (E16)."""
        return self.smallest_gap is None or self.smallest_gap >= self.pace


def show(summary: Summary, console: Console) -> None:
    """Prints what was stored, what was asked of the site, and on what authority."""
    console.print()
    console.print(_table(f"{summary.host}: {summary.outcome}", _stored(summary)))
    if summary.audit:
        rows = [(name, _cell(value)) for name, value in summary.audit.items()]
        console.print(_table("Audit row (E23)", rows))


def _stored(summary: Summary) -> list[tuple[str, str]]:
    kinds = ", ".join(f"{kind} {count}" for kind, count in summary.requests.items())
    return [
        ("pages stored", str(summary.pages)),
        ("question-answer pairs", str(summary.pairs)),
        ("requests", f"{sum(summary.requests.values())} ({kinds})" if kinds else "0"),
        ("smallest gap at the origin", _gap(summary)),
        ("time", f"{summary.seconds:.1f} s"),
    ]


def _gap(summary: Summary) -> str:
    if summary.smallest_gap is None:
        return "fewer than two requests"
    verdict = "kept" if summary.paced else "BROKEN"
    return f"{summary.smallest_gap:.4f} s (promised: at least {summary.pace:.3f} s, {verdict})"


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _table(title: str, rows: list[tuple[str, str]]) -> Table:
    # Text, because a plain string in a cell is read as markup and a customer's note may hold brackets (E02).
    table = Table(title=Text(title), title_justify="left", title_style="bold", show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(name), Text(value))
    return table
