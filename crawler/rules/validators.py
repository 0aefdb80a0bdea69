"""Conditional GET (W09; RFC 9110 13): what a site said of a page's version, kept with the page and said back to it.

A 304 brings no page. So validators are kept only beside a text that is held, with the links that the page had, and go
when the text may be gone or when the last reading of the URL was no success. Everything is bounded: a tag and a date
for each page, `MOST_LINKS` characters of links, `MOST` pages of a site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count

from crawler.rules.pace import http_date
from crawler.rules.site import Site
from models.events import PageFetched
from models.profile import Profile
from models.state import Ask, Head, Job, Validator, validator_key
from models.web import Kind, Response

MOST = 2_000
"""Pages of a site; a page beyond takes the place of the one that was seen least recently."""
MOST_LINKS = 16_000
"""Characters of links of one page; with more of them it is asked for in full each time."""
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,500}"')
_IMF_FIXDATE = 29
"""Characters of the one form of a date that a client may send (RFC 9110 5.6.7)."""

Part = tuple[str, bytes | None]


def etag_of(response: Response) -> str | None:
    """The entity tag as it was given, weak or strong (RFC 9110 8.8.3); `*` or a list would mean something else."""
    values = response.all("etag")
    return values[0] if len(values) == 1 and _ETAG.fullmatch(values[0]) else None


def modified_of(response: Response) -> str | None:
    """The date of the last change, where it tells versions apart.

    A page that changed within the second in which it was sent may change again in it (RFC 9110 8.8.2.2).
    """
    values = response.all("last-modified")
    modified = http_date(values[0]) if len(values) == 1 and len(values[0]) == _IMF_FIXDATE else None
    sent = http_date(response.header("date") or "") or response.ended_at
    return values[0] if modified is not None and modified + 1 <= sent else None


def held(site: Site, job: Job, ask: Ask, profile: Profile) -> Validator | None:
    """What `ask` may be made conditional by: of the same account and URL, for a page whose text is kept."""
    if not profile.discovery.conditional_get or job.kind != "crawl" or ask.kind != Kind.PAGE or ask.pairs_only:
        return None
    slot = site.validators.get((job.account, ask.url))
    return slot.validator if slot else None


def headers(known: Validator | None) -> tuple[tuple[str, str], ...]:
    """RFC 9110 13.1: both where both are known; whoever understands the tag leaves the date aside."""
    if known is None:
        return ()
    both = (("If-None-Match", known.etag), ("If-Modified-Since", known.modified))
    return tuple((name, value) for name, value in both if value is not None)


def links_to_keep(urls: Iterable[str]) -> tuple[str, ...] | None:
    """The links without their host, each once; None where they are too many to remember."""
    kept = tuple(dict.fromkeys("/" + url.split("/", 3)[3] for url in urls))
    return kept if sum(map(len, kept)) <= MOST_LINKS else None


def of_content(account: str, page: PageFetched) -> Validator | None:
    """The validators of a page as it is handed on, so that memory and database know the same."""
    if page.links is None or page.pairs_only or (page.etag is None and page.last_modified is None):
        return None
    return Validator(
        account=account, url=page.url, etag=page.etag, modified=page.last_modified, crawl=page.crawl, at=page.at,
        pairs=len(page.pairs), fingerprint=page.fingerprint, links=page.links,
    )  # fmt: skip


def placed(site: Site, new: Validator) -> tuple[Part, int]:
    """The record to write, and the number of slots that the head must name."""
    old = site.validators.get((new.account, new.url))
    slot = old.number if old else _free(site)
    part = (validator_key(site.head.site, slot), new.model_dump_json().encode())
    return part, max(site.head.validators, slot + 1)


def _free(site: Site) -> int:
    if len(site.validators) >= MOST:
        return min(site.validators.values(), key=lambda slot: (slot.validator.at, slot.number)).number
    used = {slot.number for slot in site.validators.values()}
    return next(number for number in count() if number not in used)


def forgotten(site: Site, account: str, url: str) -> tuple[Part, ...]:
    """The record of a page deleted: its last reading was no success."""
    old = site.validators.get((account, url))
    return ((validator_key(site.head.site, old.number), None),) if old else ()


def all_forgotten(head: Head) -> tuple[Part, ...]:
    """Every record of the site deleted: the texts are going (E25, C06).

    And the slot after the last: a record that a crash left there, written before its head was. The head goes on
    naming the slots, so that a deletion that was cut short is made again in full.
    """
    return tuple((validator_key(head.site, number), None) for number in range(head.validators + 1))
