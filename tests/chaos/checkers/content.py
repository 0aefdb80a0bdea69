"""Pages and events: kept once (I10), none lost (I11), replayed (I12), erased (I13), set aside (I15), secret (I18)."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

from models import ids
from models.events import PageFetched, read_content
from models.mailbox import RESTORE
from models.profile import Profile
from tests.chaos.checkers.verdicts import Anomaly, Checker, anomaly, wall
from tests.chaos.history import SECOND, TOKEN_FILE, History, Line, Request, value_of

INTAKE = ("address-saved", "verification-requested", "crawl-requested", "operator-commands")
SLACK = SECOND // 2
"""Between a worker's wall clock and the one clock."""


def pages(history: History, profile: Profile) -> list[Anomaly]:
    """I10: one row for each page of an accepted crawl; served by the origin before; what was read is what is kept."""
    found = []
    crawls = {line.data["crawl"]: line for line in history.rows("crawls")}
    seen: dict[tuple[str, str], Line] = {}
    served = _served(history)
    digests = {(line.data["crawl"], line.data["url_id"]): line for line in history.rows("digests")}
    for line in history.rows("pages"):
        row = line.data
        key = (row["crawl"], row["url"])
        if key in seen:
            found.append(anomaly("I10", f"{row['url']} is stored twice", seen[key], line))
        seen[key] = line
        digest = digests.get((row["crawl"], ids.url_id(row["url"])))
        whats = _page(row, crawls.get(row["crawl"]), digest)
        found += [anomaly("I10", f"{row['url']}: {what}", line, digest) for what in whats]
        if not _was_served(history, row, served):
            found.append(anomaly("I10", f"{row['url']} was not served before it was stored", line))
    return found


def _page(row: Any, crawl: Line | None, digest: Line | None) -> list[str]:
    target = "/" + row["url"].split("/", 3)[3]
    cut = row.get("text_cut")
    rules = {
        "its crawl was not accepted": crawl is not None and bool(crawl.get("accepted")),
        "it is no page": target != TOKEN_FILE and not target.endswith((".xml", "/robots.txt")),
        "its text is not what was read": cut or hashlib.sha256(row["text"].encode()).hexdigest() == row["sha256"],
        "its id is not of its crawl and URL": row["page_id"] == ids.page_id(row["crawl"], row["url"]),
        "it has no digest, or another one": digest is not None and digest.data["sha256"] == row["sha256"],
        "it is another site's": row["url"].split("/", 3)[2].removeprefix("www.") == row["site"],
    }
    return [what for what, kept in rules.items() if not kept]


def _served(history: History) -> dict[tuple[str, str], list[Request]]:
    found: defaultdict[tuple[str, str], list[Request]] = defaultdict(list)
    for request in history.requests:
        if request.asked.method == "GET" and request.asked.status is not None and request.asked.status // 100 == 2:
            found[request.site, request.asked.target].append(request)
    return found


def _was_served(history: History, row: Any, served: dict[tuple[str, str], list[Request]]) -> bool:
    said = history.monotonic(wall(row["fetched_at"]))
    at = max([said, *history.jumped(said)]) + SLACK
    target = "/" + row["url"].split("/", 3)[3]
    return any(request.asked.arrived <= at for request in served.get((row["site"], target), ()))


def no_loss(history: History, profile: Profile) -> list[Anomaly]:
    """I11: every page that was told as kept is a row, or was erased; every answer that counts as a page was told."""
    stored = {line.data["page_id"] for line in history.rows("pages")}
    digests = {(line.data["crawl"], line.data["url_id"]) for line in history.rows("digests")}
    erased = _erased(history)
    found = []
    for line in history.topic("page-fetched"):
        content = read_content(value_of(line))
        if not isinstance(content, PageFetched) or content.at <= erased.get(content.site, 0.0):
            continue
        if content.id not in stored:
            found.append(anomaly("I11", f"{content.url} was read and is not stored", line))
    found += [
        anomaly("I11", f"a page of crawl {told.fact.crawl} is not in the digests", told.line)
        for told in history.told("page-kept")
        if (told.fact.crawl, told.fact.url_id) not in digests
    ]
    rows = history.rows("crawls")
    ends = {one.data["crawl"]: wall(one.data["terminal_at"]) for one in rows if one.get("terminal_at")}
    lost = {told.fact.id for told in history.told("request-ended") if told.fact.outcome == "interrupted"}
    return found + [
        anomaly("I11", f"request {line.data['number']} of crawl {line.data['job']} was ok and kept nothing", line)
        for line in history.rows("fetches")
        if (line.data["kind"], line.data["outcome"]) == ("page", "ok")
        and (line.data["job"], line.data["url_id"]) not in digests
        and line.data["id"] not in lost
        and wall(line.data["ended_at"]) < ends.get(line.data["job"], float("inf"))  # else it came back too late
    ]


