"""`stack.json`: how a running `licet up` tells the other commands where its broker and database are.

It lies in the data folder, is readable by its owner alone (the database URL holds a password), and counts
only while the stack that wrote it holds the folder's lock: after a crash the file stays and means nothing.
"""

from __future__ import annotations

import fcntl
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LOCK = "lock"
FILE = "stack.json"
FOR_SETTINGS = ("kafka", "broker_kind", "database_url", "token_key_file", "bot")


class StackFileError(Exception):
    """The file of a running stack cannot be read, as one sentence."""


@dataclass(frozen=True, slots=True)
class StackFile:
    """What a running stack says of itself. `pids` and `ports` are by process name (`worker-1`, `broker`)."""

    kafka: str
    broker_kind: str
    database_url: str = field(repr=False)
    token_key_file: str
    bot: str
    pids: dict[str, int] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)

    def write(self, data: Path) -> None:
        """Written aside and renamed, so that a reader never sees half a file."""
        aside = data / (FILE + ".new")
        aside.touch(mode=0o600)
        aside.chmod(0o600)
        aside.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        aside.replace(data / FILE)


def is_running(data: Path) -> bool:
    """Whether a stack holds this folder: its lock cannot be had, even shared."""
    try:
        with (data / LOCK).open("rb") as handle:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def read(data: Path) -> StackFile | None:
    """The file of the stack that runs on this folder; None when none does, or it is not ready to be used."""
    path = data / FILE
    if not path.exists() or not is_running(data):
        return None
    try:
        return StackFile(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StackFileError(f"{path} cannot be read ({error}); stop the stack and start it again.") from None


def read_running(data: Path) -> dict[str, Any]:
    """The keys that settings take from a running stack; empty without one."""
    found = read(data)
    return {} if found is None else {key: getattr(found, key) for key in FOR_SETTINGS if getattr(found, key)}
