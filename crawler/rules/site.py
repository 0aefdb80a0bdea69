"""A site as the rules see it, and a change to it: plain values.

`decide` (a message came) and the functions of `crawl` (a request is due, a response came) take a `Site` and give a
`Change`. Whoever calls them stores the change and publishes its facts; that order is the agents' affair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from crawler.rules.robots_verdict import Verdict
from models.events import Fact, PageFetched, PagesListed, UrlNamed
from models.profile import Profile
from models.state import Chunk, Entry, Head, Job, Validator, chunk_key, robots_key


@dataclass(frozen=True, slots=True)
class Policy:
    """What the rules decide by: the bot's profile, and the deployment's key for proof tokens."""

    profile: Profile
    token_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Frontier:
    """The URLs that one crawl knows of, in order of discovery, and the fingerprints of the pages it kept."""

    entries: tuple[Entry, ...] = ()
    urls: frozenset[str] = frozenset()
    fingerprints: tuple[str, ...] = ()

    def extended(self, chunk: Chunk) -> Frontier:
        """The frontier with one more chunk."""
        prints = self.fingerprints if chunk.fingerprint is None else (*self.fingerprints, chunk.fingerprint)
        return Frontier((*self.entries, *chunk.entries), self.urls | {entry.url for entry in chunk.entries}, prints)


@dataclass(frozen=True, slots=True)
class RobotsCache:
    """A robots.txt that holds for the crawls of a while (W03): asked for at `asked`, answered by `host`."""

    asked: str
    host: str
    until: float
    verdict: Verdict

    def to_bytes(self) -> bytes:
        """For the site's memory."""
        return f"{self.asked} {self.host} {self.until!r}\n".encode() + self.verdict.to_bytes()

    @classmethod
    def from_bytes(cls, stored: bytes) -> RobotsCache:
        """The inverse of `to_bytes`."""
        head, _, verdict = stored.partition(b"\n")
        asked, host, until = head.decode().split(" ")
        return cls(asked, host, float(until), Verdict.from_bytes(verdict))


@dataclass(frozen=True, slots=True)
class Slot:
    """The validators of one page, and the number of the record that they stand in."""

    number: int
    validator: Validator


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that is known of a site: its head and the parts that belong to running jobs."""

    head: Head
    seen: tuple[str, ...] = ()
    robots: Mapping[str, Verdict] = field(default_factory=dict)
    frontiers: Mapping[str, Frontier] = field(default_factory=dict)
    cached: RobotsCache | None = None
    validators: Mapping[tuple[str, str], Slot] = field(default_factory=dict)
    """(account, URL) -> how the page is asked for again (W09)."""

    def job(self, job_id: str) -> Job | None:
        """A running job by its id."""
        return next((job for job in self.head.jobs if job.id == job_id), None)


@dataclass(frozen=True, slots=True)
class Change:
    """A new head, parts to write (None deletes), and what is to be told about it."""

    head: Head
    parts: tuple[tuple[str, bytes | None], ...] = ()
    facts: tuple[Fact, ...] = ()
    contents: tuple[PageFetched | PagesListed | UrlNamed, ...] = ()


def with_job(head: Head, job: Job) -> Head:
    """The head with `job` in the place of the job of that id, or added."""
    if any(other.id == job.id for other in head.jobs):
        jobs = tuple(job if other.id == job.id else other for other in head.jobs)
    else:
        jobs = (*head.jobs, job)
    return head.model_copy(update={"jobs": jobs})


def without_job(head: Head, job: Job) -> Change:
    """The head without `job`, whose parts are deleted."""
    jobs = tuple(other for other in head.jobs if other.id != job.id)
    dead = [robots_key(head.site, job.id)] if job.kind != "check" else []
    dead += [chunk_key(head.site, job.id, number) for number in range(job.chunks)]
    return Change(head.model_copy(update={"jobs": jobs}), tuple((key, None) for key in dead))


def joined(first: Change, then: Change) -> Change:
    """Two changes, one after the other; `then` was computed from the head of `first`."""
    return replace(
        then,
        parts=first.parts + then.parts,
        facts=first.facts + then.facts,
        contents=first.contents + then.contents,
    )
