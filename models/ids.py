"""Deterministic ids: a redelivered event repeats a row, it never adds one.

`crawl_id` and `event_id` are UUIDv5 of what they name; `url_id` is the SHA-256 of the canonical URL, so that
an event that is kept for years names a page without showing its address.
"""

from __future__ import annotations

import hashlib
import itertools
import uuid
from datetime import date
from functools import cache

NAMESPACE = uuid.UUID("6f1c0c52-5a0c-5f0e-9b57-8c1f3c6f6a1d")


def job_id(kind: str, message_id: str) -> str:
    """The id of the job that a message starts: the same message, delivered twice, is the same job."""
    return str(uuid.uuid5(NAMESPACE, f"{kind}|{message_id}"))


def nightly_id(site: str, day: date) -> str:
    """The event id of the nightly crawl: two schedulers that publish it publish one crawl."""
    return str(uuid.uuid5(NAMESPACE, f"nightly|{site}|{day.isoformat()}"))


def event_id(*parts: object) -> str:
    """The id of a fact, from what makes it unique (job, type, request number)."""
    return str(uuid.uuid5(NAMESPACE, "|".join(str(part) for part in parts)))


def url_id(url: str) -> str:
    """64 hex digits that stand for a canonical URL."""
    return hashlib.sha256(url.encode()).hexdigest()


def page_id(crawl: str, url: str) -> str:
    """64 hex digits: one page of one crawl."""
    return hashlib.sha256(f"{crawl}{url_id(url)}".encode()).hexdigest()


def partition_of(site: str, partitions: int) -> int:
    """The mailbox partition of a site. Ours alone, so no client library's hash matters."""
    digest = hashlib.blake2b(site.encode(), digest_size=8).digest()
    return int.from_bytes(digest) % partitions


@cache
def marker_of(partition: int, partitions: int) -> str:
    """The name under which a partition's memory says that it is whole (A03); no customer's site can have it."""
    names = (f"memory-{number}.invalid" for number in itertools.count())
    return next(name for name in names if partition_of(name, partitions) == partition)
