"""What an answer to one request is judged by, and what a phase makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from crawler.rules.pace import PaceDecision
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Frontier, Policy, Site
from models.events import CrawlEnd, Fact, PageFetched
from models.page import MarksRead, PageRead, SitemapRead, Unread
from models.profile import Profile
from models.state import Account, Ask, Job
from models.web import Outcome, Response

Read = PageRead | SitemapRead | MarksRead | Verdict | str | Unread | None
"""What the child process made of the body. For robots.txt: the verdict, or the URL of the next hop."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One response in its place: whose job it is, what was asked, what the child process read in it."""

    site: Site
    job: Job
    ask: Ask
    response: Response
    read: Read
    pace: PaceDecision
    policy: Policy

    @property
    def profile(self) -> Profile:
        """The bot's profile."""
        return self.policy.profile

    @property
    def frontier(self) -> Frontier:
        """The job's frontier as it was before this answer."""
        return self.site.frontiers.get(self.job.id, Frontier())

    @property
    def account(self) -> Account:
        """The account that the job runs for."""
        return self.site.head.accounts.get(self.job.account, Account())


@dataclass(frozen=True, slots=True)
class Result:
    """What a phase makes of an answer. `job.ask` is what it asks next for the same purpose, or None."""

    job: Job
    outcome: Outcome
    final: bool = True
    detail: str = ""
    parts: tuple[tuple[str, bytes | None], ...] = ()
    facts: tuple[Fact, ...] = ()
    contents: tuple[PageFetched, ...] = ()
    end: tuple[CrawlEnd, str] | None = None
    """The crawl is over; why."""
    over: bool = False
    """A small job is over; its facts say how."""
    slots: int = 0
    """The head names at least so many slots of validators (W09)."""
    account: Account | None = None
    """The account as the answer leaves it (a proof was found)."""


def moved(job: Job, **changes: object) -> Job:
    """The job with some fields changed."""
    return job.model_copy(update=changes)
