"""Runs a service in an event loop of its own until a signal, or until it fails."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from typing import Any, Protocol

import faust
import uvloop

from agents import connections
from agents.health import Health
from agents.lives import NameTaken
from models.lives import NAME_TAKEN
from models.settings import Settings

log = logging.getLogger(__name__)

REPEAT = 10.0
LEAVE = 20.0
"""Seconds to stop in. With the broker away Faust can wait for ever for what nobody will answer."""


class Service(Protocol):
    """What worker and sink have in common."""

    @property
    def app(self) -> faust.App:
        """The Faust app."""

    @property
    def failure(self) -> asyncio.Future[BaseException] | None:
        """Done when the service can no longer work; None before it is started."""

    async def start(self) -> None:
        """Start; returns when running."""

    async def stop(self) -> None:
        """Stop cleanly."""


def run_service(make: Callable[[], Service], health: Health, settings: Settings) -> int:
    """Exit code 0 after SIGTERM or SIGINT, 4 when another process has the name, 1 after any other failure."""
    configure_logging(settings.log_level)
    uvloop.install()
    connections.mend()
    return asyncio.run(_serve(make, health))


async def _serve(make: Callable[[], Service], health: Health) -> int:
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told.set)
    await health.start()
    service = make()
    starting = asyncio.create_task(service.start())
    try:
        signalled = asyncio.create_task(told.wait())
        await asyncio.wait({starting, signalled}, return_when=asyncio.FIRST_COMPLETED)
        signalled.cancel()
        if not starting.done():
            return 0  # told to stop before the broker was there
        await starting
        return await _watch(service, told)
    finally:
        starting.cancel()
        health.set_ready(False, "stopping")
        await _stop(service)
        await health.stop()


async def _stop(service: Service) -> None:
    """In order if it can be; else at once: everything that matters is with the broker, or comes again."""
    try:
        async with asyncio.timeout(LEAVE):
            await service.stop()
    except TimeoutError:
        log.critical("not stopped within %.0f s: the process ends as it is", LEAVE)
        os._exit(1)


async def _watch(service: Service, told: asyncio.Event) -> int:
    """Wait for a signal, a failure of ours, or a crash inside Faust."""
    assert service.failure is not None
    tasks: list[asyncio.Task[Any]] = [
        asyncio.create_task(told.wait(), name="signal"),
        asyncio.create_task(_failed(service.failure), name="failure"),
        asyncio.create_task(_crashed(service.app), name="crash"),
    ]
    done, rest = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    if tasks[1] in done and isinstance(service.failure.result(), NameTaken):
        return NAME_TAKEN
    return 0 if tasks[0] in done else 1


async def _failed(failure: asyncio.Future[BaseException]) -> None:
    log.critical("stopping: %s", await failure)


async def _crashed(app: faust.App) -> None:
    """Faust says nothing when one of its services crashes; it only stops working."""
    while not app.crashed and not app.should_stop:  # noqa: ASYNC110 - Faust offers no event for both
        await asyncio.sleep(0.5)
    log.critical("Faust stopped: %s", app.crash_reason)


class News(logging.Filter):
    """In an outage aiokafka says the same several times a second (measured): each sentence once in ten seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._said: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is news."""
        if not record.name.startswith("aiokafka"):
            return True
        sentence = str(record.msg)  # the sentence before its values: a closed list, so this stays small
        last, self._said[sentence] = self._said.get(sentence, 0.0), record.created
        if record.created - last >= REPEAT:
            return True
        self._said[sentence] = last
        return False


def _of_ours(record: logging.LogRecord) -> bool:
    """Not what Faust's services say of their own starting and stopping, under our modules' names."""
    return record.levelno > logging.INFO or not record.getMessage().startswith("[^")


def configure_logging(level: str) -> None:
    """One line an event, to standard error; what repeats without news is left out."""
    logging.basicConfig(level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(News())
        handler.addFilter(_of_ours)
    for name in ("aiokafka", "alembic", "faust", "mode"):
        logging.getLogger(name).setLevel(max(logging.WARNING, logging.getLevelName(level)))
