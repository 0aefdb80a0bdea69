"""When a stop request from outside is due (E25: one business day; W13: 24 hours)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, date, datetime, time, timedelta

from models.profile import Profile

DAY = timedelta(days=1)


def due(received: datetime, profile: Profile, holidays: Collection[date]) -> datetime:
    """The last moment at which the site may still be read. Days are UTC days.

    One business day: the same time on the next business day. What comes on a weekend or a holiday counts from the
    beginning of the next business day.
    """
    at = received.astimezone(UTC)
    if profile.gate.stop_due == "hours_24":
        return at + DAY
    if not is_business_day(at.date(), holidays):
        while not is_business_day(at.date(), holidays):
            at += DAY
        at = datetime.combine(at.date(), time(), UTC)
    after = at + DAY
    while not is_business_day(after.date(), holidays):
        after += DAY
    return after


def is_business_day(day: date, holidays: Collection[date]) -> bool:
    """Monday to Friday, but for the configured holidays."""
    return day.weekday() < 5 and day not in holidays
