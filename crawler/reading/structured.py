"""Structured facts: what a page says in JSON-LD, kept apart from its text (E28).

Read leniently, because it is written by hand and by plugins: control characters in strings, comments and
CDATA around the JSON, trailing commas. What still cannot be read is left out, never an error.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

from crawler.reading.clean import clean_line, clean_text

MAX_SCRIPT = 500_000
MAX_FACTS = 60
MAX_DEPTH = 6
MAX_ITEMS = 50
MAX_VALUE = 500

Json = dict[str, object]

_TYPES = frozenset(
    ("Organization", "LocalBusiness", "Corporation", "Store", "Restaurant", "Hotel", "Product", "ProductGroup",
     "Offer", "AggregateOffer", "ContactPoint", "OpeningHoursSpecification",
     "PostalAddress", "Place", "Service", "Event")
)  # fmt: skip
# Types of business are hundreds (Dentist, AutoRepair, ...): what they have in common are their properties.
_TELLING = frozenset(
    ("openingHours", "openingHoursSpecification", "telephone", "priceRange", "contactPoint", "sku", "offers", "email")
)
_LEFT_OUT = frozenset(
    ("@context", "image", "logo", "review", "reviews", "photo", "video", "potentialAction", "mainEntityOfPage",
     "itemListElement", "articleBody", "comment", "hasPart", "isPartOf", "breadcrumb", "thumbnailUrl", "publisher")
)  # fmt: skip
_WRAPPING = re.compile(
    r"^\s*(?:<!--|//\s*<!\[CDATA\[|/\*\s*<!\[CDATA\[\s*\*/|<!\[CDATA\[)|(?:-->|//\s*\]\]>|/\*\s*\]\]>\s*\*/|\]\]>)\s*;?\s*$"
)
_TRAILING = re.compile(r",(\s*[}\]])")
_BREAKS = re.compile(r"<(?:br|/p|/div|/li|/h[1-6]|/tr)\b[^<>]*>", re.IGNORECASE)
_TAGS = re.compile(r"<[^<>]*>")


def objects(scripts: list[str]) -> list[Json]:
    """Every JSON-LD object of a page that has a type, outermost first."""
    out: list[Json] = []
    for script in scripts:
        if len(script) <= MAX_SCRIPT:
            out.extend(item for item in _objects(_loads(script), 0) if "@type" in item)
    return out


def _loads(script: str) -> object:
    text = _WRAPPING.sub("", script).strip()
    for attempt in (text, _TRAILING.sub(r"\1", text)):
        try:
            loaded: object = json.loads(attempt, strict=False)
        except (ValueError, RecursionError):
            continue
        return loaded
    return None


def _objects(value: object, depth: int) -> Iterator[Json]:
    if depth > 2 * MAX_DEPTH:
        return
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _objects(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _objects(inner, depth + 1)


def types(item: Json) -> tuple[str, ...]:
    """The types of an object without the schema.org prefix."""
    found = item.get("@type")
    names = found if isinstance(found, list) else [found]
    return tuple(str(name).rpartition("/")[2] for name in names if isinstance(name, str))


def facts(found: list[Json]) -> tuple[Json, ...]:
    """Organization, LocalBusiness, Product, Offer, ContactPoint and opening hours, each object once.

    An object inside another fact is kept inside it, not once more beside it.
    """
    out: list[Json] = []
    inside: set[int] = set()
    for item in found:
        if id(item) in inside or not _is_fact(item):
            continue
        inside.update(id(inner) for inner in _objects(item, 0))
        pruned = _pruned(item, 0)
        if isinstance(pruned, dict) and len(pruned) > 1 and pruned not in out:
            out.append(pruned)
        if len(out) >= MAX_FACTS:
            break
    return tuple(out)


def _is_fact(item: Json) -> bool:
    return bool(_TYPES.intersection(types(item))) or not _TELLING.isdisjoint(item)


def _pruned(value: object, depth: int) -> object:
    """The value in clean strings, bounded in depth, width and length; None for what is left out."""
    if isinstance(value, str):
        return clean_line(plain(value), MAX_VALUE)
    if isinstance(value, bool | int | float) or value is None:
        return value if value == value and abs(value or 0) < 1e18 else None  # noqa: PLR0124 - NaN is not equal to itself
    if depth >= MAX_DEPTH:
        return None
    if isinstance(value, list):
        items = (_pruned(inner, depth + 1) for inner in value[:MAX_ITEMS])
        return [inner for inner in items if inner not in (None, "", [], {})]
    if isinstance(value, dict):
        pairs = (
            (clean_line(str(k), 60), _pruned(v, depth + 1))
            for k, v in list(value.items())[:MAX_ITEMS]
            if k not in _LEFT_OUT
        )
        return {k: v for k, v in pairs if v not in (None, "", [], {})}
    return None


def plain(text: str) -> str:
    """The text of a value that may hold markup, which FAQ answers do."""
    if "<" in text or "&" in text:
        text = html.unescape(text)
        if "<" in text:
            text = html.unescape(_TAGS.sub("", _BREAKS.sub("\n", text)))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def questions(found: list[Json]) -> list[tuple[str, str]]:
    """(question, answer) of every Question with an accepted answer, else its first suggested one."""
    out = []
    for item in found:
        if "Question" not in types(item):
            continue
        question = _text(item.get("name")) or _text(item.get("text"))
        answer = _answer(item.get("acceptedAnswer")) or _answer(item.get("suggestedAnswer"))
        if question and answer:
            out.append((clean_line(question), clean_text(answer, 20_000)))
    return out


def _answer(value: object) -> str:
    if isinstance(value, list):
        return next((text for text in map(_answer, value) if text), "")
    if isinstance(value, dict):
        return _text(value.get("text")) or _text(value.get("name"))
    return _text(value)


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def body(found: list[Json]) -> str:
    """The text of an article, or of a thread and its comments, for a page that shows nothing without scripts."""
    lines: list[str] = []
    for item in found:
        text = _text(item.get("articleBody")) or (
            _text(item.get("text")) if _SPEAKS.intersection(types(item)) else ""
        )
        heading = _text(item.get("headline"))
        if text:
            lines.extend(line for line in (heading, text) if line and line not in lines)
    return "\n\n".join(lines)


_SPEAKS = frozenset(
    ("DiscussionForumPosting", "Comment", "SocialMediaPosting", "Question", "Answer", "Review", "Message")
)
