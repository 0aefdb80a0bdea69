"""The one request for `/llms.txt` in a crawl of a whole site, by the bot that announces it (W08), no other (A01).

It comes after robots.txt, which may deny it, and before the sitemaps. It is no page: it takes nothing of the budget
of pages, is not tried again, and no redirect of it is followed. That it was asked for, and what came, is recorded;
its links are none of the ways in which pages are found (W07), and its text is not kept.
"""

from __future__ import annotations

from crawler.rules.challenge import detect
from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.jobs.closing import counted, not_asked
from crawler.rules.site import Change, Site, with_job
from models.profile import Profile
from models.state import Ask, Job
from models.web import Kind, Outcome


def is_due(job: Job, profile: Profile) -> bool:
    """Whether the request is still to be made, by a bot that announces it; in a crawl, which a listing is not.

    A list of pages never comes here: the phase of the sitemaps, which this begins, is that of a whole site.
    """
    return job.kind == "crawl" and not job.llms_txt and profile.budget.llms_txt_requests > 0


def next_ask(site: Site, job: Job, now: float, profile: Profile) -> Ask | Change:
    """The request, or the record of why there is none; one that was cut short is not made again."""
    url = f"https://{job.host}/llms.txt"
    verdict = site.robots.get(job.id)
    if verdict is None or not verdict.allows(url):
        return _left(site, job, url, now, Outcome.ROBOTS_DENIED)
    if job.requests.get(Kind.LLMS_TXT, 0) >= profile.budget.llms_txt_requests:
        return _left(site, job, url, now, Outcome.OVER_BUDGET)
    return Ask(kind=Kind.LLMS_TXT, url=url)


def _left(site: Site, job: Job, url: str, now: float, outcome: Outcome) -> Change:
    fact = not_asked(site.head, job, Kind.LLMS_TXT, url, now, outcome)
    job = counted(moved(job, ask=None, llms_txt=True), outcome)
    return Change(with_job(site.head, job), facts=(fact,))


def absorb(answer: Answer) -> Result:
    """Whatever came, the sitemaps are next."""
    blocked = detect(answer.response)
    job = moved(answer.job, ask=None, llms_txt=True)
    if blocked is not None:
        outcome = Outcome.BLOCKED_CHALLENGE if blocked.kind == "challenge" else Outcome.BLOCKED_LOGIN
        return Result(job, outcome, detail=blocked.by)
    return Result(job, answer.response.outcome)
