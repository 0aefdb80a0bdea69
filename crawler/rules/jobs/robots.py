"""The first phase of a crawl: robots.txt, before anything else, once, and for the whole crawl (E14, E15)."""

from __future__ import annotations

from dataclasses import replace

from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.jobs.closing import close
from crawler.rules.jobs.sitemaps import first_sitemaps
from crawler.rules.robots_verdict import Verdict, judge, lifetime
from crawler.rules.site import Change, RobotsCache, Site, joined, with_job
from crawler.rules.urls import host_of, same_site
from models import ids
from models.events import RobotsDecided
from models.state import Account, Ask, Chunk, Entry, Head, Job, cache_key, chunk_key, robots_key
from models.web import Outcome

START_RANK = -1e9
"""The page where a crawl starts comes before all others."""


def absorb(answer: Answer) -> Result:
    """Follow a hop, or let the verdict open or end the crawl."""
    ask, response = answer.ask, answer.response
    read = answer.read
    if not isinstance(read, Verdict | str):
        read = judge(response, ask.url, _first(answer.job), ask.hops, answer.profile)
    if isinstance(read, str):
        onward = Ask(kind=ask.kind, url=read, hops=ask.hops + 1)
        return Result(moved(answer.job, ask=onward), Outcome.REDIRECTED)
    at, outcome = answer.response.ended_at, answer.response.outcome
    host = host_of(ask.url) if same_site(ask.url, answer.site.head.site) else answer.job.host
    result = _decided(answer.site.head, answer.job, read, at, host, outcome)
    kept = lifetime(read, response, answer.profile)
    if kept:  # W03: it holds for other crawls too, but not for long
        cached = RobotsCache(answer.job.host, host, at + kept, read)
        result = replace(result, parts=(*result.parts, (cache_key(answer.site.head.site), cached.to_bytes())))
    return result


def from_cache(site: Site, job: Job, now: float) -> Change | None:
    """The crawl opened, or ended, by a robots.txt that is still fresh (W03); None where there is none."""
    cached = site.cached
    if cached is None or cached.asked != job.host or now >= cached.until or job.kind == "verification":
        return None
    result = _decided(site.head, job, cached.verdict, now, cached.host, Outcome.OK)
    change = Change(with_job(site.head, result.job), result.parts, result.facts)
    if result.end is None:
        return change
    return joined(change, close(change.head, result.job, now, *result.end))


def _first(job: Job) -> str:
    return f"https://{job.host}/robots.txt"


def _decided(head: Head, job: Job, verdict: Verdict, at: float, host: str, outcome: Outcome) -> Result:
    rules = verdict.rules
    fact = RobotsDecided(
        id=ids.event_id(job.id, "robots", job.host), at=at, site=head.site, crawl=job.id,
        verdict="disallow_all" if verdict.denies_all else "rules" if rules else "allow_all",
        reason=f"{verdict.ground} {verdict.detail}".strip(), sha256=rules.sha256 if rules else None,
        crawl_delay=verdict.crawl_delay, sitemaps=len(verdict.sitemaps),
    )  # fmt: skip
    part = (robots_key(head.site, job.id), verdict.to_bytes())
    if job.kind == "verification":  # C07: what robots.txt says of the proof alone
        return Result(moved(job, ask=None), outcome, parts=(part,))
    result = Result(moved(job, ask=None), outcome, facts=(fact,), parts=(part,))
    if verdict.denies_all:
        return replace(result, end=("refused_robots", f"robots.txt: {verdict.ground}"))
    return _opened(head, verdict, host, result)


def _opened(head: Head, verdict: Verdict, host: str, result: Result) -> Result:
    """The crawl starts: at the listed pages, or at the start page and the sitemaps.

    Where robots.txt was redirected to the www twin, the twin (`host`) is the authority of this crawl.
    """
    job = result.job
    scope = head.accounts.get(job.account, Account()).scope if job.hand_listed else None
    urls = [_moved(url, host) for url in (scope or (job.start,))]
    entries = tuple(Entry(url=url, rank=START_RANK + number) for number, url in enumerate(urls))
    job = moved(
        job,
        host=host,
        phase="pages" if job.hand_listed else "sitemaps",
        sitemaps=() if job.hand_listed else first_sitemaps(verdict, host, head.site),
        chunks=1,
        found=len(entries),
    )
    chunk = (chunk_key(head.site, job.id, 0), Chunk(entries=entries).model_dump_json().encode())
    return replace(result, job=job, parts=(*result.parts, chunk))


def _moved(url: str, host: str) -> str:
    """The same page on the crawl's authority (E06)."""
    return f"https://{host}/{url.split('/', 3)[3]}"
