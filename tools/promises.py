"""Keeps docs/promises.md: every promise, its state, and the tests that prove it.

The table in that file is the source of the titles and the states; people edit them there. The cell of tests
is made here, from the ids in the names of test functions: `test_E14_E15_...` proves both. A promise marked
`kept` needs a test that passed and none that failed; a skipped test proves nothing.

    python tools/promises.py            rewrite the file; exit code 1 names each kept promise without a proof
    python tools/promises.py --check    only say whether the file is up to date
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import proofs, table  # noqa: E402 - started by path, not installed


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    options = _parse(arguments)
    document = options.root / "docs" / "promises.md"
    try:
        rows = table.read(document.read_text())
        tests = proofs.collect(options.root / "tests")
        table.complete(rows, tests)
    except (OSError, table.BadTableError) as error:
        return _say([f"{document}: {error}"])
    text = table.rewritten(document.read_text(), tests)
    if options.check:
        return _say([f"{document} is out of date: run make promises"] if text != document.read_text() else [])
    document.write_text(text)
    return _say(_broken(options.root, options.xml, rows, tests))


def broken(rows: Iterable[table.Row], tests: Mapping[str, list[proofs.Test]], results: proofs.Results) -> list[str]:
    """One sentence for each kept promise that its tests do not prove."""
    found = []
    for row in rows:
        if row.state == "kept":
            wrong = _why_not(tests.get(row.id, []), results)
            found += [f"{row.id} is marked as kept, but {wrong}"] if wrong else []
    return found


def _why_not(tests: list[proofs.Test], results: proofs.Results) -> str:
    if not tests:
        return "no test carries its id"
    ended = {test: results.get(test.key, "not run") for test in tests}
    failed = [test.name for test, result in ended.items() if result == "failed"]
    if failed:
        return f"{', '.join(failed)} failed"
    if "passed" in ended.values():
        return ""
    return "none of its tests passed: " + ", ".join(f"{test.name} ({result})" for test, result in ended.items())


def _broken(root: Path, xml: Path, rows: list[table.Row], tests: Mapping[str, list[proofs.Test]]) -> list[str]:
    kept = {row.id for row in rows if row.state == "kept"}
    needed = sorted({test for name in kept for test in tests.get(name, [])})
    results = proofs.read(xml) if proofs.fresh(xml, root) else _run(root, needed)
    print(f"{len(kept)} of {len(rows)} promises are marked as kept")
    return broken(rows, tests, results)


def _run(root: Path, tests: list[proofs.Test]) -> proofs.Results:
    if not tests:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        xml = Path(folder) / "tests.xml"
        names = [test.node for test in tests]
        subprocess.run([sys.executable, "-m", "pytest", "-q", f"--junitxml={xml}", *names], cwd=root, check=False)
        return proofs.read(xml) if xml.exists() else {}


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="promises", description="Rewrites docs/promises.md and checks its proofs.")
    parser.add_argument("--check", action="store_true", help="only say whether the file is up to date")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    parser.add_argument("--xml", type=Path, help="results of pytest --junitxml (default: var/tests.xml)")
    options = parser.parse_args(arguments)
    options.xml = options.xml or options.root / "var" / "tests.xml"
    return options


def _say(problems: list[str]) -> int:
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
