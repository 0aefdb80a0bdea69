"""Near duplicates inside a site: the 60 pages of a crawl are 60 different pages (E18).

Fingerprints are made in the child process (`crawler.reading.dupes`) and compared here, by the job that keeps them.
"""

from __future__ import annotations

BINS = 64
"""Bins of a fingerprint, two hex digits each, behind eight digits of the page's heading."""
EMPTY = "00"
SAME_TEXT = 0.95
"""At this resemblance two texts are one, whatever their headings say."""
SAME_PAGE = 0.82
"""With one heading this is enough: a print view, a session id, a page with a changed sidebar."""


def resemblance(first: str, second: str) -> float:
    """The estimated share of shingles that two pages have in common."""
    ours, theirs = first[8:], second[8:]
    pairs = [(ours[i : i + 2], theirs[i : i + 2]) for i in range(0, 2 * BINS, 2)]
    used = [pair for pair in pairs if pair != (EMPTY, EMPTY)]
    return sum(one == other for one, other in used) / len(used) if used else 1.0


def is_near_duplicate(first: str, second: str) -> bool:
    """Whether two fingerprints are of one page: the same text, or the same heading and nearly the same text.

    Two products of one template differ in their heading, so they need a near-equal text to count as one.
    """
    alike = resemblance(first, second)
    return alike >= (SAME_PAGE if first[:8] == second[:8] else SAME_TEXT)
