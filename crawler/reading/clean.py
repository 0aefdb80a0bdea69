"""Text that PostgreSQL, JSON and a reader can take, whatever a page held (E28).

PostgreSQL refuses NUL in text and JSON refuses lone surrogates, so one such character would stop a batch of
the sink; both are gone before a page becomes an event.
"""

from __future__ import annotations

import re
import unicodedata

MAX_TEXT = 1_000_000
"""Characters of one page's text at most: half of the 2 MB that a body may have (E20)."""

# C0 but tab and newline, DEL, C1, surrogates, the non-characters at the end of each plane, the marks that
# turn the direction of everything after them, soft hyphen, zero-width space, word joiner and BOM.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u202a-\u202e\u2060-\u2069\ufdd0-\ufdef\ufeff\ufffe\uffff\ud800-\udfff"
    + "".join(f"{chr(plane * 0x10000 + 0xFFFE)}{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(1, 17))
    + "]"
)


def clean_text(text: str, limit: int = MAX_TEXT) -> str:
    """The text in NFC, without NUL, controls and lone surrogates, cut to `limit` characters (E28).

    CR LF and CR become LF. The cut comes before normalisation, which is linear but slow, and once more
    after it, because NFC can lengthen a text (U+FB2C becomes three characters).
    """
    text = text[: limit + 1]
    if text.isascii() and text.isprintable():  # a label, a link, most lines of English
        return text[:limit]
    if not text.replace("\n", "").isprintable():  # ten times as fast as the search, and mostly the answer
        text = _UNSAFE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.isascii() and not unicodedata.is_normalized("NFC", text):
        text = unicodedata.normalize("NFC", text)
    return text[:limit]


def clean_line(text: str, limit: int = 2_000) -> str:
    """One line of clean text: every run of white space is one space (E28)."""
    return " ".join(clean_text(text, limit * 2).split())[:limit].rstrip()