def replay(history: History, profile: Profile) -> list[Anomaly]:
    """I12 (F32): the topics, replayed into an empty database, give the same rows; `inserted_at` alone may differ."""
    found = []
    tables = {line.data["table"] for file in ("database", "replay") for line in history.of(file)}
    for table in sorted(tables):
        first, second = (_texts(history.rows(table, file)) for file in ("database", "replay"))
        for text in sorted(first.keys() ^ second.keys()):
            line = first.get(text) or second.get(text)
            where = "is missing after the replay" if text in first else "is there only after the replay"
            found.append(anomaly("I12", f"a row of {table} {where}", line))
    return found


def _texts(lines: list[Line]) -> dict[str, Line]:
    return {repr(sorted((k, str(v)) for k, v in line.data.items() if k != "inserted_at")): line for line in lines}


def erasure(history: History, profile: Profile) -> list[Anomaly]:
    """I13: after an erasure no text, pair or URL of the site from before it is in the database."""
    erased = _erased(history)
    found = []
    for table, column in (("pages", "fetched_at"), ("urls", "named_at")):
        found += [
            anomaly("I13", f"{line.get('url')} is in {table} although it was erased", line)
            for line in history.rows(table)
            if wall(line.data[column]) <= erased.get(line.data["site"], 0.0)
        ]
    return found


def _erased(history: History) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in history.rows("erasures"):
        site = line.data["site"]
        found[site] = max(found.get(site, 0.0), wall(line.data["erased_at"]))
    return found


def dead_letters(history: History, profile: Profile) -> list[Anomaly]:
    """I15: every record of an intake topic was either forwarded to its site or set aside; nothing else was."""
    records = {_place(line): line for name in INTAKE for line in history.topic(name)}
    records |= {_place(line): line for line in history.topic("site-mailbox")}
    forwarded = {
        (m.origin.topic, m.origin.partition, m.origin.offset): line
        for line, m in history.messages
        if m.type != RESTORE  # from staff's command and the database, not from a topic
    }
    letters: dict[tuple[str, int, int], Line] = {}
    found = []
    for line in history.topic("dead-letters"):
        headers = line.data["headers"]
        place = (headers["topic"], int(headers["partition"]), int(headers["offset"]))
        letters[place] = line
        if place not in records:
            found.append(anomaly("I15", f"a dead letter of {place}, which is no record", line))
        elif value_of(line) != value_of(records[place]) and b'"stub":true' not in value_of(line):
            found.append(anomaly("I15", f"the dead letter of {place} is not what was sent", line, records[place]))
    for place, line in records.items():
        if place[0] == "site-mailbox":
            continue
        if place in forwarded and place in letters:
            found.append(anomaly("I15", f"{place} was both used and set aside", forwarded[place], letters[place]))
        elif place not in forwarded and place not in letters:
            found.append(anomaly("I15", f"{place} was neither used nor set aside", line))
    found += [
        anomaly("I15", f"a message to a site from {place}, which is no record", line)
        for place, line in forwarded.items()
        if place not in records
    ]
    return found


def _place(line: Line) -> tuple[str, int, int]:
    return line.data["topic"], line.data["partition"], line.data["offset"]


def secrets(history: History, profile: Profile) -> list[Anomaly]:
    """I18: no canary was found in a log, a metric or a trace."""
    return [
        anomaly("I18", f"{line.get('canary')} in {line.get('where')}", line)
        for line in history.of("final")
        if line.get("event") == "leak"
    ]


CHECKERS = (
    Checker("I10", ("origin", "database", "clock"), pages),
    Checker("I11", ("topics", "database"), no_loss),
    Checker("I12", ("database", "replay"), replay),
    Checker("I13", ("database",), erasure),
    Checker("I15", ("topics",), dead_letters),
    Checker("I18", ("final",), secrets),
)
