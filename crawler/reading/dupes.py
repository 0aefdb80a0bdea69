"""The fingerprint of a page, by which near duplicates are known (`crawler.rules.duplicates`).

It is short enough to live in a site's memory: 8 digits of the page's heading, then 64 bins of
one-permutation MinHash over three-word shingles, one byte each. The share of equal bins estimates the share
of common shingles (standard deviation about .04 at .9).
"""

from __future__ import annotations

import re
from zlib import crc32

from crawler.rules.duplicates import BINS, EMPTY
from models.reading import Reading

_WORD = re.compile(r"\w+")
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
    return f"{top:08x}" + "".join(f"{value % 255 + 1:02x}" if value else EMPTY for value in bins)


def fingerprint_of(reading: Reading) -> str:
    """The fingerprint of a page that was read."""
    return fingerprint(heading_of(reading), reading.markdown)


def heading_of(reading: Reading) -> str:
    """The first top heading of the text, else the title."""
    first = next((line[2:] for line in reading.markdown.split("\n") if line.startswith("# ")), "")
    return first or reading.title
