"""What may prove a site on one of its pages (E10, C04): metas in the head, whole lines of visible text.

Runs in the child process. The matching is the rules' affair (crawler.rules.proofs); here is only what is where.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from crawler.reading import guard
from crawler.rules.charset import decode
from models.page import MarksRead

MOST_METAS = 50
MOST_LINES = 20_000
LONGEST = 300
"""Characters. A longer line, or a longer meta, holds more than a token."""
_UNSEEN = "script,style,noscript,template,textarea,select,iframe,title,svg,math,object,datalist,head"
_FOREIGN = (
    "[id*=comment i],[class*=comment i],[itemtype*=Comment],[itemtype*=Review],[id*=review i],[class*=review i],"
    "#disqus_thread,blockquote"
)
"""What looks like other people's words: a line there proves nobody's ownership."""


def read_marks(body: bytes, content_type: str | None, name: str) -> MarksRead:
    """The contents of the head's metas called `name`, and the lines that a visitor sees as lines of their own.

    `head > meta`, by the parsed tree: a meta in the body, a comment, a script or a second document is none
    (measured on 30 documents). A page that nests deeper than the parser can take has no marks.
    """
    html = decode(body, content_type).text
    if guard.is_trap(html):
        return MarksRead()
    page = LexborHTMLParser(html)
    metas = _metas(page, name.lower())
    for unseen in (_UNSEEN, _FOREIGN):
        for node in page.css(unseen):
            node.decompose()
    text = page.body.text(separator="\n") if page.body is not None else ""
    lines = [line for line in map(str.strip, text.split("\n")) if 0 < len(line) <= LONGEST]
    return MarksRead(tuple(metas), tuple(lines[:MOST_LINES]))


def _metas(page: LexborHTMLParser, name: str) -> list[str]:
    found = []
    for meta in page.css("html > head > meta[name]"):
        attributes = meta.attributes
        if (attributes.get("name") or "").strip().lower() == name:
            found.append((attributes.get("content") or "").strip()[: LONGEST + 1])
    return found[:MOST_METAS]
