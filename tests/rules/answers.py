"""Answers of a site, as values."""

from __future__ import annotations

from models.web import Outcome, Response


def answer(
    status: int | None = 200,
    body: bytes = b"",
    headers: tuple[tuple[str, str], ...] = (),
    outcome: Outcome | None = None,
    elapsed: float = 0.2,
    at: float = 1_000_000_000.0,
) -> Response:
    """A response whose outcome follows from its status, as the fetcher gives it."""
    if outcome is None:
        outcome = _outcome(status)
    return Response(outcome, at - elapsed, at, elapsed, status, headers, body)


def _outcome(status: int | None) -> Outcome:
    if status is None:
        return Outcome.TIMEOUT
    if status in (429, 503):
        return Outcome.RATE_LIMITED
    if status in (301, 302, 303, 307, 308):
        return Outcome.REDIRECTED
    by_class = {2: Outcome.OK, 4: Outcome.HTTP_4XX, 5: Outcome.HTTP_5XX}
    return by_class.get(status // 100, Outcome.HTTP_OTHER)
