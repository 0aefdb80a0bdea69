"""What an answer to the request for robots.txt means for the whole domain (E14, W03, C07).

Two tables, chosen by the profile. `strict` (E14): 404 and 410 allow, a readable file speaks for itself,
whatever else denies everything. `rfc9309` (2.3.1.3, 2.3.1.4): 4xx allow, 5xx and no answer deny. For both a
429, a 503, a challenge and a redirect that leads nowhere deny: "MAY" in 2.3.1.2 is not "must".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import orjson

from crawler.rules import challenge
from crawler.rules.robots import Decision, Rules, parse
from crawler.rules.urls import UrlRefused, canonical, host_of, path_of, same_site, site_key
from models.profile import Profile
from models.web import Outcome, Response

_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Ground(StrEnum):
    """Why a domain is read, or is not; told to the customer in these words' translation."""

    READABLE = "readable"  # the file's own rules hold
    ABSENT = "absent"  # allowed: there is no such file
    STATUS = "status"  # denied: a status that is neither a file nor its absence
    RATE_LIMITED = "rate_limited"
    HTML = "html"  # E14: a 200 that is an HTML page is not a readable file
    NOT_TEXT = "not_text"
    BLOCKED = "blocked"  # a challenge or a login in its place
    OFFSITE = "offsite"  # E14: the redirect leaves the site
    HOPS = "hops"  # a loop, or too many
    BAD_REDIRECT = "bad_redirect"  # no Location, another scheme or port, a query where none is fetched
    UNREACHABLE = "unreachable"  # timeout, refused connection, TLS, DNS


@dataclass(frozen=True, slots=True)
class Verdict:
    """What holds for a domain in this crawl; `rules` only where a file was read."""

    ground: Ground
    rules: Rules | None = None
    status: int | None = None
    detail: str = ""

    @property
    def denies_all(self) -> bool:
        """The whole domain is disallowed, nothing is fetched (E14)."""
        return self.ground not in (Ground.READABLE, Ground.ABSENT)

    @property
    def crawl_delay(self) -> float | None:
        """Seconds that the file asks for, whatever they are; the profile caps them (E15, W05, C08)."""
        return self.rules.crawl_delay if self.rules else None

    @property
    def sitemaps(self) -> tuple[str, ...]:
        """Canonical sitemap URLs of the file; scope is the caller's to check."""
        return self.rules.sitemaps if self.rules and not self.denies_all else ()

    def allows(self, url: str) -> bool:
        """Whether a canonical URL of the domain may be asked for."""
        return not self.denies_all and (self.rules is None or self.rules.allows(url))

    def decide(self, url: str) -> Decision:
        """The same with its ground, for the audit."""
        if self.denies_all:
            return Decision(allowed=False, group="none", rule=f"robots.txt: {self.ground}")
        if self.rules is None:
            return Decision(allowed=True, group="none", rule="robots.txt: absent")
        return self.rules.decide(url)

    def to_bytes(self) -> bytes:
        """For the site's memory (E15: the verdict outlives a crash)."""
        head = orjson.dumps([self.ground, self.status, self.detail])
        return head + b"\n" + (self.rules.to_bytes() if self.rules else b"")

    @classmethod
    def from_bytes(cls, stored: bytes) -> Verdict:
        """The inverse of `to_bytes`."""
        head, _, rules = stored.partition(b"\n")
        ground, status, detail = orjson.loads(head)
        return cls(Ground(ground), Rules.from_bytes(rules) if rules else None, status, detail)


def judge(response: Response, at: str, first: str, hops: int, profile: Profile) -> Verdict | str:
    """The verdict on an answer, or the URL of the next hop.

    `first` is the robots.txt that was asked for at the start, `at` the one that answered, `hops` how many
    redirects were followed to get there. The rules hold for the authority of `first` (RFC 9309 2.3.1.2).
    """
    blocked = challenge.detect(response)
    if blocked and blocked.kind == "challenge":
        return Verdict(Ground.BLOCKED, status=response.status, detail=blocked.by)
    if response.status in _REDIRECTS and response.outcome in _ANSWERED:
        return _next_hop(response, at, first, hops, profile)
    if response.outcome in (Outcome.OK, Outcome.TOO_LARGE) and response.status not in (404, 410):
        return _read_file(response, profile)
    return _by_status(response, profile)


