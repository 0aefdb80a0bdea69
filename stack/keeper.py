"""One process under supervision, for container sets: a restart policy notices neither deafness nor a stuck loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from models.settings import Settings
from stack.child import Child
from stack.obituaries import Obituaries
from stack.process import Say, print_line
from stack.supervisor import BEAT, ROLE, WORKER_GRACE


async def keep(
    role: str,
    settings: Settings,
    *,
    command: Sequence[str] | None = None,
    environ: Mapping[str, str] | None = None,
    say: Say = print_line,
) -> None:
    """Run a worker or the sink until cancelled; what is silent or deaf is ended, what has ended is started again.

    A worker's certain death is published, so that whoever takes its sites over waits only the pace. A `StackError`
    when it never comes up, or when its name is somebody else's too.
    """
    obituaries = Obituaries(settings.require_kafka(), settings.broker_kind, say)
    name = settings.name
    env = dict(os.environ if environ is None else environ) | {"LICET_WORKER_NAME": name}
    child = Child(name, command or (*ROLE, role), env, settings.metrics_port, say, silence=settings.silence)
    if role == "worker":
        child.with_spare = command is None
        child.gone = obituaries.publish
    child.spawn()
    try:
        while True:
            await child.step()
            await asyncio.sleep(BEAT)
    finally:
        await child.stop(WORKER_GRACE)
        await obituaries.close()
