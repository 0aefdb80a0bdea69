"""Which page is asked for next: what an email assistant needs first, traps last (E18, W07, W10, C02).

The order depends on nothing but the candidates: same inputs, same crawl, on any worker and after any crash.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote

from crawler.rules.urls import path_of
from crawler.rules.vocabulary import FILLERS, Topic, topic_of, topic_of_phrase
from models.profile import Discovery

_WORD = re.compile(r"[a-z0-9]+")
_DATE = re.compile(r"/(?:19|20)\d\d(?:[/-](?:0?[1-9]|1[0-2]))(?:[/-](?:0?[1-9]|[12]\d|3[01]))?(?:/|$|\D)")
_CALENDAR = re.compile(r"/(?:calendar|kalender|calendario|calendrier|agenda|schedule)(?:/|$)", re.IGNORECASE)
_SESSION = re.compile(
    r"[;/](?:jsessionid|phpsessid|sid|session)=|/(?=[0-9a-f]*\d)[0-9a-f]{24,}(?:/|$)", re.IGNORECASE
)
_NOT_A_PAGE = re.compile(
    r"\.(?:7z|avi|bmp|css|csv|docx?|dmg|eot|epub|exe|gif|gz|ico|ics|jpe?g|js|json|mov|mp[34]|mpe?g|odt|og[agv]|pdf|png|"
    r"pptx?|rar|rss|svg|tar|tiff?|ttf|txt|vcf|wav|web[mp]|woff2?|xlsx?|xml|zip)$",
    re.IGNORECASE,
)
MAX_DEPTH = 16  # hops of links from the start; profiles tighten it
_MAX_SEGMENTS = 12
_MAX_PATH = 512


class Trap(StrEnum):
    """Why a URL is asked for last: it looks like one of endlessly many."""

    DEEP = "deep"
    LONG = "long"
    REPEATED = "repeated"  # /a/b/a/b/a/b
    CALENDAR = "calendar"
    SESSION = "session"  # an id of a visit in the path


class Links(StrEnum):
    """Which links of a page are taken up (W07)."""

    ALL = "all"
    UNLISTED_ONCE = "unlisted_once"  # from the sitemap's pages only, not from the pages found so
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A canonical URL that may be asked for. `wave` 1: linked from a sitemap's page, not listed (W07)."""

    url: str
    depth: int = 0
    anchor: str = ""
    priority: float = 0.5  # of the sitemap; 0.5 is what its absence means
    wave: int = 0


