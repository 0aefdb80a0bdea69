"""A02: only the demo, the tests and the benchmarks can open loopback; no command, option or event can."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRODUCTION = ("app.py", "agents", "bots", "commands", "console", "crawler", "models", "stack")
SOURCES = {"source_v4", "source_v6"}  # W11: the addresses that requests leave from


def _modules() -> Iterator[Path]:
    for name in PRODUCTION:
        place = ROOT / name
        yield from [place] if place.is_file() else place.rglob("*.py")


def _wrong(tree: ast.AST) -> Iterator[str]:
    """What could give a `Network` routes or an authority, or change one that is made."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        given = {keyword.arg for keyword in node.keywords}
        if called == "Network" and (node.args or not given <= SOURCES):
            yield f"line {node.lineno}: Network({ast.unparse(node)})"
        if called in {"replace", "__setattr__", "setattr"} and given & {"routes", "ca", "network"}:
            yield f"line {node.lineno}: {ast.unparse(node)}"


def test_A02_no_module_of_production_makes_a_network_with_routes() -> None:
    found = {
        str(path.relative_to(ROOT)): wrong
        for path in _modules()
        if (wrong := list(_wrong(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == {}


def test_A02_no_other_module_of_production_opens_connections_to_strangers() -> None:
    """`crawler/fetch` alone makes client sessions (`stack` asks our own servers), and none is unverified."""
    for path in _modules():
        text = path.read_text(encoding="utf-8")
        inside = any(path.is_relative_to(ROOT / room) for room in ("crawler/fetch", "stack"))
        assert inside or "ClientSession(" not in text, path
        assert not any(word in text for word in ("CERT_NONE", "ssl=False", "verify_ssl", "check_hostname = False")), (
            path
        )


@pytest.mark.parametrize(
    "line",
    [
        "Network({'a.example': ('127.0.0.1', 1)})",
        "Network(routes=load())",
        "network.Network(ca='x')",
        "Network(**options)",
        "replace(network, routes={})",
    ],
)
def test_the_check_sees(line: str) -> None:
    assert list(_wrong(ast.parse(line)))
