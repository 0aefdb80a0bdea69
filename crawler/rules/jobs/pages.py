"""The third phase of a crawl: pages, within the budget, each asked for once (E16-E20)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from crawler.rules.challenge import detect
from crawler.rules.frontier import answers_questions, is_page, links_taken, rank_of_link, takes_links
from crawler.rules.jobs import revisits
from crawler.rules.jobs.answer import Answer, Result, moved
from crawler.rules.jobs.closing import close, counted, not_asked
from crawler.rules.jobs.frontier_parts import MOST_FOUND, done_with, waiting, with_chunk
from crawler.rules.jobs.handing import handed_on
from crawler.rules.likeness import is_known
from crawler.rules.site import Change, Frontier, Site, with_job
from crawler.rules.urls import Reason, UrlRefused, admitted, canonical, host_of
from models.page import PageRead
from models.profile import Profile
from models.reading import Link
from models.state import PAIRS_ONLY, Ask, Entry, Job, Limits, chunk_key, robots_key
from models.web import Kind, Outcome

REDIRECT_RANK = -1e8
"""A redirect's target is asked for next: the same page, by its right name."""
BLOCKED = {"challenge": Outcome.BLOCKED_CHALLENGE, "login": Outcome.BLOCKED_LOGIN}


def next_ask(site: Site, job: Job, now: float, profile: Profile) -> Ask | Change:
    """The next page, or the change that ends the crawl; entries that robots.txt denies are recorded on the way."""
    limits = limits_of(job, profile)
    for_pairs = job.requests.get(PAIRS_ONLY, 0) < limits.pairs_requests
    if not for_pairs and job.pages >= limits.pages:
        return close(site.head, job, now, "completed", f"{job.pages} pages kept: the budget")
    to_keep = job.pages < limits.pages and job.requests.get(Kind.PAGE, 0) < limits.page_requests
    if not for_pairs and not to_keep:
        return close(site.head, job, now, "completed_partial", "the budget of page requests is spent")
    if job.ask is not None:
        return job.ask if _has_room(job.ask, to_keep, for_pairs) else _given_up(site, job, job.ask, now)
    return _from_frontier(site, job, now, to_keep, for_pairs)


def limits_of(job: Job, profile: Profile) -> Limits:
    """What the gate decided for this job; without it (a job of an older version), the profile's own budget."""
    budget = profile.budget
    return job.limits or Limits(pages=budget.pages, page_requests=budget.page_requests)


def _has_room(page: Ask | Entry, to_keep: bool, for_pairs: bool) -> bool:
    return for_pairs if page.pairs_only else to_keep


def _given_up(site: Site, job: Job, ask: Ask, now: float) -> Change:
    """A page that was taken up when the budget of its sort was spent: another sort may have room (E18)."""
    assert ask.entry is not None
    fact = not_asked(site.head, job, ask.kind, ask.url, now, Outcome.OVER_BUDGET)
    job = counted(moved(done_with(job, [ask.entry]), ask=None), Outcome.OVER_BUDGET)
    return Change(with_job(site.head, job), facts=(fact,))


def _from_frontier(site: Site, job: Job, now: float, to_keep: bool, for_pairs: bool) -> Ask | Change:
    frontier = site.frontiers.get(job.id, Frontier())
    denied: list[int] = []
    spent = False
    for _, number in waiting(job, frontier):
        entry = frontier.entries[number]
        if not _has_room(entry, to_keep, for_pairs):
            spent = True
            continue
        if not site.robots[job.id].allows(entry.url):
            denied.append(number)
        elif denied:
            break
        else:
            return Ask(
                kind=Kind.PAGE, url=entry.url, entry=number, hops=entry.hops, pairs_only=entry.pairs_only
            )  # fmt: skip
    if denied:
        return _denied(site, job, frontier, denied, now)
    if not job.pages and not job.pairs:
        return close(site.head, job, now, "failed", "no page could be read")
    if spent:
        return close(site.head, job, now, "completed_partial", "the budget of page requests is spent")
    return close(site.head, job, now, "completed", "every page that was found has been read")


