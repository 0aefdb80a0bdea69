"""What a site signals about the use of its content, recorded with the page and not judged (A05).

Only from answers that we have anyway: nothing is fetched for a signal. Drafts and conventions for the most
part; robots.txt alone is a standard. None of the published policies promises to obey them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from models.web import Response

_HEADERS = ("content-usage", "content-signal", "tdm-reservation", "tdm-policy")
_METAS = ("tdm-reservation", "tdm-policy", "content-usage", "content-signal")
_NO_AI = ("noai", "noimageai")
_MAX_VALUE = 500


@dataclass(frozen=True, slots=True)
class Signal:
    """One signal as it stands: `source` is robots, header or meta."""

    name: str
    value: str
    source: str


def signals(
    response: Response, metas: Iterable[tuple[str, str]], from_robots: Iterable[tuple[str, str]] = ()
) -> tuple[Signal, ...]:
    """All usage signals of a page, in a fixed order, each once."""
    found = [Signal(name, value[:_MAX_VALUE], "robots") for name, value in from_robots]
    for name in _HEADERS:
        found += [Signal(name, value[:_MAX_VALUE], "header") for value in response.all(name)]
    for value in response.all("x-robots-tag"):
        found += _no_ai(value, "header")
    for name, content in metas:
        lowered = name.strip().lower()
        if lowered in _METAS:
            found.append(Signal(lowered, content[:_MAX_VALUE], "meta"))
        elif lowered == "robots":
            found += _no_ai(content, "meta")
    return tuple(dict.fromkeys(found))[:50]


def _no_ai(value: str, source: str) -> list[Signal]:
    words = {word.strip().lower() for word in value.replace(":", ",").split(",")}
    return [Signal(name, value[:_MAX_VALUE], source) for name in _NO_AI if name in words]


def input_refused(found: Iterable[Signal]) -> bool:
    """Whether a site says `ai-input=no`: its own customer is warned, for Ema feeds answers."""
    return any("ai-input=no" in signal.value.replace(" ", "").lower() for signal in found)
