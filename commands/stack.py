"""`licet up`, `licet kafka`, `licet keep`: a stack, a broker or one process, in the foreground until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from commands.options import in_one_sentence, settings_for
from stack.errors import StackError
from stack.folder import Folder
from stack.jars import missing
from stack.kafka import Kafka
from stack.keeper import keep as keep_running
from stack.process import print_line
from stack.supervisor import Supervisor

FOLDER = click.Path(path_type=Path, file_okay=False)
KAFKA_PORT = 9092


@click.command()
@click.option("--data", type=FOLDER, help="The folder of this stack.  [default: var]")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="How many workers.")
@click.option("--kafka", help="Your own broker (host:port, ...) instead of the embedded one.")
@click.option("--database", help="Your own PostgreSQL (URL; with a password better in LICET_DATABASE_URL).")
@click.pass_obj
@in_one_sentence
def up(config: Path | None, data: Path | None, workers: int, kafka: str | None, database: str | None) -> None:
    """Start a stack and keep it in the foreground.

    Broker, database, workers and sink; embedded ones where you name none of your own. Ctrl-C stops everything.
    Exit code 3: a stack is already running on this folder.
    """
    settings = settings_for(config, data=data, kafka=kafka, database_url=database)
    environ = dict(os.environ) | ({"LICET_CONFIG": str(config.resolve())} if config else {})
    stack = Supervisor(settings.data, settings=settings, workers=workers, environ=environ)
    asyncio.run(until_stopped(_up(stack)))


async def _up(stack: Supervisor) -> None:
    await stack.start()  # when it fails, or is interrupted, it has stopped everything itself
    try:
        await stack.wait()
    finally:
        stack.say("licet", "stopping")
        await stack.stop()
        stack.say("licet", "stopped")


@click.command()
@click.argument("role", type=click.Choice(["worker", "sink"]))
@click.pass_obj
@in_one_sentence
def keep(config: Path | None, role: str) -> None:
    """Run a worker or the sink, again and again: for containers.

    It is started again when it has ended, is stuck, or is deaf.
    """
    settings = settings_for(config)
    environ = dict(os.environ) | ({"LICET_CONFIG": str(config.resolve())} if config else {})
    asyncio.run(until_stopped(keep_running(role, settings, environ=environ)))


@click.command()
@click.option("--nodes", type=click.Choice(["1", "3"]), default="1", show_default=True, help="How many nodes.")
@click.option("--data", type=FOLDER, help="Where its data is.  [default: var/kafka]")
@click.option("--port", type=click.IntRange(1, 65530), default=KAFKA_PORT, show_default=True, help="First port.")
@click.pass_obj
@in_one_sentence
def kafka(config: Path | None, nodes: str, data: Path | None, port: int) -> None:
    """Start Apache Kafka and keep it in the foreground.

    From the official jars, which need Java 17 and Maven. The last line before it waits is the one to set
    LICET_KAFKA to.
    """
    if why := missing():
        raise StackError(why)
    folder = data or settings_for(config).data / "kafka"
    asyncio.run(until_stopped(_kafka(Kafka(folder, int(nodes), port))))


async def _kafka(broker: Kafka) -> None:
    folder = Folder(broker.data)
    folder.lock()
    try:
        print_line("kafka", f"starting {broker.nodes} node(s) in {broker.data}; the first time the jars are fetched")
        async with broker:
            print_line("kafka", "ready: a record was written and read. Ctrl-C stops it.")
            click.echo(f"LICET_KAFKA={broker.bootstrap}")
            while broker.alive:  # noqa: ASYNC110 - processes have no event
                await asyncio.sleep(0.2)
            dead = [process.name for process in broker.processes if not process.alive]
            raise StackError(f"{', '.join(dead)} ended by itself; its log is in {broker.data}.")
    finally:
        folder.release()
        print_line("kafka", "stopped")


async def until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Run until it ends or SIGINT or SIGTERM come; it is then cancelled once and cleans up undisturbed."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def stop() -> None:
        if not asked.is_set():  # an impatient second Ctrl-C must not cut the cleaning up short
            asked.set()
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    with suppress(asyncio.CancelledError):
        await task
