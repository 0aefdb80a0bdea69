"""The intake agent alone on a real broker, as a worker runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import bots
from agents.intake import Intake
from agents.post import Post
from agents.runtime import build_app, raw_topic
from models import topics
from models.settings import Settings


@asynccontextmanager
async def intake(bootstrap: str, group: str, folder: Path, topic: str) -> AsyncIterator[None]:
    """Reads `topic` as this group for as long as the block lasts."""
    settings = Settings(kafka=(bootstrap,), data=folder, session_timeout=6, heartbeat_interval=1)
    app = build_app(settings, group, stream_wait_empty=False)
    agent = Intake(Post(app, topics.by_name()["site-mailbox"].partitions), bots.load("ema"))
    app.agent(raw_topic(app, topic), name="intake", concurrency=1)(agent.__call__)
    app.finalize()
    await app.start()
    app.producer.buffer.max_messages = 10_000
    try:
        yield
    finally:
        await app.stop()
