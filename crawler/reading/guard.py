"""The pre-scan: is this page safe to give to the parser? Linear in the page, before any tree is built.

The parser needs quadratic time for nested elements (40,000 `<div>` in 200 KB: 3.0 s, 2 MB of them: over
40 s), for attributes of one tag (890 KB: 37 s), and grows without bound on formatting elements that stay
open (40 KB of `<b i>` and `<i i>`: 1.3 GB). All three show in the tags alone. The child process has limits
of its own; this makes the common traps cheap instead of killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from operator import sub

MAX_DEPTH = 512
"""Elements open at once. Browsers cut there themselves; the deepest page of the development data has 222."""
MAX_ATTRIBUTES = 2_000
"""Words in one tag, outside quotes: a quoted value is one attribute (14 of 946 pages keep their data in one)."""

_TAG = re.compile(r"<(/?[a-zA-Z][^\s/>]*)")
_WINDOW = 4_000
_VALUE = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_LONG = 50_000  # 50 KB of attributes cost .1 s: not worth the look
# Besides the void elements those whose end tags are optional: pages leave them out by the thousand, and the parser
# closes them itself.
_VOID = frozenset(
    """
    area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr path
    p li dt dd option optgroup tr td th tbody thead tfoot colgroup
    """.strip().split()
)
_FOREIGN = ("svg", "math")
_RAW = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(svg|math|script|style|title|textarea|iframe|xmp|noembed|noframes)(?=[\s/>]).*?(?:</\1(?=[\s/>])|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile("/?[a-zA-Z]+")


def is_trap(html: str, max_depth: int = MAX_DEPTH) -> bool:
    """Whether the page nests deeper, or has more attributes on one tag, than the parser can take.

    A page that looks so is looked at once more without scripts: minified code is full of `<`, and data hold pages.
    """
    looks = _looks_so if len(html) > _LONG else _nests
    return looks(html, max_depth) and looks(markup(html), max_depth)


def _nests(html: str, max_depth: int) -> bool:
    return at_most(html) > max_depth and deepest(html) > max_depth


def _looks_so(html: str, max_depth: int) -> bool:
    return _nests(html, max_depth) or any(_attributes(tag) > MAX_ATTRIBUTES for tag in _long_tags(html))


def _attributes(tag: str) -> int:
    """The attributes of a tag at most; `a="1"b="2"` is two without a space between them."""
    return len(_VALUE.sub("=x ", tag).split())


def _long_tags(html: str) -> Iterator[str]:
    """Every tag of 8,000 characters: it covers one of the windows of 4,000 that hold no `>`."""
    done = 0
    for at in range(0, len(html), _WINDOW):
        if at < done or html.find(">", at, at + _WINDOW) >= 0:
            continue
        start = html.rfind("<", done, at + _WINDOW)
        done = at + _WINDOW
        if start < 0 or html.find(">", start, at) >= 0:  # running text, a script
            continue
        end = html.find(">", done)
        done = end if end >= 0 else len(html)
        tag = html[start + 1 : done].partition("<")[0]  # a `<` in it: a script
        if len(tag) > 2 * _WINDOW and tag[0].isalpha():
            yield tag


def flat_text(html: str) -> str:
    """The text of a page that must not be parsed: no tags, scripts and styles, a line for each run between them."""
    lines: list[str] = []
    hidden = ""
    for piece in html.split("<"):
        tag, closed, text = piece.partition(">")
        name = _NAME.match(tag)
        if hidden:
            hidden = "" if name and name.group().lower() == f"/{hidden}" else hidden
        elif name and name.group().lower() in ("script", "style"):
            hidden = name.group().lower()
        if not hidden and (line := " ".join((text if closed else "").split())):
            lines.append(line)
    return "\n".join(lines)


def at_most(html: str, pieces: int = 32) -> int:
    """A bound on the depth by counting `<` and `</` alone; nine pages in ten need nothing finer."""
    size = len(html) // pieces + 1
    height = bound = 0
    for start in range(0, len(html), size):
        ends = html.count("</", start, start + size)
        starts = html.count("<", start, start + size) - ends
        bound = max(bound, height + starts)
        height = max(0, height + starts - ends)
    return bound


def markup(html: str) -> str:
    """The page without what the parser never reads as tags: comments, scripts, styles and other raw text.

    In `svg` and `math` a `<style>` holds tags, so nothing is taken out there.
    """
    return _RAW.sub(lambda found: found.group() if (found[1] or "").lower() in _FOREIGN else "<!---->", html)


class _Steps(dict[str, int]):
    """What each tag does to the depth; unknown ones are learned as they come."""

    def __missing__(self, name: str) -> int:
        bare = name.removeprefix("/").lower()
        step = 0 if bare in _VOID else -1 if name[0] == "/" else 1
        self[name] = step
        return step


def deepest(html: str) -> int:
    """How many elements are open at the worst place, counted from the last place where fewest were."""
    heights: list[int] = list(accumulate(map(_Steps().__getitem__, _TAG.findall(html)), initial=0))
    depths: Iterator[int] = map(sub, heights, accumulate(heights, min))
    return max(depths)
