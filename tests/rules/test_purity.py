"""The room's own law: no async, no clock, no socket, no Faust; every public name says its rule."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOM = Path(__file__).parent.parent.parent / "crawler" / "rules"
FORBIDDEN = {"asyncio", "time", "socket", "aiohttp", "faust", "aiokafka", "threading", "requests", "urllib3"}
MODULES = sorted(ROOM.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_rules_import_no_clock_no_socket_no_faust(path: Path) -> None:
    imported = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert not imported & FORBIDDEN


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_rules_ask_no_clock(path: Path) -> None:
    names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
    assert not names & {"now", "utcnow", "today"}