_ANSWERED = (Outcome.REDIRECTED, Outcome.REDIRECTED_OFFSITE, Outcome.REDIRECT_LIMIT, Outcome.BLOCKED_LOGIN)


def _by_status(response: Response, profile: Profile) -> Verdict:
    status = response.status
    if response.outcome is Outcome.RATE_LIMITED or status in (429, 503):
        return Verdict(Ground.RATE_LIMITED, status=status)
    if status is None or response.outcome in _NO_ANSWER:
        return Verdict(Ground.UNREACHABLE, status=status, detail=response.outcome)
    absent = status in (404, 410) if profile.robots.policy == "strict" else 400 <= status < 500
    return Verdict(Ground.ABSENT if absent else Ground.STATUS, status=status)


_NO_ANSWER = (
    Outcome.TIMEOUT,
    Outcome.DNS,
    Outcome.TLS,
    Outcome.CONNECT,
    Outcome.PROTOCOL,
    Outcome.REFUSED_ADDRESS,
    Outcome.INTERRUPTED,
)


def _read_file(response: Response, profile: Profile) -> Verdict:
    strict = profile.robots.policy == "strict"
    status, body = response.status, response.body
    if status is None or (status != 200 if strict else not 200 <= status < 300):
        return Verdict(Ground.STATUS, status=status)
    rules = parse(body, profile.identity.token)
    media = (response.header("content-type") or "").partition(";")[0].strip().lower()
    if profile.robots.html_is_unreadable and _is_html(body, media, rules):
        return Verdict(Ground.HTML, status=status, detail=media)
    if strict and not _is_text(body, media, rules):
        return Verdict(Ground.NOT_TEXT, status=status, detail=media)
    return Verdict(Ground.READABLE, rules, status)


def _is_text(body: bytes, media: str, rules: Rules) -> bool:
    """E14, "a readable file": called text or untyped; and an image that is called text is none."""
    named = media.startswith("text/") or media in ("", "application/octet-stream", "application/xhtml+xml")
    return named and (rules.known_lines > 0 or b"\x00" not in body)


def _is_html(body: bytes, media: str, rules: Rules) -> bool:
    """An HTML page, whatever its type says; a plain file that is only called text/html is a file."""
    if body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") or _MARKUP.search(body[:4096]):
        return True
    return media in ("text/html", "application/xhtml+xml") and rules.known_lines == 0 and bool(body.strip())


def _next_hop(response: Response, at: str, first: str, hops: int, profile: Profile) -> Verdict | str:
    """E14, RFC 9309 2.3.1.2: at most so many hops, each https; off the site only where the profile says."""
    status = response.status
    try:
        target = canonical(response.header("location") or "", at)
    except UrlRefused as refused:
        return Verdict(Ground.BAD_REDIRECT, status=status, detail=refused.reason)
    if not response.header("location"):
        return Verdict(Ground.BAD_REDIRECT, status=status, detail="no Location")
    if not profile.robots.offsite_hops and not same_site(target, site_key(host_of(first))):
        return Verdict(Ground.OFFSITE, status=status, detail=host_of(target))
    if profile.scope.query == "drop" and "?" in path_of(target):
        return Verdict(Ground.BAD_REDIRECT, status=status, detail="query")  # E20
    if target == at or hops >= profile.robots.max_hops:
        return Verdict(Ground.HOPS, status=status)
    return target


def lifetime(verdict: Verdict, response: Response, profile: Profile) -> float:
    """Seconds that a verdict may be kept across jobs (W03; RFC 9309 2.4). 0: for its own job only (E15).

    A failed reading is kept for the floor only: the site denies meanwhile, and is asked again soon.
    """
    robots = profile.robots
    if robots.lifetime == 0:
        return 0.0
    if verdict.denies_all:
        return robots.lifetime_floor
    ages = [_max_age(value) for value in response.all("cache-control")]
    age = min((age for age in ages if age is not None), default=robots.lifetime)
    return max(min(age, robots.lifetime), robots.lifetime_floor)


def _max_age(cache_control: str) -> float | None:
    if re.search(r"\bno-(?:store|cache)\b", cache_control, re.IGNORECASE):
        return 0.0
    match = re.search(r"\bmax-age\s*=\s*\"?([0-9]{1,9})", cache_control, re.IGNORECASE)
    return float(match[1]) if match else None
