"""The data folder of a stack: one stack at a time, its secret, and whether it was used before."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import time
from pathlib import Path
from typing import IO

from models.stack_file import FILE, LOCK
from stack.errors import StackError

EMBEDDED_BEFORE = "embedded-broker-was-here"


class AlreadyRunning(StackError):
    """Another stack holds this folder."""


class Folder:
    """A folder that everything of an embedded stack is in; it can be deleted when no stack runs on it."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self._lock: IO[str] | None = None

    def lock(self, seconds: float = 1.0) -> None:
        """Take the folder, or say who has it. The kernel gives the lock back however this process ends."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            handle = (self.path / LOCK).open("a+")
        except OSError as error:
            raise StackError(
                f"The data folder {self.path} cannot be used ({error.strerror}): name another with --data or"
                " LICET_DATA."
            ) from None
        deadline = time.monotonic() + seconds  # a command that only asks whether a stack runs lets go at once
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    handle.seek(0)
                    pid = handle.read().strip() or "?"
                    handle.close()
                    raise AlreadyRunning(
                        f"A stack is already running on {self.path} (process {pid}): use it, stop it with"
                        " Ctrl-C there, or name another folder with --data."
                    ) from None
                time.sleep(0.05)
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        self._lock = handle
        (self.path / FILE).unlink(missing_ok=True)  # what a crash left behind means nothing now

    def release(self) -> None:
        """Give the folder back."""
        if self._lock is not None:
            (self.path / FILE).unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    def token_key(self) -> Path:
        """The secret behind proof tokens, made once for this folder, closed to others."""
        path = self.path / "token.key"
        if not path.exists():
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w") as handle:
                    handle.write(secrets.token_urlsafe(48))
        return path

    def used_with_embedded_broker(self) -> bool:
        """Whether an embedded broker was here before; from now on the answer is yes."""
        marker = self.path / EMBEDDED_BEFORE
        before = marker.exists()
        marker.touch()
        return before
