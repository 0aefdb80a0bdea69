"""When the next request may leave, and what a refusal costs (E16, E19, W05, W06, C08, C10, C11).

Every wait is counted from the end of a request to the start of the next: it then holds at the origin
whatever the network does in between. All functions are pure; the wall clock is an argument.
"""

from __future__ import annotations

import re
from calendar import month_abbr
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawler.rules import challenge
from models.profile import PaceRule, Phase, Profile, Refusal
from models.web import Kind, Outcome, Response

DAY = 86_400.0
_SECONDS = re.compile(r"[0-9]+")
# The three forms of RFC 9110 5.6.7 all begin with the day's name; the library would read much else.
_HTTP_DATE = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d", re.ASCII)
# The preferred form, which nearly every server sends: the library takes 20 us for it.
_IMF_FIXDATE = re.compile(r"[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT", re.ASCII)
_MONTHS = {name: number for number, name in enumerate(month_abbr)}
_MAX_SLOW = 5


@dataclass(frozen=True, slots=True)
class PaceState:
    """What the pace remembers: of a site where the profile's scope is the site, else of a job.

    `strikes` are refusals in a row, `slow` how often the gap was doubled (C10), `pause_until` wall-clock
    seconds. They survive a restart with the site's memory (A03).
    """

    strikes: int = 0
    slow: int = 0
    pause_until: float | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The request that was answered: its kind, its phase, and how often this URL was asked for before it."""

    kind: Kind = Kind.PAGE
    phase: Phase = Phase.CRAWL
    attempt: int = 0
    own_site: bool = False  # W05: one of the operator's own


@dataclass(frozen=True, slots=True)
class PaceDecision:
    """What to do next. `wait_seconds` from the end of the request; with `retry`, the same URL again."""

    wait_seconds: float
    retry: bool
    pause_until: float | None
    strikes: int
    slow: int

    @property
    def state(self) -> PaceState:
        """The state to keep."""
        return PaceState(self.strikes, self.slow, self.pause_until)


def gap(profile: Profile, asked: Asked, elapsed: float, robots_delay: float | None, slow: int = 0) -> float:
    """Seconds from the end of a request to the start of the next: the largest of three, doubled if slowed."""
    rule = _rule(profile, asked)
    seconds = max(rule.delay, rule.response_factor * max(elapsed, 0.0), _crawl_delay(rule, robots_delay))
    if slow:
        seconds = max(seconds, min(seconds * 2**slow, profile.refusal.wait_cap))
    return seconds


def _rule(profile: Profile, asked: Asked) -> PaceRule:
    if asked.own_site and profile.pace.own_sites is not None:
        return profile.pace.own_sites
    return profile.pace.listing if asked.phase is Phase.LISTING else profile.pace.crawl


def _crawl_delay(rule: PaceRule, robots_delay: float | None) -> float:
    if robots_delay is None or not robots_delay > 0:
        return 0.0
    return robots_delay if rule.crawl_delay_cap is None else min(robots_delay, rule.crawl_delay_cap)


def after(
    state: PaceState,
    response: Response,
    asked: Asked,
    profile: Profile,
    robots_delay: float | None,
    now_wall: float,
) -> PaceDecision:
    """The decision after an answer; `now_wall` is the end of the request."""
    if not is_refusal(response):
        # The site answered as usual, so refusals are no longer in a row; a timeout or a 5xx says nothing.
        usual = response.status is not None and response.status < 500
        strikes = 0 if usual else state.strikes
        wait = gap(profile, asked, response.elapsed, robots_delay, state.slow)
        return PaceDecision(wait, retry=False, pause_until=state.pause_until, strikes=strikes, slow=state.slow)
    refusal, strikes = profile.refusal, state.strikes + 1
    slow = state.slow
    if refusal.slow_after is not None and strikes >= refusal.slow_after:
        slow = min(slow + 1, _MAX_SLOW)
    base = gap(profile, asked, response.elapsed, robots_delay, slow)
    told = retry_after(response, now_wall)
    wait = max(base, _backoff(refusal, base, asked.attempt, strikes), told or 0.0)
    may_retry = asked.kind is Kind.PAGE and asked.attempt < refusal.retries
    if refusal.long_retry_after == "fail":
        # E19: a Retry-After, or a pace, above the cap cannot be honoured within it: no retry.
        retry = may_retry and wait <= refusal.wait_cap
        return PaceDecision(wait if retry else base, retry, state.pause_until, strikes, slow)
    until = _pause(state, refusal, wait, strikes, now_wall)
    return PaceDecision(wait, may_retry, until, strikes, slow)


def _backoff(refusal: Refusal, base: float, attempt: int, strikes: int) -> float:
    """E19: doubling from the base delay, capped; W06, C10: a pause, doubling too, once refusals repeat."""
    if refusal.pause_after is not None and strikes >= refusal.pause_after:
        return min(refusal.pause_first * 2.0 ** min(strikes - refusal.pause_after, 60), refusal.pause_cap)
    return min(base * 2.0 ** min(attempt, 60), refusal.wait_cap)


def _pause(state: PaceState, refusal: Refusal, wait: float, strikes: int, now_wall: float) -> float | None:
    """A pause only grows. One for the site is kept for every wait, for another run may begin meanwhile."""
    repeated = refusal.pause_after is not None and strikes >= refusal.pause_after
    if not (refusal.pause_scope == "site" or repeated or wait > refusal.wait_cap):
        return state.pause_until
    until = now_wall + min(wait, max(refusal.pause_cap, refusal.wait_cap))
    return until if state.pause_until is None else max(state.pause_until, until)


def is_refusal(response: Response) -> bool:
    """A 429 or 503 that is a rate limit. One that is a challenge is not: it is never retried (E26)."""
    if response.outcome is not Outcome.RATE_LIMITED and response.status not in (429, 503):
        return False
    blocked = response.outcome in (Outcome.BLOCKED_CHALLENGE, Outcome.BLOCKED_LOGIN)
    return not blocked and challenge.detect(response) is None


def retry_after(response: Response, now_wall: float) -> float | None:
    """RFC 9110 10.2.3: seconds, or a date in any of its three forms; at most a day; nonsense is None.

    A date is compared with the answer's own `Date`, which cancels the skew between the two clocks.
    """
    told = [_one_retry_after(value.strip(), response, now_wall) for value in response.all("retry-after")]
    return max((seconds for seconds in told if seconds is not None), default=None)


def _one_retry_after(value: str, response: Response, now_wall: float) -> float | None:
    if _SECONDS.fullmatch(value):
        digits = value.lstrip("0")
        return DAY if len(digits) > 6 else min(float(digits or 0), DAY)
    then = http_date(value)
    if then is None:
        return None
    sent = http_date(response.header("date") or "")
    return min(max(then - (now_wall if sent is None else sent), 0.0), DAY)


def http_date(value: str) -> float | None:
    """Seconds since the epoch of an HTTP-date (RFC 9110 5.6.7), or None."""
    value = value.strip()
    if len(value) > 64 or not _HTTP_DATE.match(value):
        return None
    try:
        preferred = _IMF_FIXDATE.fullmatch(value)
        if preferred:
            day, month, year, hour, minute, second = preferred.groups()
            numbers = (int(year), _MONTHS[month], int(day), int(hour), int(minute), int(second))
            return datetime(*numbers, tzinfo=UTC).timestamp()
        parsed = parsedate_to_datetime(value)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return None
