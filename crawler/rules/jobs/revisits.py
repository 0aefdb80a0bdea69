"""A page that was read before, asked for again (W09): what is remembered of it, and what a 304 means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from crawler.rules import validators
from crawler.rules.frontier import is_page
from crawler.rules.jobs.answer import Answer, Result
from crawler.rules.urls import UrlRefused, admitted
from models import ids
from models.events import PageFetched, PageUnchanged
from models.page import PageRead
from models.reading import Link
from models.state import Validator
from models.web import Outcome


def known(answer: Answer) -> Validator | None:
    """What the request was made conditional by."""
    return validators.held(answer.site, answer.job, answer.ask, answer.profile)


def unchanged(answer: Answer, page: Validator) -> PageUnchanged:
    """The fact that the stored text is what the site says today."""
    crawl = answer.job.id
    return PageUnchanged(
        id=ids.event_id(ids.page_id(crawl, page.url), "unchanged"), at=answer.response.ended_at,
        site=answer.site.head.site, crawl=crawl, url_id=ids.url_id(page.url),
        page_id=ids.page_id(page.crawl, page.url),
    )  # fmt: skip


def links(answer: Answer, page: Validator) -> Iterator[Link]:
    """What the page led to when it was read. Their texts are not kept: they rank by their address alone."""
    return (Link(href=f"https://{answer.job.host}{target}") for target in page.links)


def marks(answer: Answer, read: PageRead) -> tuple[str | None, str | None, tuple[str, ...] | None]:
    """ETag, Last-Modified and links as they are handed on; without links the page is asked for in full each time.

    So is one that took a second attempt: what the first told before it was cut short is the copy that the database
    holds, and these marks may be of a later version.
    """
    response = answer.response
    if not answer.profile.discovery.conditional_get or answer.ask.pairs_only or answer.ask.attempt > 1:
        return response.header("ETag"), response.header("Last-Modified"), None
    found = () if _ignored(answer, nofollow=read.nofollow) else _targets(answer, read)
    return validators.etag_of(response), validators.modified_of(response), validators.links_to_keep(found)


def _ignored(answer: Answer, *, nofollow: bool) -> bool:
    return nofollow and answer.profile.discovery.obey_nofollow


def _targets(answer: Answer, read: PageRead) -> Iterator[str]:
    for link in read.reading.links:
        if _ignored(answer, nofollow=link.nofollow):
            continue  # W07
        try:
            url = admitted(link.href, answer.job.host, answer.profile.scope, base=answer.ask.url)
        except UrlRefused:
            continue
        if is_page(url):
            yield url


def remembered(answer: Answer, result: Result) -> Result:
    """The result with the page's validators: new ones with a new text, none after a reading that was no success."""
    account, url = answer.job.account, answer.ask.url
    new = _new(answer, result)
    if new is not None and answer.profile.discovery.conditional_get:
        part, slots = validators.placed(answer.site, new)
        return replace(result, parts=(*result.parts, part), slots=slots)
    return replace(result, parts=(*result.parts, *validators.forgotten(answer.site, account, url)))


def _new(answer: Answer, result: Result) -> Validator | None:
    if result.outcome is Outcome.NOT_MODIFIED:
        page = known(answer)
        return page.model_copy(update={"at": answer.response.ended_at}) if page else None
    content = next((one for one in result.contents if isinstance(one, PageFetched)), None)
    return validators.of_content(answer.job.account, content) if content else None
