"""Near duplicates inside a site: the 60 pages of a crawl are 60 different pages (E18).

A fingerprint is short enough to live in a site's memory: 8 digits of the page's heading, then 64 bins of
one-permutation MinHash over three-word shingles, one byte each. The share of equal bins estimates the share
of common shingles (standard deviation about .04 at .9).
"""

from __future__ import annotations

import re
from zlib import crc32

from models.reading import Reading

BINS = 64
SAME_TEXT = 0.95
"""At this resemblance two texts are one, whatever their headings say."""
SAME_PAGE = 0.82
"""With one heading this is enough: a print view, a session id, a page with a changed sidebar."""
_WORD = re.compile(r"\w+")
_EMPTY = "00"
_FEWEST = 8


def fingerprint(heading: str, text: str) -> str:
    """A page's fingerprint from its heading (h1 or title) and its text; equal input, equal output, for ever."""
    words = _WORD.findall(text.casefold())
    bins = [0] * BINS
    for index in range(max(1, len(words) - 2)):
        value = crc32(" ".join(words[index : index + 3]).encode())
        place, value = value % BINS, value // BINS
        if not bins[place] or value < bins[place]:
            bins[place] = value
    top = crc32(" ".join(_WORD.findall(heading.casefold())).encode())
    return f"{top:08x}" + "".join(f"{value % 255 + 1:02x}" if value else _EMPTY for value in bins)


def fingerprint_of(reading: Reading) -> str:
    """The fingerprint of a page that was read."""
    return fingerprint(heading_of(reading), reading.markdown)


def heading_of(reading: Reading) -> str:
    """The first top heading of the text, else the title."""
    first = next((line[2:] for line in reading.markdown.split("\n") if line.startswith("# ")), "")
    return first or reading.title


def resemblance(first: str, second: str) -> float:
    """The estimated share of shingles that two pages have in common."""
    ours, theirs = first[8:], second[8:]
    pairs = [(ours[i : i + 2], theirs[i : i + 2]) for i in range(0, 2 * BINS, 2)]
    used = [pair for pair in pairs if pair != (_EMPTY, _EMPTY)]
    return sum(one == other for one, other in used) / len(used) if used else 1.0


def is_near_duplicate(first: str, second: str) -> bool:
    """Whether two fingerprints are of one page: the same text, or the same heading and nearly the same text.

    Two products of one template differ in their heading, so they need a near-equal text to count as one.
    """
    alike = resemblance(first, second)
    return alike >= (SAME_PAGE if first[:8] == second[:8] else SAME_TEXT)
