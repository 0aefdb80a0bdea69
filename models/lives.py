"""Which worker processes live: what is said on `worker-lives`.

A *life* is one process of a worker; a name has one life after the other. A worker says `started` before it joins its
group. Whoever has reaped it (waitpid returned, so its sockets are closed) says `gone`: only such certain death may
shorten the wait for a request that it had open. A missed heartbeat proves nothing; a frozen process may wake.
"""

from __future__ import annotations

import secrets
from typing import Literal

from models.wire import Model

TOPIC = "worker-lives"

NAME_TAKEN = 4
"""Exit code of a worker whose name was taken by a younger process. Nobody should start it again."""

SPARE = "LICET_SPARE"
"""In the environment of a process that stands by: it begins when it is told, on its standard input."""


class Life(Model):
    """One record of the topic."""

    worker: str
    life: str
    state: Literal["started", "gone"]


def new_life() -> str:
    """A fresh mark for one process; not the pid, which is 1 in every container."""
    return secrets.token_hex(4)


def full_name(worker: str, life: str) -> str:
    """How one process is named in intents and to the broker."""
    return f"{worker}@{life}"
