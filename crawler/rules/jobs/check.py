"""The address check (E07): one HEAD; any status, 404 and 500 included, is "answers"."""

from __future__ import annotations

from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.urls import UrlRefused, canonical, host_of, same_site
from models import ids
from models.events import AddressChecked


def absorb(answer: Answer) -> Result:
    """Whether the address answers, and whether it points to its own www twin."""
    job, response = answer.job, answer.response
    fact = AddressChecked(
        id=ids.event_id(job.id, "ended"), at=response.ended_at, site=answer.site.head.site, job=job.id,
        account=job.account, host=job.host, answers=response.status is not None, status=response.status,
        outcome=str(response.outcome), redirects_to=_twin(answer),
    )  # fmt: skip
    return Result(moved(job, ask=None), response.outcome, facts=(fact,), over=True)


def _twin(answer: Answer) -> str | None:
    location = answer.response.header("Location")
    if location is None:
        return None
    try:
        target = canonical(location, answer.ask.url)
    except UrlRefused:
        return None
    host = host_of(target)
    return host if same_site(target, answer.site.head.site) and host != answer.job.host else None