def _denied(site: Site, job: Job, frontier: Frontier, numbers: list[int], now: float) -> Change:
    facts = tuple(
        not_asked(site.head, job, Kind.PAGE, frontier.entries[number].url, now, Outcome.ROBOTS_DENIED)
        for number in numbers
    )
    for _ in numbers:
        job = counted(job, Outcome.ROBOTS_DENIED)
    return Change(with_job(site.head, done_with(job, numbers)), facts=facts)


def absorb(answer: Answer) -> Result:
    """Keep the page, follow a redirect, try again, or record why not; and remember how to ask the next time (W09)."""
    result = _absorbed(answer)
    return revisits.remembered(answer, result) if result.final else result


def _absorbed(answer: Answer) -> Result:
    blocked = detect(answer.response)
    if blocked is not None:  # before 429, 503 and 403 are read as such (E26, C13)
        return _finished(answer, BLOCKED[blocked.kind], blocked.by)
    if answer.pace.retry:
        onward = answer.ask.model_copy(update={"attempt": answer.ask.attempt + 1})  # E19
        return Result(moved(answer.job, ask=onward), answer.response.outcome, final=False)
    if answer.response.outcome is Outcome.REDIRECTED:
        return _redirected(answer)
    if answer.response.outcome is Outcome.NOT_MODIFIED:
        return _unchanged(answer)
    if answer.response.outcome is not Outcome.OK:
        return _finished(answer, answer.response.outcome)
    return _read(answer)


def _finished(answer: Answer, outcome: Outcome, detail: str = "") -> Result:
    """The entry has its outcome; the crawl goes on."""
    assert answer.ask.entry is not None
    return Result(moved(done_with(answer.job, [answer.ask.entry]), ask=None), outcome, detail=detail)


def _redirected(answer: Answer) -> Result:
    """The target is an entry of its own: paced, counted, and checked against robots.txt when its turn comes."""
    location = answer.response.header("Location") or ""
    try:
        target = admitted(location, answer.job.host, answer.profile.scope, base=answer.ask.url)
    except UrlRefused as refused:
        off = refused.reason is Reason.OFFSITE
        return _finished(answer, Outcome.REDIRECTED_OFFSITE if off else Outcome.REDIRECTED, f"to {refused.reason}")
    if target == answer.ask.url:
        return _to_itself(answer, location)
    if answer.ask.hops >= answer.profile.scope.max_hops:
        return _finished(answer, Outcome.REDIRECT_LIMIT)
    entry = Entry(
        url=target, rank=REDIRECT_RANK, depth=_entry(answer).depth, hops=answer.ask.hops + 1,
        wave=_entry(answer).wave,
        pairs_only=answer.ask.pairs_only,
    )  # fmt: skip
    return _with_entries(answer, _finished(answer, Outcome.REDIRECTED), [entry])


def _to_itself(answer: Answer, location: str) -> Result:
    """A redirect to the www twin looks like one to the same URL, since twins are one domain here (E06).

    At the start page the twin becomes the crawl's authority, once, and its own robots.txt is read first (RFC 9309
    2.3); anywhere else such a redirect is a loop.
    """
    twin = _host_at(location, answer.ask.url)
    if twin is None or twin == answer.job.host or answer.job.switched or answer.job.pages:
        return _finished(answer, Outcome.REDIRECT_LIMIT)
    site, job = answer.site.head.site, answer.job
    dead = [robots_key(site, job.id), *(chunk_key(site, job.id, number) for number in range(job.chunks))]
    again = moved(
        job, host=twin, switched=True, ask=None, phase="robots", sitemaps=(), sitemaps_seen=(), chunks=0, found=0,
        done="",
    )  # fmt: skip
    return Result(again, Outcome.REDIRECTED, parts=tuple((key, None) for key in dead))


def _host_at(location: str, base: str) -> str | None:
    """The host that a redirect points to, or None where it points nowhere."""
    try:
        return host_of(canonical(location, base))
    except UrlRefused:
        return None


