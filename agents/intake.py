"""Intake: other people's events in, messages to sites out.

Reads raw bytes, checks them against the schema of their topic, names the site, and forwards to `site-mailbox` with
our own partitioning. What cannot be read goes to `dead-letters`; the next event runs at once.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from agents.consuming import consume
from agents.line import Forward
from agents.post import Post
from crawler.rules import sentences
from crawler.rules.checks import AccountDay
from crawler.rules.proofs import refuse_platform
from crawler.rules.urls import UrlRefused, canonical, host_from_address, site_key
from models import intake
from models.mailbox import Message, Origin
from models.profile import Profile
from models.wire import Unreadable


def message_of(
    topic: str, partition: int, offset: int, at: float, raw: bytes | None, profile: Profile | None = None
) -> Message:
    """The message to a site that an intake event means, or `Unreadable` with its cause."""
    envelope, said = intake.read(topic, raw)
    address: str = said.address  # type: ignore[attr-defined]
    try:
        # E11: staff may name what many owners share; from anybody else it is refused
        host = host_from_address(address, allow_public_suffix=topic == intake.STAFF_TOPIC)
        start = start_of(address, host)
        if isinstance(said, intake.AddressSaved) and profile is not None:
            refuse_platform(host, profile)
    except UrlRefused as error:
        raise Unreadable(f"address_{error.reason}", f"{address[:200]!r}: {sentences.of(error.reason)}") from None
    return Message.model_validate(
        {
            "id": str(envelope.id),
            "type": envelope.type,
            "site": site_key(host),
            "host": host,
            "start": start,
            "origin": Origin(topic=topic, partition=partition, offset=offset),
            "said_at": at,
            "data": said.model_dump(mode="json"),
        }
    )


def start_of(address: str, host: str) -> str:
    """The canonical URL that an address means: its path is kept, a bare host means the homepage."""
    typed = address.strip()
    named = "://" in typed or re.match(r"https?:", typed, re.IGNORECASE)
    return canonical(typed if named else "https://" + typed.lstrip("/\\"), f"https://{host}/")


class Intake:
    """The agent's body: one event at a time, in order; nothing escapes it."""

    def __init__(self, post: Post, profile: Profile) -> None:
        self._post = post
        self._profile = profile
        self._accounts = AccountDay(profile.address_check.per_account_day)

    async def __call__(self, stream: Any) -> None:
        """Consume in order."""
        await consume(stream, self._one, self._post.dead_letters)

    async def _one(self, event: Any) -> Forward:
        origin = event.message
        where = (origin.topic, origin.partition, origin.offset, origin.timestamp)
        message = self._counted(message_of(*where, origin.value, self._profile))
        return Forward(message.site, partial(self._post.to_site, message))

    def _counted(self, message: Message) -> Message:
        """E07: an account that saves one site after the other is no stream of HEADs."""
        said = message.said
        if not isinstance(said, intake.AddressSaved):
            return message
        spent = self._accounts.spent(said.account, message.site, message.said_at)
        return message.model_copy(update={"account_spent": True}) if spent else message
