"""What an origin can answer with, as values, and a folder of files as such values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gif": "image/gif",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".xml": "application/xml; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class Resource:
    """One answer to a GET. With `location` it is a permanent redirect (RFC 9110 15.4.2)."""

    body: bytes = b""
    media_type: str = _TYPES[".html"]
    status: int = 200
    location: str = ""

    @property
    def etag(self) -> str:
        """A strong validator: the same bytes have the same tag, through restarts too (RFC 9110 8.8.3)."""
        return '"' + hashlib.sha256(self.body).hexdigest()[:20] + '"'


Finder = Callable[[str], Resource | None]
"""From a path, percent-decoded and without its query, to what stands there."""


def media_type(name: str) -> str:
    """The Content-Type for a file name; unknown endings are bytes (RFC 9110 8.3)."""
    return _TYPES.get(Path(name).suffix.lower(), "application/octet-stream")


def redirect(location: str) -> Resource:
    """A 301 to `location`, which may be a path (RFC 9110 10.2.2)."""
    return Resource(status=301, location=location)


def folder(root: Path, extra: dict[str, Resource] | None = None) -> Finder:
    """The files under `root`, read where they stand; `extra` adds or replaces single paths.

    A directory answers with its index.html. Nothing outside `root` is ever read; links to files that lead
    out of it count as outside (Debian's python3.11-doc has two, to scripts of other packages).
    """
    base = root.resolve()
    special = extra or {}

    def find(path: str) -> Resource | None:
        if path in special:
            return special[path]
        target = _inside(base, path)
        return Resource(target.read_bytes(), media_type(target.name)) if target else None

    return find


def _inside(base: Path, path: str) -> Path | None:
    if "\0" in path:
        return None
    target = (base / path.lstrip("/")).resolve()
    if target.is_dir() and path.endswith("/"):
        target = target / "index.html"
    return target if target.is_relative_to(base) and target.is_file() else None
