"""`topics.yaml` as values: the one list of topics, read and checked in one place."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

FILE = Path(__file__).resolve().parent.parent / "topics.yaml"  # beside app.py, in a checkout and in a wheel
UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
FOREVER = -1


class TopicsError(Exception):
    """`topics.yaml` is wrong, as one sentence that names the topic, the field and what is allowed."""


def _milliseconds(value: object) -> object:
    """`72h` to milliseconds, `forever` to Kafka's -1."""
    if value == "forever":
        return FOREVER
    match = re.fullmatch(r"([1-9][0-9]*)([smhd])", str(value))
    if match is None:
        raise ValueError("a number with s, m, h or d, or forever")
    return int(match[1]) * UNITS[match[2]]


def _texts(value: object) -> object:
    """Kafka takes every configuration value as text."""
    return {key: str(item) for key, item in value.items()} if isinstance(value, dict) else value


class Topic(BaseModel):
    """One topic as it must stand on the broker."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9.-]{0,200}$")
    about: str = Field(min_length=1)
    key: Literal["site", "any"]
    value: str = Field(alias="schema", min_length=1, description="the model of its values; `raw` for bytes")
    partitions: int = Field(ge=1, le=1000)
    retention_ms: Annotated[int, BeforeValidator(_milliseconds)] = Field(alias="retention")
    cleanup: Literal["delete", "compact"]
    config: Annotated[dict[str, str], BeforeValidator(_texts)] = Field(default_factory=dict)

    def configs(self) -> dict[str, str]:
        """The whole configuration that the broker must have for it, by Kafka's names."""
        fixed = {"cleanup.policy": self.cleanup, "retention.ms": str(self.retention_ms)}
        return {**self.config, **fixed}


def load(path: Path = FILE) -> list[Topic]:
    """The topics in the order of the file; a mistake in it is a `TopicsError`."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))["topics"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise TopicsError(f"{path} is not a list of topics ({error}).") from None
    topics = [_topic(path, entry) for entry in entries]
    _agree(path, topics)
    return topics


@cache
def by_name() -> dict[str, Topic]:
    """The packaged topics by their names, for code that needs one topic's partitions."""
    return {topic.name: topic for topic in load()}


def _topic(path: Path, entry: Any) -> Topic:
    try:
        return Topic.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = entry.get("name", "?") if isinstance(entry, dict) else entry
        field = ".".join(str(part) for part in first["loc"])
        allowed = first["msg"].removeprefix("Value error, ")
        raise TopicsError(f"{path}, topic {name}: {field} is {first['input']!r}; {allowed}.") from None


def _agree(path: Path, topics: list[Topic]) -> None:
    """Names are unique; topics keyed by site have one partition count (a site lives on one worker)."""
    names = [topic.name for topic in topics]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TopicsError(f"{path} lists {', '.join(twice)} more than once.")
    counts = {topic.partitions for topic in topics if topic.key == "site"}
    if len(counts) > 1:
        raise TopicsError(f"{path}: topics with key `site` must have the same partitions, not {sorted(counts)}.")
