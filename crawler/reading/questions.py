"""When a line is a question that a page answers, and when words around it promise such questions."""

from __future__ import annotations

import re

from crawler.reading.words import alternatives

_MARKS = "?\uff1f\u061f"  # of the Latin, the East Asian and the Arabic script
_GREEK = re.compile(r"[\u0370-\u03ff]")
_PREFIX = re.compile(
    r"^(?:q(?:uestion)?\s?\d{0,3}\s?[.:)\-\u2013]|f(?:rage)?\s?\d{0,3}\s?[.:)]|\(?\d{1,3}[.):])\s*", re.IGNORECASE
)

_CALL = re.compile(rf"{alternatives('calls')}\b", re.IGNORECASE)
_QUESTION_WORD = re.compile(rf"{alternatives('question_words')}\b")
_PROMISE = re.compile(alternatives("promises"))
"""Both of text in lower case: a pattern that ignores case takes three times the time [measured]."""

ENDS = frozenset(_MARKS + ";")
"""A question has one of these among its last four characters."""
LONGEST = 300
SHORTEST = 7


def unnumbered(text: str) -> str:
    """The question without `Q:` or a number before it."""
    return _PREFIX.sub("", text, count=1).strip()


def is_question(text: str) -> bool:
    """Whether the whole text is one question with its mark."""
    if len(text) > 2 * LONGEST or ENDS.isdisjoint(text[-4:]):  # most lines end here
        return False
    text = unnumbered(text)
    if not SHORTEST <= len(text) <= LONGEST or "\n" in text:
        return False
    last = text.rstrip(" \"'\u201d\u2019»)*.")[-1:]
    if last == ";":  # the Greek question mark
        return _GREEK.search(text) is not None
    return last != "" and last in _MARKS


def could_be_question(text: str) -> bool:
    """Whether the text opens as questions do, with or without a mark: enough inside a FAQ."""
    text = unnumbered(text).lstrip("¿¡\"'“„«( ")
    return SHORTEST <= len(text) <= LONGEST and "\n" not in text and _QUESTION_WORD.match(text.lower()) is not None


def is_call(text: str) -> bool:
    """Whether the question is a call to act ("Ready to start?"), which the page does not answer."""
    text = unnumbered(text).lstrip("¿¡ ")
    return len(text) < 70 and _CALL.match(text) is not None


def promises_questions(text: str) -> bool:
    """Whether a heading or name says that questions and answers follow."""
    return len(text) <= 120 and _PROMISE.search(text.lower()) is not None
