"""What class names and ids say, in the words that site builders use for them.

A name is cut into words (`siteHeader`, `site-header` and `site_header` are two words each); a word, or two
neighbours written as one, is looked up. No pattern is searched: a page has hundreds of names.
"""

from __future__ import annotations

import re
from functools import lru_cache

from crawler.reading.boxes import Mark
from crawler.reading.words import WORDS

_MARKS: dict[str, int] = {}
for _mark, _list in WORDS["names"].items():
    for _word in _list.split():
        _MARKS[_word] = _MARKS.get(_word, 0) | int(Mark[_mark.upper()])

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+")
_LONG = 300  # characters of class names looked at: utility classes go on for kilobytes and say nothing


@lru_cache(maxsize=16384)
def marks_of(name: str) -> int:
    """The marks that class and id together give."""
    found = 0
    last = ""
    for token in name[:_LONG].split():
        known, first, end = _token(token)
        found |= known
        if first:
            found |= _MARKS.get(last + first, 0)
            last = end
    return found


@lru_cache(maxsize=16384)
def _token(token: str) -> tuple[int, str, str]:
    """The marks of one class, its first word and its last: sites share classes, and pages repeat them."""
    if not token.islower():
        token = _CAMEL.sub("-", token).lower()
    found = 0
    last = ""
    words = _WORD.findall(token)
    for word in words:
        found |= _MARKS.get(word, 0) | _MARKS.get(last + word, 0)
        last = word
    return (found, words[0], last) if words else (0, "", "")
