"""Planted anomalies: each takes a valid history and breaks one promise in it, in place.

`MUTATORS` maps a name to the invariant that must be found violated and the mutator. A mutator raises `NotHere` where
a history has nothing that it could break (no suspension, no refusal); another seed has.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from models import ids
from tests.chaos.history import CHANGELOG, SECOND, TOKEN_FILE
from tests.chaos.synthetic import WALL, Lines

Line = dict[str, Any]
Mutate = Callable[[Lines], None]
MUTATORS: dict[str, tuple[str, Mutate]] = {}


class NotHere(Exception):
    """Nothing of the kind is in the history."""


def plants(invariant: str) -> Callable[[Mutate], Mutate]:
    """Register a mutator under its own name."""

    def register(mutate: Mutate) -> Mutate:
        MUTATORS[mutate.__name__] = (invariant, mutate)
        return mutate

    return register


# -- looking things up


def first(found: list[Line], **wanted: Any) -> Line:
    """The first line with these fields, in the order given."""
    for line in found:
        if all(line.get(name) == value for name, value in wanted.items()):
            return line
    raise NotHere(str(wanted))


def row(lines: Lines, table: str, **wanted: Any) -> Line:
    """The first row of a table with these fields."""
    return first([line["row"] for line in lines["database"] if line["table"] == table], **wanted)


def drop(lines: Lines, table: str, gone: Line) -> None:
    """Take a row away from the database and the replay alike."""
    for file in ("database", "replay"):
        lines[file][:] = [one for one in lines[file] if one["table"] != table or one["row"] != gone]


def add(lines: Lines, table: str, new: Line) -> None:
    """Add a row."""
    lines["database"].append({"table": table, "row": new})


def requests(lines: Lines, target: str | None = None) -> list[Line]:
    """The last line of each request (with its end), by arrival."""
    found = {line["id"]: line for line in lines["origin"] if target in (None, line["target"])}
    return sorted(found.values(), key=lambda line: line["arrived"])


def pages(lines: Lines) -> list[Line]:
    """Requests for pages that were answered 200."""
    found = [line for line in requests(lines) if line["target"].startswith("/p/") and line["status"] == 200]
    if not found:
        raise NotHere("a page")
    return found


def change(lines: Lines, request: int, **fields: Any) -> None:
    """Change a request in both of its lines."""
    for line in lines["origin"]:
        if line["id"] == request:
            line.update(
                {name: value for name, value in fields.items() if name != "ended" or line["ended"] is not None}
            )


def plant(lines: Lines, like: Line, at: int, **fields: Any) -> None:
    """One more request like another, at another time."""
    number = max(line["id"] for line in lines["origin"]) + 1
    length = (like["ended"] or like["arrived"]) - like["arrived"]
    line = {**like, "id": number, "arrived": at, "ended": at + length, **fields}
    lines["origin"] += [{**line, "event": "arrived", "ended": None}, {**line, "event": "ended"}]


def pair(lines: Lines) -> tuple[Line, Line]:
    """Two requests of one site, one after the other."""
    found = requests(lines)
    for line, then in itertools.pairwise(found):
        if line["name"] == then["name"]:
            return line, then
    raise NotHere("two requests of one site")


def moved(lines: Lines, line: Line, seconds: float) -> None:
    """The same request at another time."""
    by = int(seconds * SECOND)
    change(lines, line["id"], arrived=line["arrived"] + by, ended=line["ended"] + by)


def crawl(lines: Lines) -> Line:
    """An accepted crawl's row that kept something."""
    for line in lines["database"]:
        if line["table"] == "crawls" and line["row"]["accepted"] and line["row"]["pages"]:
            return line["row"]  # type: ignore[no-any-return]
    raise NotHere("an accepted crawl")


def record(lines: Lines, topic: str, kind: str = "") -> Line:
    """The last record of a topic, or of one type of fact."""
    for line in reversed(lines["topics"]):
        if line["topic"] == topic and (not kind or json.loads(line["value"])["type"] == kind):
            return line
    raise NotHere(topic)


