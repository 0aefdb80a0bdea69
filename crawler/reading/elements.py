"""What is known of elements by their tag or role: which make blocks, which hold no text, what they mean."""

from __future__ import annotations

from crawler.reading.boxes import Mark


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SKIPPED = _words("script style template svg math select datalist textarea iframe object canvas audio video")
"""Nothing in these is text of the page."""
BLOCKS = _words(
    """
    address article aside blockquote body button caption center dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav noscript ol optgroup
    option p pre search section summary table tbody td tfoot th thead tr ul
    """
)
"""These begin and end a line; so do elements of a page's own making (`x-card`)."""
PLAIN = _words("span b i em strong small img font u time sub code cite input")
"""Inline elements whose attributes are never read."""
HEADINGS = _words("h1 h2 h3 h4 h5 h6")
KINDS = HEADINGS | _words("li dt dd td th summary p pre blockquote caption figcaption button legend address")
"""The tags that decide how a text is written."""
OUTER = _words("li dt dd td th summary blockquote caption button")
"""A paragraph in one of these is written as what holds it."""
ROOTS = _words("html body head")
"""Their classes are about the whole page: they say nothing of a part of it."""

_TAGS = {
    "nav": Mark.NAV, "menu": Mark.NAV, "footer": Mark.FOOTER, "aside": Mark.ASIDE, "form": Mark.FORM,
    "dialog": Mark.DIALOG, "noscript": Mark.NOSCRIPT, "main": Mark.MAIN, "article": Mark.ARTICLE,
    "details": Mark.DETAILS, "table": Mark.TABLE, "dl": Mark.DEFINITIONS, "address": Mark.ADDRESS,
    "ul": Mark.LIST, "ol": Mark.LIST, "button": Mark.BUTTON, "header": Mark.HEADER, "search": Mark.FORM,
}  # fmt: skip
_ROLES = {
    "navigation": Mark.NAV, "menu": Mark.NAV, "menubar": Mark.NAV, "banner": Mark.HEADER,
    "contentinfo": Mark.FOOTER, "complementary": Mark.ASIDE, "search": Mark.FORM, "dialog": Mark.DIALOG,
    "alertdialog": Mark.DIALOG, "main": Mark.MAIN, "article": Mark.ARTICLE, "listbox": Mark.NAV,
    "form": Mark.FORM,
}  # fmt: skip
# Plain integers: `|` of two IntFlag members takes 1 us, of two integers 30 ns [measured].
TAG_MARKS = {name: int(mark) for name, mark in _TAGS.items()}
ROLE_MARKS = {name: int(mark) for name, mark in _ROLES.items()}
