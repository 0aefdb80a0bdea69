"""What happened, as everybody who watched wrote it down: the input of every checker.

One folder, one append-only JSONL file for each observer, each written by a process that no nemesis touches. Every
time is `time.monotonic_ns` of the one machine (origin, client, nemesis all run on it), but for the facts of the
topics, which carry the wall clock; `clock.jsonl` ties the two. The files, all optional but `origin.jsonl`:

    origin.jsonl    what tests.support.origin writes: a line at arrival, one at the end of each request
    client.jsonl    intake events: {"at", "op", "id", "topic", "type", "site", "account", "requester",
                    "partition", "offset"}; op is invoke, then ok (the broker has it), fail (it has not) or info
                    (nobody knows: it may have happened)
    commands.jsonl  the same for operator-commands
    nemesis.jsonl   {"at", "event": "start" | "stop" | "heal", "fault", "target"}; one heal after the last fault;
                    a clock's fault says how far it jumped and when: {"jump": seconds, "began"}
    world.jsonl     what the origin serves: {"site", "robots": status, "disallow": [prefix, ..]}
    clock.jsonl     {"monotonic": ns, "wall": seconds}, at least once
    topics.jsonl    {"topic", "partition", "offset", "timestamp": ms, "key", "value" | "value64", "headers"}
    database.jsonl  {"table", "row"}
    replay.jsonl    the same of an empty database that the topics were replayed into
    egress.jsonl    {"at", "address"}: whoever else was spoken to (the witness of a network namespace)
    final.jsonl     {"event": "quiet", "at", "lag", "ready"}, {"event": "leak", "canary", "where"} and, last,
                    {"event": "files", "lines": {file: number}}

A file that is missing, or has fewer lines than `files` says, makes the checkers that need it answer "unknown".
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from models import mailbox
from models.events import Fact, read_event
from models.state import Head
from tests.support.origin import Asked

SECOND = 1_000_000_000
STALE_CLOCK = 5 * SECOND
"""After a clock was put right: it is read once a second, and what was dated before may be written later."""
FILES = (
    "origin", "client", "commands", "nemesis", "world", "clock", "topics", "database", "replay", "egress", "final",
)  # fmt: skip
CHANGELOG = "licet-worker-sites-changelog"
TOKEN_FILE = "/.well-known/ema-site-verification.txt"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one file, with what it says."""

    file: str
    number: int
    data: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"

    def get(self, name: str, default: Any = None) -> Any:
        """A field of the line."""
        return self.data.get(name, default)


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the origin saw it."""

    line: Line
    asked: Asked

    @property
    def site(self) -> str:
        """The politeness key."""
        return self.asked.site

    @property
    def kind(self) -> str:
        """What it was, by its method and target alone; the origin knows nothing of jobs."""
        target = self.asked.target
        if self.asked.method == "HEAD":
            return "address_check"
        named = {"/robots.txt": "robots", TOKEN_FILE: "token_file"}
        return named.get(target, "sitemap" if target.endswith((".xml", ".xml.gz")) else "page")


@dataclass(frozen=True, slots=True)
class Told:
    """One fact of `site-events` in its place."""

    line: Line
    fact: Any
    """A models.events.Fact; `Any`, since each checker knows which of them it reads."""


@dataclass(frozen=True, slots=True)
class Said:
    """One event that was sent by a client, and what became of the sending."""

    line: Line
    id: str
    topic: str
    type: str
    site: str
    account: str
    requester: str
    invoked: int
    done: int | None
    op: str
    """ok, fail or info; a sending of which nothing more was heard is info."""

    @property
    def may_have_happened(self) -> bool:
        """Whether its effect is allowed."""
        return self.op != "fail"


@dataclass(frozen=True)
class History:
    """All files of one run. `gaps` says, for each file, why it is not whole."""

    lines: Mapping[str, tuple[Line, ...]]
    gaps: Mapping[str, str] = field(default_factory=dict)

    def of(self, file: str) -> tuple[Line, ...]:
        """The lines of one file."""
        return self.lines.get(file, ())

    @cached_property
    def requests(self) -> tuple[Request, ...]:
        """What arrived, in order of arrival; the later line of a request has its end."""
        found: dict[int, Request] = {}
        for line in self.of("origin"):
            fields = {name: value for name, value in line.data.items() if name != "event"}
            first = found.get(fields["id"])
            found[fields["id"]] = Request(line if first is None else first.line, Asked(**fields))
        return tuple(sorted(found.values(), key=lambda one: (one.asked.arrived, one.asked.id)))

    @cached_property
    def by_site(self) -> dict[str, list[Request]]:
        """The requests of each site, in order of arrival."""
        found: defaultdict[str, list[Request]] = defaultdict(list)
        for request in self.requests:
            found[request.site].append(request)
        return dict(found)

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """What clients and staff sent, in order."""
        found: dict[tuple[str, int], Said] = {}
        for file in ("client", "commands"):
            open_: dict[str, tuple[str, int]] = {}
            for line in self.of(file):
                _sending(found, open_, line)
        return tuple(sorted(found.values(), key=lambda one: one.invoked))

    @cached_property
    def facts(self) -> tuple[Told, ...]:
        """The facts of `site-events`, by partition and offset."""
        return tuple(Told(line, read_event(value_of(line))) for line in self.topic("site-events"))

    def told(self, kind: str) -> list[Told]:
        """The facts of one type."""
        return [told for told in self.facts if told.fact.type == kind]

    def topic(self, name: str) -> list[Line]:
        """The records of one topic, by partition and offset."""
        return self._topics.get(name, [])

    @cached_property
    def _topics(self) -> dict[str, list[Line]]:
        found: defaultdict[str, list[Line]] = defaultdict(list)
        for line in self.of("topics"):
            found[line.data["topic"]].append(line)
        for lines in found.values():
            lines.sort(key=lambda line: (line.data["partition"], line.data["offset"]))
        return dict(found)

    @cached_property
    def messages(self) -> tuple[tuple[Line, mailbox.Message], ...]:
        """What sites were told."""
        found = []
        for line in self.topic("site-mailbox"):
            try:
                found.append((line, mailbox.Message.model_validate_json(value_of(line))))
            except ValidationError:
                continue  # poison: the checker of dead letters asks for it
        return tuple(found)

    @cached_property
    def heads(self) -> tuple[tuple[Line, Head], ...]:
        """Every head that was written to the changelog, in order."""
        records = self.topic(CHANGELOG)
        return tuple(
            (line, Head.model_validate_json(value_of(line)))
            for line in records
            if str(line.get("key")).endswith("|h") and (line.get("value") is not None or line.get("value64"))
        )

    def rows(self, table: str, file: str = "database") -> list[Line]:
        """The rows of one table; a line's `data` is the row."""
        return self._tables.get((file, table), [])

    @cached_property
    def _tables(self) -> dict[tuple[str, str], list[Line]]:
        found: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
        for file in ("database", "replay"):
            for line in self.of(file):
                found[file, line.data["table"]].append(Line(line.file, line.number, line.data["row"]))
        return dict(found)

    def jumped(self, at: int) -> list[int]:
        """What a wall-clock time may mean, besides `at` (monotonic): a clock fault may have made it early or late."""
        found = []
        for line in self.of("nemesis"):
            if (jump := line.get("jump")) is not None:
                real = at - jump * SECOND
                if line.data["began"] <= real <= line.data["at"] + STALE_CLOCK:
                    found.append(real)
        return found

    @cached_property
    def offset(self) -> float:
        """Wall-clock seconds minus monotonic seconds."""
        return float(median(line.data["wall"] - line.data["monotonic"] / SECOND for line in self.of("clock")))

    def monotonic(self, wall: float) -> int:
        """A fact's time on the one clock."""
        return int((wall - self.offset) * SECOND)

    def missing(self, *files: str) -> str:
        """Why these files do not allow an answer, or nothing."""
        return "; ".join(
            self.gaps.get(file) or f"{file}.jsonl is not there"
            for file in files
            if file in self.gaps or file not in self.lines
        )