def append(lines: Lines, topic: str, value: str, **more: Any) -> None:
    """One more record."""
    offset = sum(line["topic"] == topic for line in lines["topics"])
    like = {"topic": topic, "partition": 0, "offset": offset, "timestamp": int((WALL + 5000) * 1000)}
    lines["topics"].append({**like, "key": "", "value": value, "headers": {}, **more})


# -- I1, I2: one at a time, a pace apart


@plants("I1")
def two_at_once(lines: Lines) -> None:
    line, then = pair(lines)
    moved(lines, then, (line["ended"] - then["arrived"]) / SECOND - 0.001)


@plants("I1")
def one_that_never_ends(lines: Lines) -> None:
    line, _ = pair(lines)
    lines["origin"][:] = [one for one in lines["origin"] if one["id"] != line["id"] or one["ended"] is None]


@plants("I1")
def one_within_another(lines: Lines) -> None:
    line = max(requests(lines), key=lambda one: one["ended"] - one["arrived"])
    plant(lines, {**line, "ended": line["arrived"] + 1000}, line["arrived"] + 10_000)


@plants("I2")
def a_millisecond_below_the_pace(lines: Lines) -> None:
    line, then = pair(lines)
    moved(lines, then, (line["ended"] + 0.999 * SECOND - then["arrived"]) / SECOND)


@plants("I2")
def crawl_delay_not_honoured(lines: Lines) -> None:
    pages(lines)
    for line in lines["world"]:
        line["crawl_delay"] = 8.0


@plants("I2")
def crawl_delay_cap_not_reached(lines: Lines) -> None:
    pages(lines)
    for line in lines["world"]:
        line["crawl_delay"] = 3600.0


# -- I3: budgets


@plants("I3")
def a_hundred_and_twenty_one_pages_asked(lines: Lines) -> None:
    crawl(lines)["requests"]["page"] = 121


@plants("I3")
def a_sixth_sitemap(lines: Lines) -> None:
    like = row(lines, "fetches", kind="sitemap")
    for number in range(100, 106):
        add(lines, "fetches", {**like, "id": str(number), "number": number})


@plants("I3")
def sixty_one_pages_kept(lines: Lines) -> None:
    crawl(lines)["pages"] = 61


@plants("I3")
def sixty_one_pages_stored(lines: Lines) -> None:
    like = row(lines, "pages")
    for number in range(61):
        add(lines, "pages", {**like, "page_id": str(number), "url": f"{like['url']}/{number}"})


@plants("I3")
def a_request_without_an_intent(lines: Lines) -> None:
    for line in lines["topics"]:
        if line["topic"] == CHANGELOG:
            line["value"] = json.dumps({**json.loads(line["value"]), "intents": []})


@plants("I3")
def robots_asked_for_ever(lines: Lines) -> None:
    crawl(lines)["requests"]["robots"] = 99


@plants("I3")
def the_origin_counts_more_pages_than_the_budget(lines: Lines) -> None:
    like = pages(lines)[-1]
    for number in range(250):
        plant(lines, like, (6000 + 10 * number) * SECOND)


# -- I4, I5: authority, robots.txt


@plants("I4")
def a_page_before_any_proof(lines: Lines) -> None:
    line = pages(lines)[0]
    proof = first(requests(lines), target=TOKEN_FILE, name=line["name"])
    plant(lines, line, proof["arrived"] - 20 * SECOND)


@plants("I4")
def a_second_head_for_one_save(lines: Lines) -> None:
    line = first(requests(lines), method="HEAD")
    plant(lines, line, line["arrived"] + 2000 * SECOND)


@plants("I4")
def more_proof_reads_than_hops(lines: Lines) -> None:
    line = first(requests(lines), target=TOKEN_FILE)
    for number in range(3):
        plant(lines, line, line["arrived"] + (2000 + number * 50) * SECOND)


