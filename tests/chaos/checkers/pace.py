"""What the origin saw: one at a time (I1), a pace apart (I2), nothing but what was promised (I6, I7)."""

from __future__ import annotations

import re

from models.profile import Profile
from tests.chaos.checkers.verdicts import Anomaly, Checker, anomaly, seconds
from tests.chaos.history import SECOND, History, Line, Request

HEADERS = {"accept", "accept-encoding", "host", "user-agent"}


def single_flight(history: History, profile: Profile) -> list[Anomaly]:
    """I1 (E16, W04, C11): the intervals [arrival, end] of one site never overlap beyond the profile's number."""
    found = []
    for site, requests in history.by_site.items():
        open_: list[Request] = []
        for request in requests:
            arrived = request.asked.arrived
            open_ = [one for one in open_ if one.asked.ended is None or one.asked.ended > arrived]
            open_.append(request)
            if len(open_) > profile.pace.max_in_flight:
                what = f"{len(open_)} requests at once at {site}"
                found.append(anomaly("I1", what, *(one.line for one in open_)))
    return found


def pace(history: History, profile: Profile) -> list[Anomaly]:
    """I2 (E16): from the end of each request of a site to the arrival of the next, at least the pace."""
    found = []
    told = {line.data["site"]: line.get("crawl_delay") or 0.0 for line in history.of("world")}
    for site, requests in history.by_site.items():
        last: Request | None = None
        for request in requests:
            if last is not None and last.asked.ended is not None:
                gap = seconds(request.asked.arrived - last.asked.ended)
                least = _least(profile, request, told.get(site, 0.0))
                if gap < least and profile.pace.max_in_flight == 1:
                    what = f"{gap:.3f} s after the request before, at least {least:.3f} s at {site}"
                    found.append(anomaly("I2", what, last.line, request.line))
            if last is None or (request.asked.ended or 0) >= (last.asked.ended or 0):
                last = request
    return found


def _least(profile: Profile, request: Request, told: float) -> float:
    """The profile's delay; what robots.txt asks for counts once it has been read (E15). One setting governs each job."""
    rule = profile.pace.crawl
    cap = rule.crawl_delay_cap
    honoured = told if cap is None else min(told, cap)
    return max(rule.delay, honoured if request.kind in ("page", "sitemap") else 0.0)


def scope(history: History, profile: Profile) -> list[Anomaly]:
    """I6 (E01, E03, E07, E20): known hosts, no query, GET (HEAD for the address check), our name, four headers."""
    hosts = {line.data["site"] for line in history.of("world")}
    who = profile.identity
    agent = re.compile(rf"{re.escape(f'{who.token}/{who.version} (+{who.page}')}(; [^();\x00-\x1f]{{1,80}})?\)")
    found = []
    for request in history.requests:
        whats = _out_of_scope(request, hosts, agent)
        found += [anomaly("I6", f"{what} at {request.site}{request.asked.target}", request.line) for what in whats]
    return found


def _out_of_scope(request: Request, hosts: set[str], agent: re.Pattern[str]) -> list[str]:
    asked = request.asked
    names = [name.lower() for name, _ in asked.headers]
    rules = {
        "a host that nobody named": asked.site in hosts,
        "a Host header that is not the name in TLS": (asked.header("host") or "").partition(":")[0] == asked.name,
        "a query": "?" not in asked.target and "#" not in asked.target,
        f"the method {asked.method}": asked.method in ("GET", "HEAD"),
        f"headers {sorted(names)}": set(names) == HEADERS and len(names) == len(HEADERS),
        f"the User-Agent {asked.header('user-agent')!r}": bool(agent.fullmatch(asked.header("user-agent") or "")),
    }
    return [what for what, kept in rules.items() if not kept]


def egress(history: History, profile: Profile) -> list[Anomaly]:
    """I7 (A02): the witness of the network saw nobody else spoken to."""
    return [anomaly("I7", f"a packet to {line.get('address')}", line) for line in history.of("egress")]


def suspension(history: History, profile: Profile) -> list[Anomaly]:
    """I14 (E25): no request of a site later than two seconds after the command was acknowledged, until it is resumed.

    From the acknowledgement and not from the mailbox on, whoever may be dead or frozen in between.
    """
    found = []
    spans = _suspended(history)
    for request in history.requests:
        for begin, end, line in spans.get(request.site, ()):
            if begin + 2 * SECOND < request.asked.arrived < end:
                late = seconds(request.asked.arrived - begin)
                found.append(anomaly("I14", f"{late:.3f} s after {request.site} was suspended", line, request.line))
    return found


def suspension_delays(history: History) -> list[float]:
    """Seconds from the acknowledgement of each suspension to its place in the site's mailbox, for the report."""
    heard = _heard(history)
    return [
        seconds(heard[said.id][0] - said.done)
        for said in history.said
        if said.type == "suspend-site" and said.done is not None and said.id in heard
    ]


def _heard(history: History) -> dict[str, tuple[int, Line]]:
    """Message -> when its site's mailbox had it first."""
    found: dict[str, tuple[int, Line]] = {}
    for line, message in history.messages:
        at = history.monotonic(line.data["timestamp"] / 1000)
        if message.id not in found or at < found[message.id][0]:
            found[message.id] = (at, line)
    return found


def _suspended(history: History) -> dict[str, list[tuple[int, float, Line]]]:
    """Site -> (said, resumed, line). A resumption counts from its invocation: it may work at once."""
    spans: dict[str, list[tuple[int, float, Line]]] = {}
    sites = {message.id: message.site for _, message in history.messages}
    kinds = {message.id: message.type for _, message in history.messages}
    resumed = [said for said in history.said if said.type == "resume-site" and said.may_have_happened]
    said: dict[str, int] = {}
    for one in history.said:
        if one.done is not None and one.op == "ok":
            said[one.id] = min(one.done, said.get(one.id, one.done))
    for event, (heard, line) in _heard(history).items():
        at = min(heard, said.get(event, heard))
        if kinds[event] == "suspend-site":
            later = [one.invoked for one in resumed if one.site == sites[event] and _after(one.done, at)]
            spans.setdefault(sites[event], []).append((at, min(later, default=float("inf")), line))
    return spans


def _after(done: int | None, at: int) -> bool:
    return done is None or done > at


CHECKERS = (
    Checker("I1", ("origin",), single_flight, positive=True),
    Checker("I2", ("origin", "world"), pace, positive=True),
    Checker("I6", ("origin", "world"), scope, positive=True),
    Checker("I7", ("egress",), egress, positive=True),
    Checker("I14", ("origin", "commands", "topics", "clock"), suspension, positive=True),
)
