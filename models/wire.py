"""Strict JSON from strangers' programs, and compact JSON of our own.

What `json` and pydantic let pass and PostgreSQL or a recursive reader do not (NaN, duplicate keys, lone
surrogates, NUL, 10^5 nested arrays, integers of 10,000 digits) is refused here, once, with a named cause.
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict

MAX_EVENT_BYTES = 256 * 1024
"""Larger events are no commands; Kafka's own limit is about 1 MB."""
MAX_DEPTH = 32


class Unreadable(ValueError):
    """Bytes that are no event. `cause` is one word of a closed list, the message says more."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Model(BaseModel):
    """Base of everything that Licet itself writes: immutable, closed, no NaN."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, ser_json_inf_nan="constants")


class Said(BaseModel):
    """Base of what others write: unknown fields are ignored, so that they may add some (and widen nothing)."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, str_max_length=8192)


def read_json(raw: bytes | None) -> dict[str, Any]:
    """The JSON object in `raw`, or `Unreadable` with cause empty, oversized, encoding, json, depth or value."""
    if not raw:
        raise Unreadable("empty", "the value is empty or null")
    if len(raw) > MAX_EVENT_BYTES:
        raise Unreadable("oversized", f"{len(raw)} bytes; at most {MAX_EVENT_BYTES}")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("encoding", f"not UTF-8: {error.reason} at byte {error.start}") from None
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_depth(text)
    try:
        value = _JSON.decode(text)
    except Unreadable:
        raise
    except (ValueError, RecursionError) as error:
        raise Unreadable("json", f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Unreadable("schema", f"a JSON object is expected, not {type(value).__name__}")
    _refuse_text(value)
    return value


def _refuse_depth(text: str) -> None:
    """A linear look at the brackets, those inside strings left out, before any recursive reader sees them."""
    depth, in_string, escaped = 0, False, False
    for char in text:
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise Unreadable("depth", f"nested deeper than {MAX_DEPTH}")
        elif char in "]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unreadable("json", "a key occurs twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise Unreadable("json", f"{name} is not JSON")


def _int(digits: str) -> int:
    if len(digits) > 20:
        raise Unreadable("json", f"an integer of {len(digits)} digits")
    return int(digits)


_JSON = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_int=_int)


def _refuse_text(value: object) -> None:
    """NUL and lone surrogates pass JSON and break PostgreSQL."""
    if isinstance(value, str):
        if "\x00" in value or any("\ud800" <= char <= "\udfff" for char in value):
            raise Unreadable("encoding", "a text holds NUL or half a surrogate pair")
    elif isinstance(value, dict):
        for key, item in value.items():
            _refuse_text(key)
            _refuse_text(item)
    elif isinstance(value, list):
        for item in value:
            _refuse_text(item)
