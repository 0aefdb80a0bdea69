"""How jobs end: each crawl in exactly one terminal state, each URL that was taken up in exactly one outcome (A04)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from crawler.rules.site import Change, Site, joined, without_job
from crawler.rules.validators import all_forgotten
from models import ids
from models.events import (
    AddressChecked,
    CrawlEnd,
    CrawlEnded,
    Fact,
    ListedPage,
    PagesListed,
    RequestEnded,
    VerificationFailed,
)
from models.state import Head, Job
from models.web import Outcome

REASONS: dict[str, tuple[CrawlEnd, str, Outcome]] = {
    "suspended": ("suspended", "staff suspended the site", Outcome.SUSPENDED),
    "blocked": ("suspended", "staff put the site on the blocklist", Outcome.SUSPENDED),
    "unlisted": ("failed", "staff took the site off the operator's list", Outcome.SUSPENDED),
    "withdrawn": ("failed", "the verification was withdrawn", Outcome.SUSPENDED),
    "deadline": ("aborted_deadline", "the job ran out of time", Outcome.OVER_BUDGET),
}


def close_all(site: Site, now: float, reason: str, jobs: Iterable[Job] | None = None) -> Change:
    """End `jobs` (all that run) for one of `REASONS`. A request that is under way is recorded when it comes back."""
    change = Change(site.head)
    end, sentence, outcome = REASONS[reason]
    for job in site.head.jobs if jobs is None else tuple(jobs):
        change = joined(change, close(change.head, job, now, end, sentence, outcome))
    return change


def close(  # noqa: PLR0913 - the last two are a listing's alone
    head: Head,
    job: Job,
    now: float,
    end: CrawlEnd,
    reason: str,
    left: Outcome = Outcome.OVER_BUDGET,
    listed: tuple[ListedPage, ...] = (),
    *,
    cut: bool = False,
) -> Change:
    """End one job: `end` and `reason` for a crawl, a failure with `reason` for the small ones.

    `left` is the outcome of a URL that the job had taken up and will not ask for again. However a listing ends, it
    is answered: with the pages that it `listed`, or with none and the reason.
    """
    gone = without_job(head, job)
    if job.remove_above is not None:  # which pages go is known to the database alone (C06)
        gone = replace(gone, parts=(*gone.parts, *all_forgotten(head)))
    facts: list[Fact] = []
    under_way = any(intent.job == job.id for intent in head.intents)
    if job.ask is not None and not under_way:
        facts.append(not_asked(head, job, job.ask.kind, job.ask.url, now, left))
        job = counted(job, left)
    facts.append(_terminal(head.site, job, now, end, reason))
    if job.kind != "listing":
        return Change(gone.head, gone.parts, tuple(facts))
    answer = PagesListed(
        id=ids.event_id(job.id, "listed"), at=now, site=head.site, job=job.id, account=job.account, host=job.host,
        end=end, reason=reason, pages=listed, cut=cut,
    )  # fmt: skip
    return Change(gone.head, gone.parts, tuple(facts), (answer,))


def counted(job: Job, outcome: Outcome) -> Job:
    """The job with one more URL that ended in `outcome`."""
    outcomes = {**job.outcomes, str(outcome): job.outcomes.get(str(outcome), 0) + 1}
    return job.model_copy(update={"outcomes": outcomes})


def not_asked(head: Head, job: Job, kind: str, url: str, now: float, outcome: Outcome) -> RequestEnded:
    """The record of a URL that was taken up and for which no request was sent."""
    url_id = ids.url_id(url)
    return RequestEnded(
        id=ids.event_id(job.id, "unasked", url_id), at=now, site=head.site, job=job.id, number=0, kind=kind,
        method="GET", url_id=url_id, attempt=0, sent=False, outcome=str(outcome), started_at=now, ended_at=now,
    )  # fmt: skip


def _terminal(site: str, job: Job, now: float, end: CrawlEnd, reason: str) -> Fact:
    event = ids.event_id(job.id, "ended")
    if job.kind in ("crawl", "listing"):
        return CrawlEnded(
            id=event, at=now, site=site, crawl=job.id, end=end, reason=reason, pages=job.pages, pairs=job.pairs,
            requests=job.requests, outcomes=job.outcomes, left=job.found - int(job.done or "0", 16).bit_count(),
            remove_above=job.remove_above,
        )  # fmt: skip
    if job.kind == "verification":
        return VerificationFailed(
            id=event, at=now, site=site, job=job.id, account=job.account, host=job.host, method=job.method,
            result="undetermined", reason=reason,
        )  # fmt: skip
    return AddressChecked(
        id=event, at=now, site=site, job=job.id, account=job.account, host=job.host, answers=False, status=None,
        outcome=str(Outcome.SUSPENDED if end == "suspended" else Outcome.INTERRUPTED),
    )  # fmt: skip
