"""A website that nobody here wrote: the HTML of Debian's python3.11-doc, for tests with real input.

It is used where it stands when the package is installed. Otherwise the package is downloaded and unpacked,
not installed, into `~/.cache/licet`. Measured in 3.11.2-6+deb12u9: 530 pages, of which `contents.html` has
2,565,599 bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

PACKAGE = "python3.11-doc"
INSTALLED = Path("/usr/share/doc/python3.11/html")


class MissingDocsError(RuntimeError):
    """The documentation is not here and cannot be fetched; the message says why and what would help."""


def python_docs(cache: Path | None = None) -> Path:
    """The folder with `index.html` and `contents.html`; to be served in place and never written to."""
    kept = (cache or _cache()) / PACKAGE
    for folder in (INSTALLED, kept):
        if (folder / "contents.html").is_file():
            return folder
    _fetch(kept)
    return kept


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "licet"


def _fetch(kept: Path) -> None:
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as name:
        folder = Path(name)
        try:
            _run(folder, "apt-get", "download", PACKAGE)
        except MissingDocsError:
            if os.geteuid() != 0:
                raise
            _run(folder, "apt-get", "update", "--quiet")  # a new machine has no package lists yet
            _run(folder, "apt-get", "download", PACKAGE)
        package = next(folder.glob("*.deb"))
        _run(folder, "dpkg-deb", "-x", package.name, "unpacked")
        html = folder / "unpacked" / INSTALLED.relative_to("/")
        if not (html / "contents.html").is_file():
            raise MissingDocsError(f"{package.name} holds no {INSTALLED}/contents.html")
        _put(html, kept)


def _put(html: Path, kept: Path) -> None:
    """One rename, so that a second test run finds all of it or nothing; the first one wins."""
    try:
        html.rename(kept)
    except OSError:
        if not (kept / "contents.html").is_file():
            raise


def _run(folder: Path, *command: str) -> None:
    help_text = f"install {PACKAGE} (Debian 12), or make `apt-get download {PACKAGE}` work (apt-get update?)"
    if shutil.which(command[0]) is None:
        raise MissingDocsError(f"{command[0]} is not on this machine: {help_text}")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=240)
    if done.returncode:
        raise MissingDocsError(f"`{' '.join(command)}` failed: {done.stderr.strip()[-300:]}: {help_text}")