def rank(candidate: Candidate, max_depth: int = MAX_DEPTH) -> float:
    """The sort key, small first, as one number that can be stored; who is found first wins a tie.

    In this order: the sitemap's own pages before those linked from them (W07), traps last, what the page is
    about, how many links away it is, the sitemap's priority, how deep its path is.
    """
    path = path_of(candidate.url)
    topic = -1 if path == "/" else min(_page_topic(path), _anchor_topic(candidate.anchor))
    trap = trap_of(candidate.url, candidate.depth, max_depth) is not None
    steps = (
        (candidate.wave, 2),
        (int(trap), 2),
        (topic + 1, 100),
        (min(candidate.depth, 99), 100),
        (10 - round(max(0.0, min(candidate.priority, 1.0)) * 10), 11),
        (min(path.count("/"), 49), 50),
        (min(len(path) // 8, 99), 100),
    )
    number = 0
    for value, size in steps:
        number = number * size + value
    return float(number)  # below 2**53: exact


def rank_of_link(url: str, text: str, depth: int, max_depth: int = MAX_DEPTH, wave: int = 0) -> float:
    """The rank of a page that a link leads to; `text` is what the link says."""
    return rank(Candidate(url, depth, text, wave=wave), max_depth)


def rank_of_sitemap(url: str, priority: float | None, depth: int = 1) -> float:
    """The rank of a page that a sitemap names."""
    return rank(Candidate(url, depth, priority=0.5 if priority is None else priority))


def ordered(candidates: list[Candidate], max_depth: int = MAX_DEPTH) -> list[Candidate]:
    """All candidates in the order in which they are asked for; the URL itself breaks a tie here."""
    return sorted(candidates, key=lambda candidate: (rank(candidate, max_depth), candidate.url))


def trap_of(url: str, depth: int, max_depth: int = MAX_DEPTH) -> Trap | None:
    """The trap that a canonical URL looks like (F72), or None."""
    path = path_of(url).partition("?")[0]
    segments = [segment for segment in path.split("/") if segment]
    if depth > max_depth or len(segments) > _MAX_SEGMENTS:
        return Trap.DEEP
    if len(path) > _MAX_PATH:
        return Trap.LONG
    if _repeats(segments):
        return Trap.REPEATED
    if _SESSION.search(path):
        return Trap.SESSION
    if _CALENDAR.search(path) and _DATE.search(path):
        return Trap.CALENDAR
    return None


def _repeats(segments: list[str]) -> bool:
    if any(segments.count(segment) >= 3 for segment in set(segments)):
        return True
    return any(segments[i : i + 2] == segments[i + 2 : i + 4] for i in range(len(segments) - 3))


def is_page(url: str) -> bool:
    """False for what by its name is no page (E04, W02): a request would be spent on a refusal."""
    return _NOT_A_PAGE.search(path_of(url).partition("?")[0]) is None


def answers_questions(url: str, text: str) -> bool:
    """Whether a page is one of questions and answers, by its address or by what its link says (E18, E28)."""
    below = Topic.FAQ + len(Topic)  # a page beneath one of questions
    return _page_topic(path_of(url)) in (Topic.FAQ, below) or _anchor_topic(text) == Topic.FAQ


def links_taken(discovery: Discovery, *, sitemap_found: bool, check: bool = True, follow: bool = False) -> Links:
    """W07: with a sitemap one check of what is missing from it, which a run can switch off or widen."""
    if discovery.links == "always" or not sitemap_found or follow:
        return Links.ALL
    return Links.UNLISTED_ONCE if check else Links.NONE


def takes_links(links: Links, wave: int) -> bool:
    """Whether links on a page of this wave are taken up."""
    return links is Links.ALL or (links is Links.UNLISTED_ONCE and wave == 0)


@lru_cache(maxsize=8192)
def _page_topic(path: str) -> int:
    """The best topic of the segments; a page below a topic's page is a little later than the page itself."""
    plain = path.partition("?")[0]
    found = [_topic_of_words(_words(unquote(segment))) for segment in plain.split("/") if segment]
    last = found[-1] if found else Topic.OTHER
    if any(topic >= Topic.NEWS for topic in found) or _DATE.search(plain):
        return max(Topic.NEWS, *found)
    return min([last, *(topic + len(Topic) for topic in found[:-1] if topic < Topic.OTHER)])


def _anchor_topic(anchor: str) -> int:
    topic = _topic_of_words(_words(anchor[:200]))
    # A link's text can lift a page, but not sink it: "read our blog" stands beside many a link.
    return topic if topic < Topic.OTHER else Topic.ACCOUNT


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", text.replace("ß", "ss")).casefold()
    return _WORD.findall("".join(c for c in folded if not unicodedata.combining(c)))[:16]


def _topic_of_words(words: list[str]) -> int:
    """The topic that most of the words speak of: "contact us" is one, "contact lenses" is none."""
    topic, covered = int(Topic.OTHER), 0
    position = 0
    while position < len(words):
        size, found = _longest(words, position)
        if found is not None:
            topic = min(topic, found) if topic != Topic.OTHER else found
            covered += size
        elif words[position] in FILLERS:
            covered += 1
        position += size
    return topic if 2 * covered > len(words) else int(Topic.OTHER)


def _longest(words: list[str], start: int) -> tuple[int, Topic | None]:
    for size in (4, 3, 2):
        if start + size <= len(words):
            found = topic_of_phrase("".join(words[start : start + size]))
            if found is not None:
                return size, found
    return 1, topic_of(words[start])
