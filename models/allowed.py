"""What a value may be, in our own words: a reader of a mistake has never heard of pydantic."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Context = Mapping[str, Any]

_WORDS: dict[str, str | Callable[[Context], str]] = {
    "missing": "a value; it is missing",
    "extra_forbidden": "nothing: there is no such field",
    "less_than_equal": lambda ctx: f"at most {ctx['le']:g}",
    "less_than": lambda ctx: f"less than {ctx['lt']:g}",
    "greater_than_equal": lambda ctx: f"at least {ctx['ge']:g}",
    "greater_than": lambda ctx: f"more than {ctx['gt']:g}",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number that is not that long",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a text",
    "string_unicode": "a text",
    "string_too_short": lambda ctx: f"a text of {_count(ctx['min_length'], 'character')} or more",
    "string_too_long": lambda ctx: f"a text of {_count(ctx['max_length'], 'character')} or less",
    "string_pattern_mismatch": lambda ctx: f"a text of the form {ctx['pattern']}",
    "literal_error": lambda ctx: str(ctx["expected"]),
    "too_short": lambda ctx: f"{ctx['min_length']} of them or more",
    "too_long": lambda ctx: f"{ctx['max_length']} of them or less",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "path_type": "the path of a file",
    "uuid_parsing": "a UUID",
    "uuid_type": "a UUID",
}
_DAY = "a day such as 2026-12-25"
_TIME = "a time with its zone, such as 2026-03-02T09:30+01:00"


def allowed(first: Mapping[str, Any]) -> str:
    """What one of a `ValidationError`'s errors allows. A rule of our own speaks for itself."""
    kind = str(first["type"])
    if kind == "value_error":
        return str(first["ctx"]["error"])
    if kind.startswith("datetime_"):
        return _TIME
    if kind.startswith("date_"):
        return _DAY
    words = _WORDS.get(kind)
    if words is None:
        return str(first["msg"]).removeprefix("Input should be ")
    return words if isinstance(words, str) else words(first.get("ctx", {}))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
