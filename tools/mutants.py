"""Break each promise on purpose and see its own tests notice: id, mutant, killed by.

    python tools/mutants.py [--only E14]

Each mutant is one change in a copy of the tree; only tests that carry the promise's id are run, and at least
one of them must fail. A mutant that survives, or whose place is no longer there, is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# ruff: noqa: E402 - the tree is put on the path first, so that this runs from anywhere
from tools.mutant_list import MUTANTS, Mutant
from tools.mutant_list_audit import AUDIT
from tools.mutant_list_authority import AUTHORITY
from tools.mutant_list_validators import CONDITIONAL

EVERY = (*MUTANTS, *AUTHORITY, *AUDIT, *CONDITIONAL)

_COPIED = (
    "models", "bots", "crawler", "agents", "commands", "stack", "migrations", "demo", "tests/rules", "tests/models",
    "tests/data", "tests/jobs", "tests/authority", "tests/audit", "tests/sink", "tests/commands",
    "tests/house", "tests/support",
)  # fmt: skip
_FILES = ("app.py", "pyproject.toml", "topics.yaml", "tests/__init__.py", "tests/conftest.py")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@click.command()
@click.option("--only", default="", help="Only mutants whose promise begins so.")
def main(only: str) -> None:
    """Run all mutants and print who killed each."""
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        _copy(tree)
        for mutant in EVERY:
            if mutant.id.startswith(only):
                killer = _killer(tree, mutant)
                survived += killer is None
                click.echo(f"{mutant.id}  {mutant.what:42} {killer or 'SURVIVED'}")
    click.echo(f"{survived} survived")
    sys.exit(1 if survived else 0)


def _copy(tree: Path) -> None:
    for name in _COPIED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _FILES:
        shutil.copy(ROOT / name, tree / name)


def _killer(tree: Path, mutant: Mutant) -> str | None:
    """The first test of the promise that fails under the mutant, or None."""
    path = tree / mutant.path
    original = path.read_text(encoding="utf-8")
    if original.count(mutant.old) != 1:
        raise click.ClickException(f"{mutant.id} {mutant.what}: not one place in {mutant.path}: {mutant.old!r}")
    path.write_text(original.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return _first_failure(tree, mutant.id)
    finally:
        path.write_text(original, encoding="utf-8")


def _first_failure(tree: Path, promise: str) -> str | None:
    files = [str(path) for path in sorted(tree.glob("tests/*/test_*.py")) if promise in path.read_text("utf-8")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not stack", "-k", promise]
    command += files
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    found = _FAILED.search(run.stdout)
    if run.returncode not in (0, 1) or (run.returncode == 1 and found is None):
        raise click.ClickException(f"pytest: {run.stdout[-500:]}{run.stderr[-500:]}")
    return found[1] if found else None


if __name__ == "__main__":
    main()
