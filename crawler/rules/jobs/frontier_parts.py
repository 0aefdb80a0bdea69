"""Which entries of a frontier are done, which comes next, and how new ones are added."""

from __future__ import annotations

from collections.abc import Iterable

from crawler.rules.gate import is_under
from crawler.rules.site import Frontier
from models.state import Chunk, Entry, Job, chunk_key

MOST_FOUND = 20
"""Times the page budget: more URLs than that are not kept; a trap must not fill the memory (F72)."""


def is_done(job: Job, number: int) -> bool:
    """Whether entry `number` has its outcome."""
    return bool(int(job.done or "0", 16) >> number & 1)


def done_with(job: Job, numbers: Iterable[int]) -> Job:
    """The job with these entries done."""
    bits = int(job.done or "0", 16)
    for number in numbers:
        bits |= 1 << number
    return job.model_copy(update={"done": f"{bits:x}"})


def waiting(job: Job, frontier: Frontier) -> list[tuple[float, int]]:
    """(rank, number) of the entries without an outcome, best first; the order of discovery breaks ties."""
    bits = int(job.done or "0", 16)
    return sorted((entry.rank, number) for number, entry in enumerate(frontier.entries) if not bits >> number & 1)


def with_chunk(
    site: str, job: Job, frontier: Frontier, found: Iterable[Entry], most: int, fingerprint: str | None = None
) -> tuple[Job, tuple[tuple[str, bytes | None], ...]]:
    """The job and the part to write when a page or a sitemap named `found`; known URLs are left out.

    So are those outside of the path that is all a proof covers (C04).
    """
    fresh: dict[str, Entry] = {}
    for entry in found:
        if entry.url not in frontier.urls and (not job.under or is_under(entry.url, job.under)):
            fresh.setdefault(entry.url, entry)
    entries = tuple(fresh.values())[: max(0, most - job.found)]
    if not entries and fingerprint is None:
        return job, ()
    chunk = Chunk(entries=entries, fingerprint=fingerprint)
    part = (chunk_key(site, job.id, job.chunks), chunk.model_dump_json().encode())
    return job.model_copy(update={"chunks": job.chunks + 1, "found": job.found + len(entries)}), (part,)
