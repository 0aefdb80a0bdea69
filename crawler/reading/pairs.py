"""The questions that a page already answers: from markup first, then from what it shows (E28).

Order of trust: JSON-LD, microdata, `details`, `dl`, a control and its panel, a question as a heading. A
question that several of them give is one pair, with the answer of the most trusted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from crawler.reading.boxes import Tree
from crawler.reading.clean import clean_line, clean_text
from crawler.reading.microdata import questions as microdata_questions
from crawler.reading.questions import unnumbered
from crawler.reading.structured import Json
from crawler.reading.structured import questions as json_questions
from crawler.reading.visible import Shown
from models.reading import Pair

MAX_PAIRS = 500
MAX_ANSWER = 20_000
_ANSWER = re.compile(r"^(?:a(?:nswer)?|antwort|r(?:éponse)?)\s?[.:)]\s+", re.IGNORECASE)
_LETTERS = re.compile(r"[\W_]+")


def pair_id(url: str, question: str) -> str:
    """The same for the same question on the same page, however it is spaced, numbered or punctuated."""
    return hashlib.sha256(f"{url}\n{_key(question)}".encode()).hexdigest()[:20]


def pairs(tree: Tree, found: list[Json], shown: list[Shown], url: str) -> tuple[Pair, ...]:
    """Every pair of the page, once; `shown` are those that the page shows (`visible.shown_pairs`)."""
    out: dict[str, Pair] = {}
    for source, question, answer in _all(tree, found, shown):
        text = clean_line(question, 500)
        reply = _ANSWER.sub("", clean_text(answer, MAX_ANSWER).strip())
        key = _key(text)
        if key and reply and key not in out and _key(reply) != key:
            out[key] = Pair(pair_id(url, text), text, reply, source)
        if len(out) >= MAX_PAIRS:
            break
    return tuple(out.values())


def _all(tree: Tree, found: list[Json], shown: list[Shown]) -> Iterable[tuple[str, str, str]]:
    for question, answer in json_questions(found):
        yield "json-ld", question, answer
    if tree.microdata:
        for question, answer in microdata_questions(tree):
            yield "microdata", question, answer
    for pair in shown:
        yield pair.source, pair.question, pair.answer


def _key(text: str) -> str:
    return _LETTERS.sub("", unnumbered(text)).casefold()
