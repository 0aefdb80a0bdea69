"""What the two Faust apps, worker and sink, have in common: their settings, each with its reason."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast

import faust
from faust.tables.manager import TableManager

from agents import versions
from agents.acks import Consumer
from agents.producing import Producer
from models.settings import Settings

log = logging.getLogger(__name__)

MAX_BATCH = 128 * 1024
"""Bytes of a producer's batch. Nothing lingers, so only what waits anyway fills it; the broker takes 1 MB."""


def faust_settings(settings: Settings, app_id: str) -> dict[str, Any]:
    """Keyword arguments for `faust.App(app_id, ...)`; raises when a pinned library is another one.

    Nothing is served over HTTP: `web_enabled=False` is enough inside a process of our own, and Faust's command
    line, which would start the server all the same, is not used (`agents.health` serves instead).
    """
    versions.check()
    found: dict[str, Any] = {
        "id": app_id,
        "broker": [f"kafka://{address}" for address in settings.require_kafka().split(",")],
        "datadir": str(settings.data / app_id),
        # bounds the takeover after a kill -9; Faust's own 60 s is a minute of silence
        "broker_session_timeout": settings.session_timeout,
        "broker_heartbeat_interval": settings.heartbeat_interval,
        # a worker without partitions leaves the group after this and never comes back (1,000 s by default)
        "broker_max_poll_interval": timedelta(days=7).total_seconds(),
        "broker_commit_interval": 1.0,
        "consumer_auto_offset_reset": "earliest",
        # standbys of a memory store are purged at recovery and read again at promotion: useless
        "table_standby_replicas": 0,
        "stream_buffer_maxsize": 1024,
        "producer_acks": -1,
        "producer_request_timeout": 60.0,
        # topics come from topics.yaml alone; what Faust would create has the broker's partition count
        "topic_allow_declare": False,
        "topic_disable_leader": True,
        "TableManager": Tables,
        "web_enabled": False,
        "web_host": "127.0.0.1",
        "web_bind": "127.0.0.1",
        "web_tables_enabled": False,
        # prints stay prints; the logs are ours
        "worker_redirect_stdouts": False,
        "key_serializer": "raw",
        "value_serializer": "raw",
    }
    return {**found, **_by_broker(settings, app_id)}


def _by_broker(settings: Settings, app_id: str) -> dict[str, Any]:
    """On Tansu ListOffsets is wrong after a batch of several records, and a named restart takes a minute."""
    if settings.embedded:
        return {"producer_max_batch_size": 1}
    found: dict[str, Any] = {"producer_max_batch_size": MAX_BATCH}
    if settings.worker_name:
        found["consumer_group_instance_id"] = f"{app_id}-{settings.worker_name}"
    return found


class Tables(TableManager):
    """Faust's manager of tables, without the second in which it waits for more of them: ours are declared by then."""

    async def on_start(self) -> None:
        """Begin at once: whoever restarts a worker waits for it."""
        await self._update_channels()
        await self.recovery.start()


class App(faust.App):
    """Faust's app, and what is to be done when it loses an event."""

    on_passed_over: Callable[[BaseException], None] = staticmethod(
        lambda error: log.critical("%s: start this process again", error)
    )


def build_app(settings: Settings, app_id: str, app_class: type[App] = App, **more: Any) -> App:
    """A Faust app with the common settings and `more` of its own; nothing is connected yet."""
    settings.data.mkdir(parents=True, exist_ok=True)  # Faust makes its own folder without the parents
    app = app_class(**{**faust_settings(settings, app_id), **more})
    app.transport.Producer = Producer  # type: ignore[misc] # dead letters go in batches of our own making
    app.transport.Consumer = Consumer  # type: ignore[misc] # stock Faust commits past events that it dropped (measured)
    return app


class Bytes(faust.Schema[bytes, bytes]):
    """Keys and values as they came; Faust's own way to that through its codecs is a tenth of an event's cost."""

    def compile(self, app: Any, **_on_error: Any) -> Any:
        """The decoder, which cannot fail."""

        async def decode(message: Any, *, propagate: bool = False) -> Any:
            return faust.Event(app, message.key, message.value, message.headers, message)

        return decode


def raw_topic(app: faust.App, *names: str) -> faust.Topic:
    """Topics whose keys and values stay bytes: what cannot be decoded is ours to handle, not the framework's."""
    raw: dict[str, Any] = {"key_type": bytes, "value_type": bytes, "key_serializer": "raw", "value_serializer": "raw"}
    return cast("faust.Topic", app.topic(*names, schema=Bytes(**raw)))
