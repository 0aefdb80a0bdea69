"""What class names and ids say, in the words that site builders use for them.

A name is cut into words (`siteHeader`, `site-header` and `site_header` are two words each); a word, or two
neighbours written as one, is looked up. No pattern is searched: a page has hundreds of names.
"""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_lowercase

from crawler.reading.boxes import Mark
from crawler.reading.words import WORDS

_MARKS: dict[bytes, int] = {}
for _mark, _list in WORDS["names"].items():
    for _word in _list.encode().split():
        _MARKS[_word] = _MARKS.get(_word, 0) | int(Mark[_mark.upper()])

_FIRST = {word[:size] for word in _MARKS for size in range(1, len(word))}
"""What a word may begin with: only behind one of these is it worth writing two neighbours as one."""
_NOTHING = (_MARKS.keys() | _FIRST).isdisjoint
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LETTERS = bytes(byte if chr(byte) in ascii_lowercase else 0x20 for byte in range(256))
"""What is no letter parts words. A translation takes a quarter of the time of a search for `[a-z]+` [measured]."""
_LONG = 300  # characters of class names looked at: utility classes go on for kilobytes and say nothing


@lru_cache(maxsize=16384)
def marks_of(name: str) -> int:
    """The marks that class and id together give; pages repeat them, so two names in three are remembered."""
    name = name[:_LONG]
    if not name.islower():
        name = _CAMEL.sub("-", name).lower()
    words = name.encode("ascii", "replace").translate(_LETTERS).split()
    if _NOTHING(words):
        return 0
    found = 0
    last = b""
    for word in words:
        found |= _MARKS.get(word, 0)
        if last in _FIRST:
            found |= _MARKS.get(last + word, 0)
        last = word
    return found
