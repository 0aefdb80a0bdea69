"""Between a site's records (bytes by key) and the site as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Change, Frontier, RobotsCache, Site, Slot
from models.state import (
    Chunk,
    Head,
    Seen,
    Validator,
    cache_key,
    chunk_key,
    robots_key,
    seen_key,
    validator_key,
)

Part = TypeVar("Part")


def parsed(head: Head, get: Callable[[str], bytes | None]) -> Site:
    """A site from its records; a record that is not there is a part that was never written."""
    raw = get(seen_key(head.site))
    site = Site(head, Seen.model_validate_json(raw).messages if raw else ())
    site = _with_part(site, cache_key(head.site), get(cache_key(head.site)))
    site = replace(site, validators=_validators(head, get))
    for job in head.jobs:
        keys = [robots_key(head.site, job.id), *(chunk_key(head.site, job.id, n) for n in range(job.chunks))]
        for key in keys:
            site = _with_part(site, key, get(key))
    return site


def applied(site: Site, change: Change) -> Site:
    """The site after a change: the same as `parsed` would read it back."""
    after = replace(site, head=change.head)
    for key, value in change.parts:
        after = _with_part(after, key, value)
    return after


def _with_part(site: Site, key: str, value: bytes | None) -> Site:
    _, kind, *rest = key.split("|")
    if kind == "s" and value is not None:
        return replace(site, seen=Seen.model_validate_json(value).messages)
    if kind == "c":
        return replace(site, cached=None if value is None else RobotsCache.from_bytes(value))
    if kind == "v":
        return replace(site, validators=_with_slot(site.validators, int(rest[0]), value))
    return _with_part_of_job(site, kind, rest[0], value) if kind in "rf" and rest else site


def _with_part_of_job(site: Site, kind: str, job: str, value: bytes | None) -> Site:
    if value is None:
        return replace(site, robots=_less(site.robots, job), frontiers=_less(site.frontiers, job))
    if kind == "r":
        return replace(site, robots={**site.robots, job: Verdict.from_bytes(value)})
    known = site.frontiers.get(job, Frontier())
    return replace(site, frontiers={**site.frontiers, job: known.extended(Chunk.model_validate_json(value))})


def _validators(head: Head, get: Callable[[str], bytes | None]) -> dict[tuple[str, str], Slot]:
    """All at once: one by one would copy the mapping 2,000 times."""
    raw = ((number, get(validator_key(head.site, number))) for number in range(head.validators))
    slots = (Slot(number, Validator.model_validate_json(value)) for number, value in raw if value is not None)
    return {(slot.validator.account, slot.validator.url): slot for slot in slots}


def _with_slot(
    held: Mapping[tuple[str, str], Slot], number: int, value: bytes | None
) -> Mapping[tuple[str, str], Slot]:
    others = {key: slot for key, slot in held.items() if slot.number != number}
    if value is None:
        return others
    new = Validator.model_validate_json(value)
    return {**others, (new.account, new.url): Slot(number, new)}


def _less(parts: Mapping[str, Part], job: str) -> dict[str, Part]:
    return {key: value for key, value in parts.items() if key != job}
