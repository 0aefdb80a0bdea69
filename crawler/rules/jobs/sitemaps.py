"""The second phase of a crawl: at most five sitemap requests, hops included (E18)."""

from __future__ import annotations

from crawler.rules.frontier import is_page, rank_of_sitemap
from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.jobs.closing import counted, not_asked
from crawler.rules.jobs.frontier_parts import MOST_FOUND, with_chunk
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Change, Site, with_job
from crawler.rules.urls import UrlRefused, admitted, canonical, same_site
from models.page import SitemapRead
from models.profile import Profile
from models.state import Ask, Entry, Job
from models.web import Kind, Outcome

MOST_WAITING = 50
"""Sitemaps that are remembered from an index; five requests are all that may be made."""


def first_sitemaps(verdict: Verdict, host: str, site: str) -> tuple[str, ...]:
    """The site's own sitemaps that robots.txt names, or the customary place when it names none."""
    named = [url for url in verdict.sitemaps if same_site(url, site)]
    return tuple(dict.fromkeys(named))[:MOST_WAITING] or (f"https://{host}/sitemap.xml",)


def next_ask(site: Site, job: Job, now: float, profile: Profile) -> Ask | Change:
    """The next sitemap, or the change that leaves this phase."""
    spent = job.requests.get(Kind.SITEMAP, 0) >= profile.budget.sitemap_requests
    if spent and job.ask is not None:  # the fifth was cut short: it has its outcome all the same (A04)
        fact = not_asked(site.head, job, Kind.SITEMAP, job.ask.url, now, Outcome.OVER_BUDGET)
        job = counted(moved(job, ask=None), Outcome.OVER_BUDGET)
        return Change(with_job(site.head, job), facts=(fact,))
    if spent or (job.ask is None and not job.sitemaps):
        return Change(with_job(site.head, moved(job, ask=None, sitemaps=(), phase="pages")))
    if job.ask is not None:
        return job.ask
    url, rest = job.sitemaps[0], job.sitemaps[1:]
    verdict = site.robots.get(job.id)
    if verdict is None or not verdict.allows(url):
        fact = not_asked(site.head, job, Kind.SITEMAP, url, now, Outcome.ROBOTS_DENIED)
        job = counted(moved(job, sitemaps=rest), Outcome.ROBOTS_DENIED)
        return Change(with_job(site.head, job), facts=(fact,))
    return Ask(kind=Kind.SITEMAP, url=url)


def absorb(answer: Answer) -> Result:
    """Add the pages and the sitemaps that this one names; a sitemap that cannot be read costs its request only."""
    job = moved(answer.job, ask=None, sitemaps=tuple(u for u in answer.job.sitemaps if u != answer.ask.url))
    if answer.response.outcome is Outcome.REDIRECTED:
        return _redirected(answer, job)
    if not isinstance(answer.read, SitemapRead):
        outcome = answer.response.outcome
        return Result(job, Outcome.PARSE_LIMIT if outcome is Outcome.OK else outcome)
    seen = (*job.sitemaps_seen, answer.ask.url)
    wanted = [url for url in map(_canonical_or_none, answer.read.sitemaps) if url]
    wanted = [u for u in wanted if same_site(u, answer.site.head.site) and u not in (*seen, *job.sitemaps)]
    job = moved(job, sitemaps_seen=seen, sitemaps=(*job.sitemaps, *dict.fromkeys(wanted))[:MOST_WAITING])
    most = MOST_FOUND * answer.profile.budget.pages
    entries = _entries(answer)
    job = moved(job, sitemap_found=job.sitemap_found or bool(entries))
    job, parts = with_chunk(answer.site.head.site, job, answer.frontier, entries, most)
    return Result(job, answer.response.outcome, parts=parts)


def _entries(answer: Answer) -> list[Entry]:
    assert isinstance(answer.read, SitemapRead)
    found = []
    for url, priority in answer.read.pages:
        try:
            page = admitted(url, answer.job.host, answer.profile.scope, base=answer.ask.url)
        except UrlRefused:
            continue
        if not is_page(page):
            continue
        found.append(Entry(url=page, rank=rank_of_sitemap(page, priority), depth=1))
    return found


def _redirected(answer: Answer, job: Job) -> Result:
    """Within the site, and within the five requests; whatever else is dropped."""
    target = _canonical_or_none(answer.response.header("Location") or "", answer.ask.url)
    if target is None or not same_site(target, answer.site.head.site):
        return Result(job, Outcome.REDIRECTED_OFFSITE)
    verdict = answer.site.robots.get(job.id)
    if verdict is None or not verdict.allows(target) or target in job.sitemaps_seen:
        return Result(job, Outcome.REDIRECTED)
    seen = (*job.sitemaps_seen, answer.ask.url)
    return Result(moved(job, sitemaps=(target, *job.sitemaps), sitemaps_seen=seen), Outcome.REDIRECTED)


def _canonical_or_none(url: str, base: str | None = None) -> str | None:
    try:
        return canonical(url, base)
    except UrlRefused:
        return None
