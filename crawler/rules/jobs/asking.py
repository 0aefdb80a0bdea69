"""The request for each kind of ask: its headers, limits and timeout, all from the profile.

These headers, `Host` and the conditions of W09 are all that is sent: no cookies, no referer, no browser-like header
(E01, E03).
"""

from __future__ import annotations

from crawler.rules import validators
from crawler.rules.identity import user_agent
from models.profile import Phase, Profile
from models.state import Ask, Job, Validator
from models.web import Kind, Request

ACCEPT = {
    Kind.PAGE: "text/html, application/xhtml+xml",
    Kind.HOMEPAGE_PROOF: "text/html, application/xhtml+xml",
    Kind.SITEMAP: "application/xml, text/xml",
    Kind.ROBOTS: "text/plain",
    Kind.TOKEN_FILE: "text/plain",
    Kind.LLMS_TXT: "text/plain, text/markdown",
    Kind.ADDRESS_CHECK: "*/*",
}
ENCODINGS = "gzip, deflate"
"""Never br or zstd: their decoders have open holes (faults 0.11)."""
PROOFS = frozenset({Kind.TOKEN_FILE, Kind.HOMEPAGE_PROOF})


def phase_of(job: Job) -> Phase:
    """What a job's requests serve: their pace and timeout follow from it (E16, E17)."""
    return Phase.LISTING if job.kind == "listing" else Phase.CRAWL


def request_for(
    ask: Ask, note: str | None, profile: Profile, phase: Phase = Phase.CRAWL, known: Validator | None = None
) -> Request:
    """The request that `ask` means, under this bot's name and the customer's note; conditional by `known` (W09)."""
    kind = Kind(ask.kind)
    headers = (
        ("User-Agent", user_agent(profile, note)),
        ("Accept", ACCEPT[kind]),
        ("Accept-Encoding", ENCODINGS),
        *validators.headers(known),
    )
    return Request(
        kind=kind,
        url=ask.url,
        method="HEAD" if kind is Kind.ADDRESS_CHECK else "GET",  # E03, E07
        headers=headers,
        timeout=profile.timeout(kind, phase),
        max_bytes=profile.max_bytes(kind),
        truncate=kind in PROOFS or kind is Kind.ROBOTS,
        media_types=profile.media_types(kind),
    )
