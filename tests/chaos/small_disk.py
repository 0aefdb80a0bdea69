"""A disk that can be full: a tmpfs of our own, and a file that takes all that is left of it (F16, F25)."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

PIECE = b"\0" * (1 << 20)
BALLAST = "ballast"


def why_not() -> str:
    """Why no small disk can be had here; empty when one can."""
    return "" if os.geteuid() == 0 else "only root may mount a tmpfs"


class SmallDisk:
    """A tmpfs at `folder`, mounted for as long as the run lasts."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        options = f"size={megabytes}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)

    def fill(self) -> int:
        """Take what is left, to the last byte; how many bytes that were."""
        taken = 0
        with (self.folder / BALLAST).open("ab", buffering=0) as file:
            for piece in (PIECE, PIECE[:4096], PIECE[:1]):
                try:
                    while written := file.write(piece):
                        taken += written
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
        return taken

    def free(self) -> None:
        """Give it back."""
        (self.folder / BALLAST).unlink(missing_ok=True)

    def unmount(self) -> None:
        """Take the disk away, with all that is on it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
