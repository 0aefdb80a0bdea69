"""Whether two pages are one: the comparison of the fingerprints that `crawler.reading.dupes` makes.

A fingerprint is text: 8 hexadecimal digits of the page's heading, then 64 bins of one-permutation MinHash,
two digits each. The share of equal bins estimates the share of common three-word shingles (standard deviation
about .04 at .9). The comparison stands with the rules because the pages that a crawl kept are its memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import eq

HEADING = 8
BINS = 64
SAME_TEXT = 0.95
"""At this resemblance two texts are one, whatever their headings say."""
SAME_PAGE = 0.82
"""With one heading this is enough: a print view, a session id, a page with a changed sidebar."""


def resemblance(first: str, second: str) -> float:
    """The estimated share of shingles that two pages have in common; bins that are empty in both do not count."""
    try:
        ours, theirs = bytes.fromhex(first[HEADING:]), bytes.fromhex(second[HEADING:])
    except ValueError:
        return float(first == second)
    if len(ours) != BINS or len(theirs) != BINS:
        return float(first == second)
    empty = sum(one == other == 0 for one, other in zip(ours, theirs, strict=True))
    return (sum(map(eq, ours, theirs)) - empty) / (BINS - empty) if empty < BINS else 1.0


def is_near_duplicate(first: str, second: str) -> bool:
    """Whether two fingerprints are of one page: the same text, or the same heading and nearly the same text (E18).

    Two products of one template differ in their heading, so they need a near-equal text to count as one.
    """
    alike = resemblance(first, second)
    return alike >= (SAME_PAGE if first[:HEADING] == second[:HEADING] else SAME_TEXT)


def is_known(fingerprint: str, kept: Iterable[str]) -> bool:
    """Whether a page is a near duplicate of one that was kept."""
    return any(is_near_duplicate(fingerprint, other) for other in kept)
