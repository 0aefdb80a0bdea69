"""Compile the reading's inner loops with mypyc: `make native`.

Needs a C compiler; without one it says so and leaves everything in Python, which is slower and does the same. `make
test` and `make eval` run it; a second run finds its work done.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = """
import sys
from mypyc.build import mypycify
from setuptools import Distribution
from setuptools.command.build_ext import build_ext
modules = mypycify(["--ignore-missing-imports", *sys.argv[2:]], opt_level="2")
command = build_ext(Distribution({"name": "licet", "ext_modules": modules}))
command.build_lib = sys.argv[1]
command.build_temp = "temp"
command.ensure_finalized()
command.run()
"""


def main() -> int:
    """Exit code 0 also without a compiler: nothing is missing then but speed."""
    sys.path.insert(0, str(ROOT))
    os.environ["LICET_TEST_PURE"] = "1"
    from crawler.reading import native  # noqa: PLC0415 - as Python, whatever has been compiled before

    target = native.folder()
    if target.is_dir():
        return 0
    if not any(map(shutil.which, ("cc", "gcc", "clang"))):
        print("No C compiler: the reading stays in Python, which takes a quarter longer.", file=sys.stderr)
        return 0
    print("Compiling the reading ...")
    from crawler.reading import weights  # noqa: PLC0415 - takes a moment

    with tempfile.TemporaryDirectory() as name:
        failed = build(Path(name), native.MODULES, weights.source(weights.TREES, typed=True))
        if failed:
            print(f"The reading stays in Python, it could not be compiled:\n{failed}", file=sys.stderr)
            return 0
        shutil.rmtree(target.parent, ignore_errors=True)  # builds of older sources
        part = target.with_suffix(".part")
        shutil.copytree(Path(name) / "out", part)
        part.rename(target)  # whole or not at all
    return 0


def build(where: Path, modules: tuple[str, ...], trees: str) -> str:
    """Compile copies of the modules in `where`, into `where/out`; what the compiler said when it failed."""
    for package in ("crawler", "models"):
        shutil.copytree(ROOT / package, where / package, ignore=shutil.ignore_patterns("__pycache__"))
    reading = where / "crawler" / "reading"
    (reading / "trees.py").write_text(trees)
    sources = [f"crawler/reading/{module}.py" for module in (*modules, "trees")]
    argv = [sys.executable, "-c", BUILD, "out", *sources]
    done = subprocess.run(argv, cwd=where, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-2000:]


if __name__ == "__main__":
    sys.exit(main())
