"""A page that was read, as it is handed on (E28): the event with its text, and the fact without."""

from __future__ import annotations

from typing import TypeVar

from crawler.rules.frontier import rank_of_link
from crawler.rules.jobs import revisits
from crawler.rules.jobs.answer import Answer
from models import ids
from models.events import PageFetched, PageKept
from models.page import PageRead

Item = TypeVar("Item")

MOST_TEXT = 400_000
"""Characters. Kafka's record limit is about 1 MB, and one character may take six bytes of JSON (measured: 0.6)."""
MOST_EXTRAS = 200_000
"""Characters of pairs, and of facts, that one page may add."""


def handed_on(answer: Answer, read: PageRead) -> tuple[PageFetched, PageKept]:
    """The content and its digest. A text above the limit is cut, and says so; a page is never dropped for size."""
    response, reading = answer.response, read.reading
    etag, modified, links = revisits.marks(answer, read)
    site, url = answer.site.head.site, answer.ask.url
    alone = answer.ask.pairs_only  # E18: no text of these is kept
    text = "" if alone else cut_to_bytes(reading.markdown, MOST_TEXT)
    pairs = _within(
        [{"id": p.id, "question": p.question, "answer": p.answer, "source": p.source} for p in reading.pairs]
    )
    content = PageFetched(
        id=ids.page_id(answer.job.id, url), at=response.ended_at, site=site, crawl=answer.job.id, url=url,
        title=reading.title[:500], description=reading.description[:1000], language=reading.language, text=text,
        text_cut=not alone and len(text) < len(reading.markdown), pairs=tuple(pairs),
        facts=() if alone else tuple(_within(list(reading.facts))), pairs_only=alone, rank=_rank(answer),
        frame=() if alone else tuple(_within(list(reading.frame))), menu=tuple(_within(list(reading.menu))),
        signals={**_from_robots(answer), **read.signals}, noindex=read.noindex, etag=etag,
        last_modified=modified, sha256=read.sha256, encoding=reading.encoding, links=links,
        fingerprint=reading.fingerprint,
    )  # fmt: skip
    fact = PageKept(
        id=ids.event_id(content.id, "kept"), at=response.ended_at, site=site, crawl=answer.job.id,
        url_id=ids.url_id(url), sha256=read.sha256, characters=len(text), pairs=len(pairs), noindex=read.noindex,
    )  # fmt: skip
    return content, fact


def _rank(answer: Answer) -> float:
    """The page's priority (C06). What a redirect led to was asked for at once, so its own is made here."""
    assert answer.ask.entry is not None
    entry = answer.frontier.entries[answer.ask.entry]
    return rank_of_link(entry.url, "", entry.depth, wave=entry.wave) if entry.hops else entry.rank


def _from_robots(answer: Answer) -> dict[str, str]:
    """The usage signals of robots.txt, such as Content-Signal, recorded with each page that it covers (A05)."""
    verdict = answer.site.robots.get(answer.job.id)
    rules = verdict.rules if verdict else None
    return {f"robots:{name}": value for name, value in rules.signals} if rules else {}


def cut_to_bytes(text: str, most: int) -> str:
    """The longest beginning of `text` that takes at most `most` bytes of UTF-8."""
    raw = text.encode("utf-8", "replace")
    return text if len(raw) <= most else raw[:most].decode("utf-8", "ignore")


def _within(items: list[Item]) -> list[Item]:
    """The first items that fit together; later ones on a page are the less likely to be missed."""
    kept, room = [], MOST_EXTRAS
    for item in items:
        room -= len(repr(item))
        if room < 0:
            break
        kept.append(item)
    return kept