def _sending(found: dict[tuple[str, int], Said], open_: dict[str, tuple[str, int]], line: Line) -> None:
    """An invocation opens a sending, what follows under the same id closes the latest one."""
    event, op = str(line.get("id", "")), line.data["op"]
    if op == "invoke":
        key = (line.file, line.number)
        open_[event] = key
        found[key] = Said(
            line, event, line.get("topic", ""), line.get("type", ""), line.get("site", ""), line.get("account", ""),
            line.get("requester", ""), line.data["at"], None, "info",
        )  # fmt: skip
        return
    begun = found[open_[event]]
    found[open_[event]] = Said(
        begun.line, begun.id, begun.topic, begun.type, begun.site, begun.account, begun.requester, begun.invoked,
        line.data["at"], op,
    )  # fmt: skip


def value_of(line: Line) -> bytes:
    """The value of a record; empty for null."""
    if line.get("value64") is not None:
        return base64.b64decode(line.data["value64"])
    return str(line.get("value") or "").encode()


def load(folder: Path) -> History:
    """Read the files of one run."""
    lines: dict[str, tuple[Line, ...]] = {}
    for name in FILES:
        path = folder / f"{name}.jsonl"
        if path.exists():
            texts = path.read_text(encoding="utf-8").splitlines()
            lines[name] = tuple(Line(name, number, json.loads(text)) for number, text in enumerate(texts, 1))
    return History(lines, gaps_of(lines))


