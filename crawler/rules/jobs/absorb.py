"""What an answer means: the record of the request, the pace that follows, and the job's next state."""

from __future__ import annotations

from collections.abc import Callable, Collection

from crawler.rules.jobs import check, listing, llms_txt, pages, proof, robots, sitemaps
from crawler.rules.jobs.answer import Answer, Read, Result, moved
from crawler.rules.jobs.asking import phase_of
from crawler.rules.jobs.closing import close, counted
from crawler.rules.pace import Asked, PaceDecision, PaceState, after
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Change, Policy, Site, joined, with_job, without_job
from models import ids
from models.events import Fact, RequestEnded, SitePaused, UrlNamed, named
from models.profile import Phase
from models.state import PAIRS_ONLY, Ask, Head, Intent
from models.web import Kind, Outcome, Response

TRIES = 3
"""A URL whose request was cut short so often by our own failures is given up (a crash that it causes must end)."""

_PHASES: dict[str, Callable[[Answer], Result]] = {
    Kind.ADDRESS_CHECK: check.absorb,
    Kind.TOKEN_FILE: proof.absorb,
    Kind.HOMEPAGE_PROOF: proof.absorb,
    Kind.DNS_PROOF: proof.absorb,
    Kind.ROBOTS: robots.absorb,
    Kind.SITEMAP: sitemaps.absorb,
    Kind.LLMS_TXT: llms_txt.absorb,
    Kind.PAGE: pages.absorb,
}


def absorb(site: Site, intent: Intent, ask: Ask, response: Response, read: Read, policy: Policy) -> Change:
    """The site after the answer to the request that `intent` announced."""
    pace = _pace(site, intent, ask, response, read, policy)
    head = _paced(site.head, intent, response, pace)
    job = site.job(intent.job)
    if job is None:  # it ended while the request was under way
        late = named(head.site, ask.url, intent.at)  # the time of the question: an erasure since then covers it (E25)
        return Change(head, facts=(_record(head, intent, response, response.outcome, True, ""),), contents=(late,))
    url = named(head.site, ask.url, response.ended_at)
    answer = Answer(site, job, ask, response, read, pace, policy)
    homepage = job.kind == "listing" and ask.kind == Kind.PAGE
    phase = listing.absorb if homepage else _PHASES[ask.kind]
    return _applied(head, intent, answer, phase(answer), url)


def _pace(site: Site, intent: Intent, ask: Ask, response: Response, read: Read, policy: Policy) -> PaceDecision:
    """What follows for the pace; a Crawl-delay that has just been read holds for the very next request (E15)."""
    verdict = read if isinstance(read, Verdict) else site.robots.get(intent.job)
    state = PaceState(site.head.strikes, site.head.slow, site.head.pause_until or None)
    job = site.job(intent.job)
    asked = Asked(Kind(ask.kind), phase_of(job) if job else Phase.CRAWL, ask.attempt - 1)
    delay = verdict.crawl_delay if verdict else None
    return after(state, response, asked, policy.profile, delay, response.ended_at)


def _paced(head: Head, intent: Intent, response: Response, pace: PaceDecision) -> Head:
    """The head without the intent, and with the gap that the next request of the site keeps."""
    intents = tuple(other for other in head.intents if other.id != intent.id)
    if intent.kind == Kind.DNS_PROOF:
        return head.model_copy(update={"intents": intents})  # nothing was asked of the site
    return head.model_copy(
        update={
            "intents": intents,
            "last_end": response.ended_at,
            "wait": pace.wait_seconds,
            "strikes": pace.strikes,
            "slow": pace.slow,
            "pause_until": max(head.pause_until, pace.pause_until or 0.0),
        }
    )


