"""Which request a site makes next, if any; and the intent that is written before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crawler.rules import validators
from crawler.rules.jobs import listing, llms_txt, pages, proof, robots, sitemaps
from crawler.rules.jobs.asking import phase_of, request_for
from crawler.rules.jobs.closing import close_all
from crawler.rules.site import Change, Policy, Site, with_job
from models.ids import url_id
from models.profile import Profile
from models.state import PAIRS_ONLY, Account, Ask, Intent, Job
from models.web import Kind, Lookup, Request


@dataclass(frozen=True, slots=True)
class Send:
    """Make this request for that job."""

    job: str
    host: str
    """The crawl's authority."""
    ask: Ask
    request: Request | Lookup


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing now: again in `wait` seconds, or (None) when a message comes."""

    wait: float | None


@dataclass(frozen=True, slots=True)
class Done:
    """Something changed without a request (a phase or a job ended); plan again."""

    change: Change


Plan = Send | Idle | Done


@dataclass(frozen=True, slots=True)
class Intended:
    """The intent and the change that writes it."""

    intent: Intent
    change: Change


def plan(site: Site, now: float, policy: Policy) -> Plan:
    """The next request of `site` at wall-clock second `now`; whether the pace allows it yet is the pump's affair."""
    head = site.head
    if head.stopped or not head.jobs:
        return Idle(None)
    late = [job for job in head.jobs if now > job.deadline]
    if late:
        return Done(close_all(site, now, "deadline", late))
    if now < head.pause_until:
        return Idle(head.pause_until - now)  # W06, C10
    job = min(head.jobs, key=lambda job: (job.kind == "crawl", job.accepted_at))  # small jobs first
    ask = _next(site, job, now, policy)
    if isinstance(ask, Change):
        return Done(ask)
    if ask.kind == Kind.DNS_PROOF:
        return Send(job.id, job.host, ask, proof.lookup(site, job, policy))  # E08: asks the resolvers, not the site
    note = head.accounts.get(job.account, Account()).note
    known = validators.held(site, job, ask, policy.profile)
    return Send(job.id, job.host, ask, request_for(ask, note, policy.profile, phase_of(job), known))


def _next(site: Site, job: Job, now: float, policy: Policy) -> Ask | Change:
    if job.kind == "check":
        return job.ask or Ask(kind=Kind.ADDRESS_CHECK, url=job.start)  # E07
    if job.kind == "verification":
        return proof.next_ask(site, job, now, policy)  # E08-E10
    if job.phase == "robots" and job.ask is None and (opened := robots.from_cache(site, job, now)):
        return opened
    if job.phase == "robots":
        return job.ask or Ask(kind=Kind.ROBOTS, url=f"https://{job.host}/robots.txt")  # E14: before anything else
    if job.recheck:
        return proof.next_ask(site, job, now, policy)  # C06: before the first page
    return _of_phase(job, policy.profile)(site, job, now, policy.profile)


def _of_phase(job: Job, profile: Profile) -> Callable[[Site, Job, float, Profile], Ask | Change]:
    if job.phase == "sitemaps":
        return llms_txt.next_ask if llms_txt.is_due(job, profile) else sitemaps.next_ask  # W08
    return listing.next_ask if job.kind == "listing" else pages.next_ask


def intend(site: Site, send: Send, worker: str, now: float) -> Intended:
    """Count the request and remember that it may be on the wire. The caller waits for the broker, then sends."""
    job = site.job(send.job)
    assert job is not None
    kind = PAIRS_ONLY if send.ask.pairs_only else send.ask.kind
    requests = {**job.requests, kind: job.requests.get(kind, 0) + 1}
    job = job.model_copy(update={"number": job.number + 1, "requests": requests, "ask": send.ask})
    intent = Intent(
        number=job.number, job=job.id, kind=send.ask.kind, method=send.request.method, url_id=url_id(send.ask.url),
        attempt=send.ask.attempt, worker=worker, at=now, timeout=send.request.timeout,
    )  # fmt: skip
    head = with_job(site.head, job)
    return Intended(intent, Change(head.model_copy(update={"intents": (*head.intents, intent)})))
