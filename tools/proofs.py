"""Which tests carry a promise's id, and how they ended."""

from __future__ import annotations

import ast
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ID: Final = re.compile(r"(?<![A-Za-z0-9])[EWCA]\d{2}(?![A-Za-z0-9])")
_OUTSIDE: Final = frozenset({"build", "dist", "docs", "var", "venv"})

Results = dict[str, str]
"""From a test's key to `passed`, `failed` or `skipped`; parametrised cases count together."""


@dataclass(frozen=True, order=True, slots=True)
class Test:
    """One test function: its file from the project's root, the class around it if there is one, its name."""

    file: str
    group: str
    name: str

    @property
    def key(self) -> str:
        """How pytest's XML report names it: `tests.rules.test_robots.test_E14_x`."""
        module = self.file.removesuffix(".py").replace("/", ".")
        return ".".join(part for part in (module, self.group, self.name) if part)

    @property
    def node(self) -> str:
        """How pytest's command line names it."""
        return "::".join(part for part in (self.file, self.group, self.name) if part)


def collect(folder: Path) -> dict[str, list[Test]]:
    """The tests below `folder` by the ids in their names; read, not imported."""
    found: dict[str, list[Test]] = {}
    for file in sorted(folder.rglob("test_*.py")):
        for test in _tests(file, folder.parent):
            for name in dict.fromkeys(_ID.findall(test.name.replace("_", " "))):
                found.setdefault(name, []).append(test)
    return found


def read(report: Path) -> Results:
    """The results in a JUnit XML report, as pytest writes it.

    A test with several cases failed if one of them failed, and passed if one of the others passed.
    """
    results: Results = {}
    rank = {"skipped": 0, "passed": 1, "failed": 2}
    for case in ET.parse(report).iter("testcase"):
        key = f"{case.get('classname')}.{(case.get('name') or '').partition('[')[0]}"
        results[key] = max(results.get(key, "skipped"), _ended(case), key=rank.__getitem__)
    return results


def fresh(report: Path, root: Path) -> bool:
    """Whether the report is newer than the code, the profiles and the tests: older results prove nothing."""
    if not report.exists():
        return False
    written = report.stat().st_mtime
    return all(file.stat().st_mtime <= written for file in _sources(root))


def _sources(root: Path) -> Iterator[Path]:
    folders = [entry for entry in root.iterdir() if entry.is_dir() and entry.name not in _OUTSIDE]
    for ending in ("*.py", "*.yaml"):
        yield from root.glob(ending)
        for folder in folders:
            if not folder.name.startswith("."):
                yield from folder.rglob(ending)


def _ended(case: ET.Element) -> str:
    kinds = {child.tag for child in case}
    if kinds & {"failure", "error"}:
        return "failed"
    return "skipped" if "skipped" in kinds else "passed"


def _tests(file: Path, root: Path) -> Iterator[Test]:
    path, body = file.relative_to(root).as_posix(), ast.parse(file.read_text()).body
    yield from (Test(path, "", name) for name in _functions(body))
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from (Test(path, node.name, name) for name in _functions(node.body))


def _functions(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node.name
