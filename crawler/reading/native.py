"""Which of these modules may run compiled, and where the compiled ones are.

`tools/native.py` compiles them with mypyc, from these sources as they stand: four fifths of the CPU time, the same
text to the last byte. What it makes lies in the virtual environment under a name that is the hash of the sources, so
a changed source is never run in an old build: it runs as Python.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

PURE = "LICET_TEST_PURE"
"""Environment: any value but the empty one says that nothing compiled is used (fuzzing, for one, counts lines)."""
MODULES = (
    "boxes", "choose", "features", "groups", "kind", "markdown", "places", "regions", "rules", "walk",
)  # fmt: skip
"""Loops over blocks and boxes. What is regular expressions and generators is slower compiled (`visible`: twice the
time, measured), so the rest stays as it is."""
SOURCES = Path(__file__).parent
TREES = ("weights.json", "weights.py")
"""The trees, and what writes them down as a module."""


def key() -> str:
    """The name of the build that these sources ask for."""
    found = hashlib.sha256(f"{sys.version} {sys.platform}".encode())
    for name in (*(f"{module}.py" for module in MODULES), *TREES):
        found.update((SOURCES / name).read_bytes())
    return found.hexdigest()[:20]


def folder() -> Path:
    """Where that build is, or would be."""
    return Path(sys.prefix) / "licet-native" / key()


def attach(path: list[str]) -> bool:
    """Let a package's `__path__` find the compiled modules first; False where there are none, or none are wanted."""
    if os.environ.get(PURE):
        return False
    build = folder()
    if not build.is_dir():
        return False
    path.insert(0, str(build / "crawler" / "reading"))
    sys.path.append(str(build))  # the library that they share
    return True
