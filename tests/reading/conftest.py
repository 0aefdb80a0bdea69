"""Coroutines run on the loop that workers run on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import uvloop


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """pytest-asyncio's hook."""
    return {"uvloop": uvloop.new_event_loop}
