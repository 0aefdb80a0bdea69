"""The pages of a site, for a customer to choose from (E05, E16, E22): robots.txt, sitemaps, one homepage.

Its first two phases are a crawl's own. Nothing that is read is kept but addresses and titles, and the titles are
those that links and the homepage give (E18: no page is asked for to learn its title).
"""

from __future__ import annotations

from crawler.rules.challenge import detect
from crawler.rules.frontier import is_page, rank_of_link
from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.jobs.closing import close, counted, not_asked
from crawler.rules.site import Change, Frontier, Site, with_job
from crawler.rules.urls import UrlRefused, admitted, host_of
from models.events import ListedPage
from models.page import PageRead
from models.profile import Profile
from models.state import Ask, Chunk, Entry, Job, chunk_key
from models.web import Kind, Outcome

MOST_BYTES = 600_000
"""Of one event, addresses and titles together; Kafka's limit for a record is about 1 MB (measured)."""
MOST_TITLE = 200
MOST_LINKS = 1_200


def next_ask(site: Site, job: Job, now: float, profile: Profile) -> Ask | Change:
    """The homepage, once; then the listing is over."""
    home = f"https://{job.host}/"
    if job.requests.get(Kind.PAGE, 0) >= profile.budget.listing_pages or job.done:
        return ended(site, job, now)
    verdict = site.robots.get(job.id)
    if verdict is not None and verdict.allows(home):
        return job.ask or Ask(kind=Kind.PAGE, url=home)
    fact = not_asked(site.head, job, Kind.PAGE, home, now, Outcome.ROBOTS_DENIED)
    done = counted(moved(job, ask=None, done="1"), Outcome.ROBOTS_DENIED)
    return Change(with_job(site.head, done), facts=(fact,))


def absorb(answer: Answer) -> Result:
    """The homepage's links; one that cannot be read leaves what the sitemaps gave."""
    blocked = detect(answer.response)
    job = moved(answer.job, ask=None, done="1")
    if blocked is not None:
        challenge = blocked.kind == "challenge"
        return Result(job, Outcome.BLOCKED_CHALLENGE if challenge else Outcome.BLOCKED_LOGIN, detail=blocked.by)
    if answer.response.outcome is not Outcome.OK:
        return Result(job, answer.response.outcome)
    if not isinstance(answer.read, PageRead):
        return Result(job, Outcome.PARSE_LIMIT)
    chunk = Chunk(entries=_entries(answer, answer.read))
    part = (chunk_key(answer.site.head.site, job.id, job.chunks), chunk.model_dump_json().encode())
    return Result(moved(job, chunks=job.chunks + 1), Outcome.OK, parts=(part,))


def _entries(answer: Answer, read: PageRead) -> tuple[Entry, ...]:
    """The homepage and what it links to, each with a title; pages that a sitemap named are here again for theirs."""
    found = {answer.ask.url: Entry(url=answer.ask.url, rank=-1e9, title=read.reading.title[:MOST_TITLE])}
    for link in read.reading.links:
        try:
            url = admitted(link.href, answer.job.host, answer.profile.scope, base=answer.ask.url)
        except UrlRefused:
            continue
        found.setdefault(
            url, Entry(url=url, rank=rank_of_link(url, link.text, 1), depth=1, title=link.text[:MOST_TITLE])
        )
    return tuple(found.values())[:MOST_LINKS]


def ended(site: Site, job: Job, now: float) -> Change:
    """The list, best pages first, without those that robots.txt denies."""
    pages, cut = listed(site, job)
    reason = f"{len(pages)} pages found"
    job = moved(job, pages=len(pages), found=0, done="")
    return close(site.head, job, now, "completed", reason, listed=pages, cut=cut)


def listed(site: Site, job: Job) -> tuple[tuple[ListedPage, ...], bool]:
    """The pages that can be chosen, each once, and whether some did not fit."""
    verdict = site.robots.get(job.id)
    best: dict[str, Entry] = {}
    for entry in site.frontiers.get(job.id, Frontier()).entries:
        held = best.get(entry.url)
        if held is None:
            best[entry.url] = entry
        else:
            better = {"rank": min(held.rank, entry.rank), "title": held.title or entry.title}
            best[entry.url] = held.model_copy(update=better)
    room = MOST_BYTES
    pages: list[ListedPage] = []
    for entry in sorted(best.values(), key=lambda entry: (entry.rank, entry.url)):
        if (
            verdict is None
            or not verdict.allows(entry.url)
            or not is_page(entry.url)
            or host_of(entry.url) != job.host
        ):
            continue
        room -= len(entry.url) + 6 * len(entry.title) + 40
        if room < 0:
            return tuple(pages), True
        pages.append(ListedPage(url=entry.url, title=entry.title))
    return tuple(pages), False