def _read(answer: Answer) -> Result:
    read = answer.read
    if not isinstance(read, PageRead):
        return _finished(answer, Outcome.PARSE_LIMIT, getattr(read, "reason", ""))
    outcome = _kept_or_not(answer, read)
    result = _finished(answer, outcome)
    if outcome is Outcome.OK:
        content, fact = handed_on(answer, read)
        kept = 0 if content.pairs_only else 1
        job = moved(result.job, pages=result.job.pages + kept, pairs=result.job.pairs + len(content.pairs))
        result = replace(result, job=job, facts=(fact,), contents=(content,))
    follow = _follows(answer) and not (read.nofollow and answer.profile.discovery.obey_nofollow)
    entries = _links(answer, read.reading.links) if follow and not answer.ask.pairs_only else []
    return _with_entries(answer, result, entries, read.reading.fingerprint if outcome is Outcome.OK else None)


def _unchanged(answer: Answer) -> Result:
    """The page counts as kept, with the pairs that it has, and leads to what it led to when it was read (W09)."""
    known = revisits.known(answer)
    if known is None:
        return _finished(answer, Outcome.HTTP_OTHER, "304 to a request without conditions")
    result = _finished(answer, Outcome.NOT_MODIFIED)
    job = moved(result.job, pages=result.job.pages + 1, pairs=result.job.pairs + known.pairs)
    result = replace(result, job=job, facts=(revisits.unchanged(answer, known),))
    entries = _links(answer, revisits.links(answer, known)) if _follows(answer) else []
    return _with_entries(answer, result, entries, known.fingerprint or None)


def _follows(answer: Answer) -> bool:
    """W07: with a sitemap, the links of its own pages, and not of those found through them."""
    discovery = answer.profile.discovery
    return takes_links(links_taken(discovery, sitemap_found=answer.job.sitemap_found), _entry(answer).wave)


def _kept_or_not(answer: Answer, read: PageRead) -> Outcome:
    if read.noindex and answer.profile.discovery.noindex == "skip":
        return Outcome.NOINDEX  # C09
    if read.reading.thin:
        return Outcome.THIN
    if read.reading.fingerprint and is_known(read.reading.fingerprint, answer.frontier.fingerprints):
        return Outcome.DUPLICATE
    return Outcome.OK


def _links(answer: Answer, links: Iterable[Link]) -> list[Entry]:
    """What a page links to; from a hand-listed page, the pages of questions and answers alone (E18, E22)."""
    listed = answer.job.hand_listed
    depth = _entry(answer).depth + 1
    unlisted = answer.profile.discovery.links != "always" and answer.job.sitemap_found
    wave = _entry(answer).wave + 1 if unlisted else 0
    found: list[Entry] = []
    if depth > answer.profile.scope.max_depth:
        return found
    for link in links:
        if link.nofollow and answer.profile.discovery.obey_nofollow:
            continue  # W07
        try:
            url = admitted(link.href, answer.job.host, answer.profile.scope, base=answer.ask.url)
        except UrlRefused:
            continue
        if not is_page(url):
            continue  # by its name a picture or a document: a request would be spent on a refusal (E04)
        if not listed or answers_questions(url, link.text):
            rank = rank_of_link(url, link.text, depth, wave=wave)
            found.append(Entry(url=url, rank=rank, depth=depth, wave=wave, pairs_only=listed))
    return found


def _entry(answer: Answer) -> Entry:
    """The frontier's entry that was asked for."""
    assert answer.ask.entry is not None
    return answer.frontier.entries[answer.ask.entry]


def _with_entries(answer: Answer, result: Result, entries: list[Entry], fingerprint: str | None = None) -> Result:
    most = MOST_FOUND * answer.profile.budget.pages
    job, parts = with_chunk(answer.site.head.site, result.job, answer.frontier, entries, most, fingerprint)
    return replace(result, job=job, parts=(*result.parts, *parts))
