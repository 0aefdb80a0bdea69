"""Many attestations from a CSV (E11): every line is read and judged before the first is said."""

from __future__ import annotations

import asyncio
import csv
import hashlib
import io
import uuid
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from commands import lookups
from commands.desk import Desk, publish_all
from commands.options import EXIT_CONFIGURATION, Sentence
from crawler.rules.sentences import of
from crawler.rules.urls import UrlRefused, host_from_address, site_key
from models import ids
from models.allowed import allowed
from models.intake import STAFF_TOPIC, AttestSite

COLUMNS = ("account", "address", "by", "kept_at")
MOST_BYTES = 20_000_000
ANSWER = 300.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the file, and what is wrong with it."""

    number: int
    said: dict[str, str]
    event: str = ""
    site: str = ""
    error: str = ""

    def report(self) -> str:
        """One line for the person who imports."""
        good = f"{self.site} for {self.said['account']}"
        return f"line {self.number}: {self.error or good}"


def read(file: Path) -> list[Line]:
    """All lines, judged. A file that is no such CSV is a sentence."""
    if not file.is_file():  # a pipe may never end
        raise Sentence(f"{file} is no file.", EXIT_CONFIGURATION)
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise Sentence(f"{file} cannot be read: {error.strerror}.", EXIT_CONFIGURATION) from None
    if len(raw) > MOST_BYTES:
        said = f"{file} is larger than {MOST_BYTES // 1_000_000} MB: import it in parts."
        raise Sentence(said, EXIT_CONFIGURATION)
    try:
        reader = csv.DictReader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True)
        rows = [(reader.line_num, row) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise Sentence(f"{file} is no CSV in UTF-8: {error}.", EXIT_CONFIGURATION) from None
    if reader.fieldnames is None or set(COLUMNS) - set(reader.fieldnames):
        raise Sentence(f"{file} needs the columns {', '.join(COLUMNS)} in its first line.", EXIT_CONFIGURATION)
    digest = hashlib.sha256(raw).hexdigest()
    return _without_doubles([_judged(number, row, digest) for number, row in rows])


def _judged(number: int, row: dict[str, Any], digest: str) -> Line:
    """The event's id follows from the file and the line: the same file again says nothing new."""
    said = {name: (row.get(name) or "").strip() for name in COLUMNS}
    event = str(uuid.uuid5(ids.NAMESPACE, f"attest|{digest}|{number}"))
    line = Line(number, said, event)
    if None in row or None in row.values():
        return replace(line, error="it has another number of fields than the first line.")
    try:
        AttestSite.model_validate(said)
        return replace(line, site=site_key(host_from_address(said["address"])))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        return replace(line, error=f"{first['loc'][0]}: allowed is {allowed(first)}.")
    except UrlRefused as error:
        return replace(line, error=f"address {said['address'][:80]!r}: {of(error.reason)}")


def _without_doubles(lines: list[Line]) -> list[Line]:
    seen: dict[tuple[str, str], int] = {}
    found = []
    for line in lines:
        first = seen.setdefault((line.said["account"], line.site), line.number)
        double = not line.error and first != line.number
        found.append(replace(line, error=f"the same account and site as line {first}.") if double else line)
    return found


def publish(at: Desk, lines: list[Line]) -> None:
    """Say all of it and wait until the projection has it."""
    now = datetime.now(UTC).isoformat()
    envelope = {"type": "attest-site", "version": 1, "occurred_at": now, "producer": "licet"}
    envelopes = [(line.site, {**envelope, "id": line.event, "data": line.said}) for line in lines]
    asyncio.run(publish_all(at.settings, STAFF_TOPIC, envelopes))
    wanted = [ids.event_id("attested", line.event) for line in lines]
    refused = [ids.event_id(ids.job_id("verification", line.event), "ended") for line in lines]
    rows = at.wait(lambda: _all(at, wanted, refused), lambda: f"Telling {len(lines)} sites ...", ANSWER)
    if rows != len(lines):
        raise Sentence(f"{len(lines) - rows} of {len(lines)} were refused: this bot knows no attestation.")


def _all(at: Desk, wanted: list[str], refused: list[str]) -> int | None:
    """How many are recorded, once each of them has its answer."""
    found = {row["id"] for row in at.rows(lookups.verification_facts([*wanted, *refused]))}
    recorded = sum(1 for one in wanted if one in found)
    return recorded if len(found) >= len(wanted) else None
