"""Which way a published number may move. Packaged ceilings can be tightened, never widened.

Every field of a profile carries one `Change`. A field without a mark is `FIXED`: forgetting to mark a new
field can never open anything. An operator's file, the environment, an event and a plan all go through
`tightened`, which refuses by name: where the attempt stood, the field, the value and what is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from models.allowed import allowed


class Change(StrEnum):
    """What may be done to a packaged value."""

    FIXED = "fixed"  # the promise itself: identity, scope, the robots table
    LOWER = "lower"  # a ceiling: budgets, timeouts, byte caps, features that send requests
    HIGHER = "higher"  # a floor: delays, factors, obedience
    FEWER = "fewer"  # a list from which entries may be taken away
    FREE = "free"  # no promise rests on it: contact address, egress addresses


Ceiling = Annotated[int, Change.LOWER]
CeilingSeconds = Annotated[float, Change.LOWER]
FloorSeconds = Annotated[float, Change.HIGHER]
Fewer = Annotated[tuple[str, ...], Change.FEWER]
MayBeSwitchedOff = Annotated[bool, Change.LOWER]
MayBeSwitchedOn = Annotated[bool, Change.HIGHER]
Free = Annotated[str, Change.FREE]


class ProfileError(ValueError):
    """An attempt to change a published promise, refused at start and by name."""

    def __init__(self, origin: str, field: str, value: object, allowed: str) -> None:
        self.origin, self.field, self.value, self.allowed = origin, field, value, allowed
        super().__init__(f"{origin}: {field} = {value!r} is refused: {allowed}")


class Section(BaseModel):
    """A part of a profile: immutable, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def tightened(self, overrides: Mapping[str, Any], origin: str = "override", under: str = "") -> Self:
        """A copy with `overrides` (nested like the profile) applied; raises `ProfileError`."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        for name, value in overrides.items():
            path = f"{under}{name}"
            if name not in values:
                raise ProfileError(origin, path, value, "there is no such field")
            values[name] = self._changed(name, value, origin, path)
        try:
            return type(self).model_validate(values)
        except ValidationError as error:
            raise _named(error, origin, under) from error

    @classmethod
    def _marked(cls, name: str) -> Change:
        marks = cls.model_fields[name].metadata
        return next((mark for mark in marks if isinstance(mark, Change)), Change.FIXED)

    def rule(self, name: str) -> Change:
        """What may be done to a field of this section."""
        return self._marked(name)

    def _changed(self, name: str, value: Any, origin: str, path: str) -> Any:
        old = getattr(self, name)
        if isinstance(old, Section) and isinstance(value, Mapping):
            return old.tightened(value, origin, f"{path}.")
        new = self._typed(name, value, origin, path)
        rule = self.rule(name)
        if not _permitted(rule, old, new):
            raise ProfileError(origin, path, value, _allowed(rule, old))
        return new

    def _typed(self, name: str, value: Any, origin: str, path: str) -> Any:
        """The value as the field's own type, so that "2" and 2 are judged alike."""
        others = {key: getattr(self, key) for key in type(self).model_fields if key != name}
        try:
            return getattr(type(self).model_validate({**others, name: value}), name)
        except ValidationError as error:
            raise _named(error, origin, path.removesuffix(name)) from error


def _named(error: ValidationError, origin: str, under: str) -> ProfileError:
    first = error.errors()[0]
    field = under + ".".join(str(part) for part in first["loc"])
    return ProfileError(origin, field, first.get("input"), f"allowed is {allowed(first)}")


def _permitted(rule: Change, old: Any, new: Any) -> bool:
    """Whether `new` is no wider than `old`. None means "no limit" on either side."""
    if new == old or rule is Change.FREE:
        return True
    if rule is Change.FEWER:
        return set(new) <= set(old)
    if rule is Change.FIXED:
        return False
    before, after = (float("inf") if value is None else value for value in (old, new))
    return bool(after <= before if rule is Change.LOWER else after >= before)


def _allowed(rule: Change, old: Any) -> str:
    words = {
        Change.LOWER: f"at most {old}",
        Change.HIGHER: f"at least {old}",
        Change.FEWER: f"only entries of {old}",
    }
    return words.get(rule, f"it is fixed in the product at {old!r}")
