"""Near duplicates inside a site: the 60 pages of a crawl are 60 different pages (E18).

A fingerprint is short enough to live in a site's memory; `crawler.rules.likeness` says how two are compared.
"""

from __future__ import annotations

import re
from zlib import crc32

from crawler.rules.likeness import BINS, is_near_duplicate, resemblance
from models.reading import Reading

__all__ = ["fingerprint", "fingerprint_of", "heading_of", "is_near_duplicate", "resemblance"]

_WORD = re.compile(r"\w+")
_EMPTY = "00"


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