def history(lines: Mapping[str, Iterable[Mapping[str, Any]]]) -> History:
    """A history from values, as `load` would read it from files."""
    found = {file: tuple(Line(file, n, data) for n, data in enumerate(items, 1)) for file, items in lines.items()}
    return History(found, gaps_of(found))


def gaps_of(lines: Mapping[str, tuple[Line, ...]]) -> dict[str, str]:
    """Which files are not whole: fewer lines than were counted, or numbers missing in the origin's log."""
    found: dict[str, str] = {}
    counted = [line for line in lines.get("final", ()) if line.get("event") == "files"]
    for file, number in (counted[-1].data["lines"] if counted else {}).items():
        if len(lines.get(file, ())) != number:
            found[file] = f"{file}.jsonl has {len(lines.get(file, ()))} lines of {number}"
    if "origin" in lines:
        numbers = {line.data["id"] for line in lines["origin"]}
        lost = set(range(1, max(numbers, default=0) + 1)) - numbers
        if lost:
            found["origin"] = f"origin.jsonl lacks {len(lost)} requests, the first is {min(lost)}"
        if len({line.data["id"] for line in lines["origin"] if line.get("ended") is None} ^ numbers):
            found["origin"] = "origin.jsonl has an end without its arrival"
    return found


class Recorder:
    """Writes the files of the observers that live in the process that drives a run."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, file: str, **data: Any) -> None:
        """One line, on disk when this returns. What JSON does not know (a UUID, a date) is written as text."""
        with (self._folder / f"{file}.jsonl").open("a", encoding="utf-8") as out:
            out.write(json.dumps(data, default=str) + "\n")

    def record(self, record: Any) -> None:
        """One record of a topic, as aiokafka gives it."""
        value, key = record.value, record.key
        line: dict[str, Any] = {
            "topic": record.topic, "partition": record.partition, "offset": record.offset,
            "timestamp": record.timestamp, "key": None if key is None else key.decode("utf-8", "backslashreplace"),
            "headers": {name: value.decode("utf-8", "backslashreplace") for name, value in record.headers or ()},
        }  # fmt: skip
        try:
            line["value"] = None if value is None else value.decode()
        except UnicodeDecodeError:
            line["value64"] = base64.b64encode(value).decode()
        self.write("topics", **line)

    def rows(self, table: str, rows: Iterable[Mapping[str, Any]], file: str = "database") -> None:
        """The rows of one table."""
        for row in rows:
            self.write(file, table=table, row=dict(row))

    def asked(self, requests: Iterable[Asked]) -> None:
        """Requests from an origin's memory, as its own log would have them."""
        for asked in requests:
            self.write("origin", event="arrived", **{**asdict(asked), "ended": None})
            if asked.ended is not None:
                self.write("origin", event="ended", **asdict(asked))

    def close(self) -> None:
        """Count the lines, so that a file that lost some is noticed."""
        counted = {}
        for name in FILES:
            path = self._folder / f"{name}.jsonl"
            if path.exists():
                counted[name] = len(path.read_text(encoding="utf-8").splitlines())
        counted["final"] = counted.get("final", 0) + 1
        self.write("final", event="files", lines=counted)


def fact_line(partition: int, offset: int, fact: Fact, timestamp: float) -> dict[str, Any]:
    """A fact as a line of topics.jsonl."""
    return {
        "topic": "site-events", "partition": partition, "offset": offset, "timestamp": int(timestamp * 1000),
        "key": fact.site, "value": fact.model_dump_json(), "headers": {},
    }  # fmt: skip