def _applied(head: Head, intent: Intent, answer: Answer, result: Result, url: UrlNamed) -> Change:
    """A phase's result, with the record of the request beside it."""
    job = counted(result.job, result.outcome) if result.final else result.job
    record: tuple[Fact, ...] = (_record(head, intent, answer.response, result.outcome, result.final, result.detail),)
    if head.pause_until > answer.site.head.pause_until:
        record = (*record, _paused(head, intent, answer.response.ended_at))
    if result.account is not None:
        head = head.model_copy(update={"accounts": {**head.accounts, job.account: result.account}})
    head = head.model_copy(update={"validators": max(head.validators, result.slots)})
    change = Change(with_job(head, job), result.parts, (*record, *result.facts), (url, *result.contents))
    if result.end is not None:
        return joined(change, close(change.head, job, answer.response.ended_at, *result.end))
    return joined(change, without_job(change.head, job)) if result.over else change


def _paused(head: Head, intent: Intent, at: float) -> SitePaused:
    """A pause outlives the broker's data by being a fact (A03)."""
    event = ids.event_id(intent.job, "paused", intent.number)
    return SitePaused(id=event, at=at, site=head.site, until=head.pause_until, strikes=head.strikes)


def _record(
    head: Head, intent: Intent, response: Response, outcome: Outcome, final: bool, detail: str
) -> RequestEnded:
    """One row for each request (A04); ids follow from job and number, so a redelivery repeats it."""
    return RequestEnded(
        id=ids.event_id(intent.job, "request", intent.number), at=response.ended_at, site=head.site, job=intent.job,
        number=intent.number, kind=intent.kind, method=intent.method, url_id=intent.url_id, attempt=intent.attempt,
        sent=True, outcome=str(outcome), final=final, status=response.status, bytes=len(response.body),
        wire_bytes=response.wire_bytes, started_at=response.started_at, ended_at=response.ended_at,
        worker=intent.worker, detail=(detail or response.detail)[:300],
    )  # fmt: skip


def left_open(site: Site, flying: Collection[str]) -> tuple[Intent, ...]:
    """Intents without a result that are not under way in this process."""
    return tuple(intent for intent in site.head.intents if intent.id not in flying)


def interrupted(site: Site, intents: Collection[Intent], now: float, policy: Policy) -> Change:
    """Intents found without a result: recorded, counted, and asked again unless it happened too often."""
    change = Change(site.head)
    for intent in intents:
        here = Site(change.head, site.seen, site.robots, site.frontiers)
        change = joined(change, _interrupted(here, intent, now, policy))
    return change


def unsent(site: Site, intent: Intent, now: float) -> Change:
    """An intent whose request was not sent, for certain: ownership or the clock changed while it was written.

    It costs neither a try nor the budget (E18), however often a slow broker makes it happen; its number is spent.
    """
    head, job = _without(site.head, intent), site.job(intent.job)
    if job is not None and job.ask is not None:
        kind = PAIRS_ONLY if job.ask.pairs_only else intent.kind
        requests = {**job.requests, kind: job.requests[kind] - 1}
        head = with_job(head, moved(job, requests={name: count for name, count in requests.items() if count}))
    record = _record(head, intent, _cut_short(intent, now), Outcome.INTERRUPTED, job is None, "")
    return Change(head, facts=(record.model_copy(update={"sent": False}),))


def _cut_short(intent: Intent, now: float) -> Response:
    return Response(Outcome.INTERRUPTED, started_at=intent.at, ended_at=now, elapsed=0.0)


def _without(head: Head, intent: Intent) -> Head:
    return head.model_copy(update={"intents": tuple(other for other in head.intents if other.id != intent.id)})


def _interrupted(site: Site, intent: Intent, now: float, policy: Policy) -> Change:
    response = _cut_short(intent, now)
    job = site.job(intent.job)
    if job is not None and job.ask is not None and job.ask.attempt >= TRIES:
        return absorb(site, intent, job.ask, response, None, policy)
    head = _without(site.head, intent)
    if job is not None and job.ask is not None:
        head = with_job(head, moved(job, ask=job.ask.model_copy(update={"attempt": job.ask.attempt + 1})))
    return Change(head, facts=(_record(head, intent, response, Outcome.INTERRUPTED, job is None, ""),))
