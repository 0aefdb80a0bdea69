"""Numbers of a run, from its history alone: what was asked, what was done to it, how long everybody took."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from statistics import quantiles
from typing import Any

from tests.chaos.checkers.verdicts import wall
from tests.chaos.history import SECOND, History, Line
from tests.support.origin import gaps, overlaps

CALM = 12.0
"""Seconds around a fault in which nothing else may happen to a process, for its figure to be its own."""
GRACE = 4.0
"""Seconds in which a request may still follow an intent that was acknowledged (`agents.step.STALE`, and the way)."""


def figures(history: History) -> dict[str, Any]:
    """All numbers."""
    log = [request.asked for request in history.requests]
    every = [gap for found in gaps(log).values() for gap in found]
    span = (log[-1].arrived - log[0].arrived) / SECOND if log else 0.0
    found: dict[str, Any] = {
        "requests": len(log),
        "seconds": round(span, 1),
        "sites": len(history.by_site),
        "overlaps": len(overlaps(log)),
        "gaps_below_1_s": sum(gap < 1.0 for gap in every),
        "smallest_gap": round(min(every, default=0.0), 4),
        "crawls": Counter(str(line.get("terminal_kind")) for line in history.rows("crawls")),
        "pages": len(history.rows("pages")),
        **again(history),
    }
    for what in ("kill", "absent_certain", "absent", "term", "freeze_watched", "stuck"):
        for calm in (True, False):
            own, others = takeovers(history, what, calm=calm)
            name = what + ("_alone" if calm else "")
            if own or others:
                found[f"takeover_{name}"] = spread(own)
                found[f"others_pause_{name}"] = spread(others)
    found["broker_back"] = spread(broker_recoveries(history))
    for field in ("drained", "restarted"):
        by_fault: defaultdict[str, list[float]] = defaultdict(list)
        for line in history.of("nemesis"):
            if line.get(field) is not None:
                by_fault[str(line.data["fault"])].append(line.data[field])
        found[field] = {what: spread(values) for what, values in sorted(by_fault.items())}
    found["outages"] = outages(history)
    found["floods"] = [dict(line.data) for line in history.of("nemesis") if line.get("during")]
    found["rivals"] = Counter(
        str(line.get("exit_code")) for line in history.of("nemesis") if "exit_code" in line.data
    )
    return found


def spread(values: list[float]) -> dict[str, float]:
    """Number, median, 99th percentile and maximum."""
    if not values:
        return {"n": 0}
    cut = quantiles(values, n=100, method="inclusive") if len(values) > 1 else values * 99
    return {"n": len(values), "p50": round(cut[49], 2), "p99": round(cut[98], 2), "max": round(max(values), 2)}


def again(history: History) -> dict[str, Any]:
    """Requests of which a job had made the same before and was not asked to repeat (a 429 asks for it)."""
    tries: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in history.rows("fetches"):
        if line.data["sent"]:
            tries[line.data["job"], line.data["url_id"]].append(line)
    repeated = sum(
        sum(line.data["outcome"] != "rate_limited" for line in lines) - 1
        for lines in tries.values()
        if any(line.data["outcome"] != "rate_limited" for line in lines)
    )
    sent = sum(len(lines) for lines in tries.values())
    interrupted = sum(line.data["outcome"] == "interrupted" for lines in tries.values() for line in lines)
    share = round(100 * repeated / sent, 3) if sent else 0.0
    return {"recorded_as_sent": sent, "interrupted": interrupted, "made_again": repeated, "made_again_percent": share}


def takeovers(history: History, what: str, *, calm: bool) -> tuple[list[float], list[float]]:
    """After each fault `what` at a worker: seconds to the next request of its sites, and the others' longest pauses.

    Only sites with a crawl under way count. A pause of the others is what goes beyond their own pace.
    """
    own: list[float] = []
    others: list[float] = []
    starts = [line for line in history.of("nemesis") if line.get("event") == "start"]
    owners = _owners(history)
    for line in starts:
        if line.data["fault"] != what or line.data["target"] == "sink" or (calm and not _alone(line, starts)):
            continue
        at = line.data["at"]
        for site, requests in history.by_site.items():
            before = [one for one in requests if one.asked.arrived <= at]
            after = [one for one in requests if one.asked.arrived > at]
            if not before or not after or not _crawled(history, site, at, after[0].asked.arrived):
                continue
            if _owner(owners[site], history, at) == line.data["target"]:
                own.append((after[0].asked.arrived - at) / SECOND)
            else:
                window = [before[-1], *(one for one in after if one.asked.arrived < at + 10 * SECOND)]
                pauses = [
                    (then.asked.arrived - (one.asked.ended or one.asked.arrived)) / SECOND - 1.05
                    for one, then in itertools.pairwise(window)
                    if _crawled(history, site, one.asked.arrived, then.asked.arrived)
                ]
                others += [max(pauses)] if pauses else []
    return own, others


def _alone(line: Line, starts: list[Line]) -> bool:
    at = line.data["at"]
    near = (other for other in starts if other is not line and not str(other.data["target"]).startswith("events:"))
    return all(abs(other.data["at"] - at) > CALM * SECOND for other in near)


def _owners(history: History) -> dict[str, list[tuple[float, str]]]:
    """Site -> (wall time of a request, worker), in order."""
    found: defaultdict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in history.rows("fetches"):
        if line.data["sent"] and line.data["worker"]:
            found[line.data["site"]].append((wall(line.data["started_at"]), line.data["worker"].partition("@")[0]))
    for times in found.values():
        times.sort()
    return found


def _owner(times: list[tuple[float, str]], history: History, at: int) -> str:
    moment = at / SECOND + history.offset
    return next((worker for when, worker in reversed(times) if when <= moment), "")


def _crawled(history: History, site: str, begin: int, end: int) -> bool:
    """Whether one crawl of the site ran from before `begin` to after `end`."""
    first, last = begin / SECOND + history.offset, end / SECOND + history.offset
    return any(
        line.get("accepted") and wall(line.data["decided_at"]) < first and last < wall(line.data["terminal_at"])
        for line in _crawls_of(history, site)
        if line.get("terminal_at")
    )


_CACHE: dict[int, dict[str, list[Line]]] = {}


def _crawls_of(history: History, site: str) -> list[Line]:
    found = _CACHE.get(id(history))
    if found is None:
        found = _CACHE[id(history)] = {}
        for line in history.rows("crawls"):
            found.setdefault(line.data["site"], []).append(line)
    return found.get(site, [])


def outages(history: History) -> list[dict[str, Any]]:
    """Of each outage of the broker: requests while it was away, seconds from its being back to the first and last site.

    An intent that was acknowledged before may still be followed by its request, so the first seconds do not count.
    """
    found = []
    for line in history.of("nemesis"):
        if (gone := line.get("gone")) is None:
            continue
        back = line.data["at"]
        asked = [one.asked.arrived for one in history.requests]
        again = [
            (after - back) / SECOND
            for site, requests in history.by_site.items()
            if (after := next((one.asked.arrived for one in requests if one.asked.arrived > back), None)) is not None
            and _crawled(history, site, gone, after)
        ]
        found.append({
            "fault": line.data["fault"],
            "away": round((back - gone) / SECOND, 1),
            "asked_while_away": sum(gone + GRACE * SECOND < at < back for at in asked),
            "ended_itself": line.get("ended_itself"),
            "sites": spread(again),
        })  # fmt: skip
    return found


def broker_recoveries(history: History) -> list[float]:
    """Seconds from the broker's being back to the next request of anybody."""
    arrivals = sorted(request.asked.arrived for request in history.requests)
    found = []
    for line in history.of("nemesis"):
        if line.get("event") == "stop" and str(line.get("fault")).startswith("broker_"):
            after = next((at for at in arrivals if at > line.data["at"]), None)
            if after is not None:
                found.append((after - line.data["at"]) / SECOND)
    return found