@plants("I4")
def a_crawl_without_a_proof_on_file(lines: Lines) -> None:
    drop(lines, "verifications", row(lines, "verifications", kind="verified", site=crawl(lines)["site"]))


@plants("I4")
def a_crawl_on_another_accounts_proof(lines: Lines) -> None:
    row(lines, "verifications", kind="verified", site=crawl(lines)["site"])["account"] = "somebody"


@plants("I4")
def a_crawl_after_the_proof_was_withdrawn(lines: Lines) -> None:
    proof = row(lines, "verifications", kind="verified", site=crawl(lines)["site"])
    add(lines, "verifications", {**proof, "id": "w", "kind": "withdrawn", "at": crawl(lines)["decided_at"]})
    proof["at"] = "2027-01-15 08:00:00+00:00"


@plants("I5")
def a_disallowed_page(lines: Lines) -> None:
    change(lines, pages(lines)[0]["id"], target="/private/x")


@plants("I5")
def a_page_before_robots(lines: Lines) -> None:
    line = pages(lines)[0]
    robots = first(requests(lines), target="/robots.txt", name=line["name"])
    plant(lines, line, robots["arrived"] - SECOND // 10)


@plants("I5")
def pages_although_robots_is_unreadable(lines: Lines) -> None:
    pages(lines)
    for line in lines["world"]:
        line["robots"] = 503


@plants("I5")
def a_crawl_that_begins_elsewhere(lines: Lines) -> None:
    for line in lines["database"]:
        if line["table"] == "fetches" and line["row"]["kind"] == "robots":
            line["row"]["number"] += 100


@plants("I5")
def a_refused_crawl_that_went_on(lines: Lines) -> None:
    crawl(lines)["terminal_kind"] = "refused_robots"


# -- I6, I7: what is sent, and to whom


@plants("I6")
def another_host(lines: Lines) -> None:
    change(lines, requests(lines)[-1]["id"], name="evil.example")


@plants("I6")
def a_query(lines: Lines) -> None:
    change(lines, pages(lines)[0]["id"], target="/p/0?id=1")


@plants("I6")
def a_post(lines: Lines) -> None:
    change(lines, pages(lines)[0]["id"], method="POST")


@plants("I6")
def a_cookie(lines: Lines) -> None:
    line = requests(lines)[-1]
    change(lines, line["id"], head=line["head"] + "\r\nCookie: a=b")


@plants("I6")
def a_browsers_name(lines: Lines) -> None:
    line = requests(lines)[-1]
    change(lines, line["id"], head=line["head"].replace("EmaIngestBot/1.0", "Mozilla/5.0 EmaIngestBot/1.0"))


@plants("I6")
def a_note_that_closes_the_bracket(lines: Lines) -> None:
    line = requests(lines)[-1]
    change(lines, line["id"], head=line["head"].replace("crawler)", "crawler; a) (b)"))


@plants("I6")
def a_host_header_of_another(lines: Lines) -> None:
    line = requests(lines)[-1]
    change(lines, line["id"], head=line["head"].replace("Host: ", "Host: x"))


@plants("I7")
def a_packet_to_the_metadata_service(lines: Lines) -> None:
    lines["egress"].append({"at": 1, "address": "169.254.169.254"})


# -- I8: retries


def asked_again(lines: Lines, outcome: str, wait: float = 2.0, times: int = 1) -> None:
    """A URL of a crawl asked for again after `outcome`, `wait` seconds later."""
    like = row(lines, "fetches", outcome="ok", kind="page")
    end = WALL + 4000.0
    for number in range(times + 1):
        started = end + number * (wait + 1.0)
        fields = {
            "id": f"again{number}",
            "number": 500 + number,
            "outcome": outcome,
            "final": False,
            "url_id": "u" * 64,
        }
        add(lines, "fetches", {**like, **fields, "started_at": started, "ended_at": started + 1.0})


@plants("I8")
def a_404_asked_again(lines: Lines) -> None:
    asked_again(lines, "http_4xx")


@plants("I8")
def a_timeout_asked_again(lines: Lines) -> None:
    asked_again(lines, "timeout")


@plants("I8")
def a_fourth_try_after_503(lines: Lines) -> None:
    asked_again(lines, "rate_limited", wait=12.0, times=3)


@plants("I8")
def a_wait_that_does_not_double(lines: Lines) -> None:
    asked_again(lines, "rate_limited", wait=1.5, times=2)


# -- I9: the audit


@plants("I9")
def a_crawl_without_a_row(lines: Lines) -> None:
    drop(lines, "crawls", crawl(lines))


@plants("I9")
def a_second_end(lines: Lines) -> None:
    value = json.loads(record(lines, "site-events", "crawl-ended")["value"])
    append(lines, "site-events", json.dumps({**value, "end": "failed"}))


@plants("I9")
def a_row_that_was_changed(lines: Lines) -> None:
    crawl(lines)["terminal_kind"] = "failed"


@plants("I9")
def a_row_without_an_end(lines: Lines) -> None:
    crawl(lines).update(terminal_kind=None, terminal_at=None)


@plants("I9")
def a_row_that_names_nobody(lines: Lines) -> None:
    crawl(lines)["account"] = None


@plants("I9")
def a_refusal_that_ran(lines: Lines) -> None:
    row(lines, "crawls", accepted=False)["terminal_kind"] = "completed"


@plants("I9")
def a_crawl_that_nobody_asked_for(lines: Lines) -> None:
    lines["client"][:] = [line for line in lines["client"] if line["type"] != "crawl-requested"]


@plants("I9")
def two_rows_of_one_crawl(lines: Lines) -> None:
    add(lines, "crawls", dict(crawl(lines)))


@plants("I9")
def an_end_that_no_fact_tells(lines: Lines) -> None:
    gone = crawl(lines)["crawl"]
    for line in lines["topics"]:
        if line["topic"] == "site-events" and '"crawl-ended"' in line["value"] and gone in line["value"]:
            line["value"] = line["value"].replace(gone, str(ids.event_id("other")))


@plants("I9")
def a_request_that_nobody_recorded(lines: Lines) -> None:
    drop(lines, "fetches", row(lines, "fetches", kind="robots", outcome="ok"))


@plants("I9")
def a_request_that_never_arrived(lines: Lines) -> None:
    line = first(requests(lines), target="/robots.txt", status=200)
    change(lines, line["id"], target="/sitemap.xml")


@plants("I9")
def a_url_without_an_outcome(lines: Lines) -> None:
    row(lines, "fetches", kind="page", outcome="ok")["final"] = False


@plants("I9")
def a_url_with_two_outcomes(lines: Lines) -> None:
    line = row(lines, "fetches", kind="page", outcome="ok")
    add(lines, "fetches", {**line, "id": "again", "sent": False, "outcome": "over_budget"})


# -- I10, I11, I12, I13: pages


@plants("I10")
def a_page_stored_twice(lines: Lines) -> None:
    add(lines, "pages", dict(row(lines, "pages")))


@plants("I10")
def a_swapped_hash(lines: Lines) -> None:
    row(lines, "pages")["sha256"] = "0" * 64


@plants("I10")
def a_changed_text(lines: Lines) -> None:
    row(lines, "pages")["text"] += " And more."


@plants("I10")
def a_page_that_was_never_served(lines: Lines) -> None:
    line = row(lines, "pages")
    digest = row(lines, "digests", crawl=line["crawl"], url_id=line["url_id"])
    url = f"https://{line['site']}/p/77"
    line.update(url=url, url_id=ids.url_id(url), page_id=ids.page_id(line["crawl"], url))
    digest["url_id"] = ids.url_id(url)


@plants("I10")
def a_page_stored_before_it_was_served(lines: Lines) -> None:
    row(lines, "pages")["fetched_at"] = WALL + 50.0


@plants("I10")
def a_proof_that_was_stored(lines: Lines) -> None:
    line = row(lines, "pages")
    line["url"] = f"https://{line['site']}{TOKEN_FILE}"


@plants("I10")
def a_page_of_a_refused_crawl(lines: Lines) -> None:
    row(lines, "crawls", crawl=row(lines, "pages")["crawl"])["accepted"] = False


@plants("I10")
def another_sites_page(lines: Lines) -> None:
    row(lines, "pages")["site"] = "other.example"


@plants("I11")
def a_page_that_was_lost(lines: Lines) -> None:
    drop(lines, "pages", row(lines, "pages"))


@plants("I11")
def a_digest_that_was_lost(lines: Lines) -> None:
    drop(lines, "digests", row(lines, "digests"))


@plants("I12")
def a_row_lost_in_the_replay(lines: Lines) -> None:
    lines["replay"].pop()


@plants("I12")
def a_row_that_the_replay_invents(lines: Lines) -> None:
    lines["replay"].append({"table": "crawls", "row": {**crawl(lines), "crawl": "other"}})


@plants("I12")
def a_value_that_the_replay_changes(lines: Lines) -> None:
    lines["replay"][0]["row"]["site"] = "x"


@plants("I13")
def erased_text_that_came_back(lines: Lines) -> None:
    line = row(lines, "pages")
    row(lines, "erasures").update(site=line["site"], erased_at=line["fetched_at"])


# -- I14 to I18


@plants("I14")
def a_request_after_the_suspension(lines: Lines) -> None:
    messages = [
        line for line in lines["topics"] if line["topic"] == "site-mailbox" and '"suspend-site"' in line["value"]
    ]
    if not messages:
        raise NotHere("a suspension")
    at = (messages[0]["timestamp"] / 1000 - WALL + 2.1) * SECOND
    plant(lines, pages(lines)[0], int(at), name=messages[0]["key"])


@plants("I15")
def an_event_that_was_lost(lines: Lines) -> None:
    append(lines, "crawl-requested", '{"id": "lost"}')


@plants("I15")
def a_dead_letter_that_was_lost(lines: Lines) -> None:
    lines["topics"].remove(record(lines, "dead-letters"))


@plants("I15")
def an_event_used_and_set_aside(lines: Lines) -> None:
    line = first(lines["topics"], topic="crawl-requested", offset=0)
    headers = {"topic": "crawl-requested", "partition": "0", "offset": "0", "cause": "json"}
    append(lines, "dead-letters", line["value"], headers=headers)


@plants("I15")
def a_dead_letter_that_was_altered(lines: Lines) -> None:
    record(lines, "dead-letters")["value"] += "!"


@plants("I15")
def a_dead_letter_of_nothing(lines: Lines) -> None:
    headers = {"topic": "crawl-requested", "partition": "0", "offset": "99999", "cause": "json"}
    append(lines, "dead-letters", "x", headers=headers)


@plants("I16")
def a_sixth_crawl_of_the_day(lines: Lines) -> None:
    like = crawl(lines)
    for number in range(6):
        add(lines, "crawls", {**deepcopy(like), "crawl": str(number)})


@plants("I17")
def not_quiet_within_a_minute(lines: Lines) -> None:
    first(lines["final"], event="quiet")["at"] += 41 * SECOND


@plants("I17")
def lag_that_stays(lines: Lines) -> None:
    first(lines["final"], event="quiet")["lag"] = 3


@plants("I17")
def a_crawl_past_its_deadline(lines: Lines) -> None:
    crawl(lines)["terminal_at"] = WALL + 20_000.0


@plants("I18")
def a_token_in_a_log(lines: Lines) -> None:
    lines["final"].append({"event": "leak", "canary": "token", "where": "worker-1.log"})
