"""Crawls as accounted for: budgets (I3), retries (I8), the audit (I9), the daily cap (I16), their end (I17)."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from models import ids
from models.profile import Profile
from tests.chaos.checkers.verdicts import Anomaly, Checker, anomaly, seconds, wall
from tests.chaos.history import CHANGELOG, History, Line

DRAINED = 60.0
"""Seconds after the last fault in which everything has to be quiet and ready (I17)."""
DEADLINE = 4 * 3600.0
ROUNDS = 2
"""robots.txt may be read again when the crawl moves to the www twin (RFC 9309 2.3)."""


def budget(history: History, profile: Profile) -> list[Anomaly]:
    """I3 (E18): requests of a crawl by kind, pages kept, and never more requests than intents."""
    limits = {
        "page": profile.budget.page_requests,
        "sitemap": profile.budget.sitemap_requests,
        "robots": ROUNDS * (1 + profile.robots.max_hops),
    }
    found = []
    sent = _sent(history)
    for line in history.rows("crawls"):
        row, crawl = line.data, line.data["crawl"]
        if (row.get("pages") or 0) > profile.budget.pages:
            found.append(anomaly("I3", f"crawl {crawl} kept {row['pages']} pages", line))
        for kind, most in limits.items():
            rows = [one for one in sent.get(crawl, ()) if one.data["kind"] == kind]
            number = max(len(rows), (row.get("requests") or {}).get(kind, 0))
            lost = sum(one.data["outcome"] == "interrupted" for one in rows) if kind == "robots" else 0
            if number > most + lost:
                found.append(anomaly("I3", f"crawl {crawl} made {number} requests of kind {kind}", line))
    return found + _kept(history, profile) + _beyond_budget(history, profile) + _without_intent(history)


def _sent(history: History) -> dict[str, list[Line]]:
    """Job -> its requests in order."""
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in history.rows("fetches"):
        if line.data["sent"]:
            found[line.data["job"]].append(line)
    for lines in found.values():
        lines.sort(key=lambda line: line.data["number"])
    return dict(found)


def _kept(history: History, profile: Profile) -> list[Anomaly]:
    pages = Counter(line.data["crawl"] for line in history.rows("pages"))
    return [
        anomaly("I3", f"crawl {crawl} has {number} pages stored")
        for crawl, number in pages.items()
        if number > profile.budget.pages
    ]


def _beyond_budget(history: History, profile: Profile) -> list[Anomaly]:
    """The origin's own count: page requests of a site against its accepted crawls."""
    accepted = Counter(line.data["site"] for line in history.rows("crawls") if line.get("accepted"))
    found = []
    for site, requests in history.by_site.items():
        pages = [one for one in requests if one.kind == "page"]
        most = profile.budget.page_requests * accepted[site]
        if len(pages) > most:
            what = f"{len(pages)} page requests at {site} for {accepted[site]} accepted crawls"
            found.append(anomaly("I3", what, pages[-1].line))
    return found


def _without_intent(history: History) -> list[Anomaly]:
    """Requests <= acknowledged intents, site by site; only a changelog that is whole can say so."""
    if not _whole(history.topic(CHANGELOG)):
        return []
    intents: defaultdict[str, set[str]] = defaultdict(set)
    for _, head in history.heads:
        intents[head.site] |= {intent.id for intent in head.intents}
    return [
        anomaly("I3", f"{len(requests)} requests at {site}, {len(intents[site])} intents", requests[-1].line)
        for site, requests in history.by_site.items()
        if len(requests) > len(intents[site])
    ]


def _whole(records: list[Line]) -> bool:
    """Every partition from offset 0 without a hole: nothing was compacted away."""
    offsets: defaultdict[int, list[int]] = defaultdict(list)
    for line in records:
        offsets[line.data["partition"]].append(line.data["offset"])
    return bool(offsets) and all(found == list(range(len(found))) for found in offsets.values())


def retries(history: History, profile: Profile) -> list[Anomaly]:
    """I8 (E19): a URL is asked again only after 429 or 503, or when its answer was lost; waits double, up to 12 s."""
    found = []
    doubtful = _doubtful(history)
    for job, lines in _sent(history).items():
        urls: defaultdict[str, list[Line]] = defaultdict(list)
        for line in lines:
            urls[line.data["url_id"]].append(line)
        for tries in urls.values():
            found += _tries(job, tries, doubtful, profile)
    return found


def _tries(job: str, tries: list[Line], doubtful: set[str], profile: Profile) -> list[Anomaly]:
    found = []
    refused = 0
    for line, then in itertools.pairwise(tries):
        outcome = line.data["outcome"]
        if outcome == "interrupted" or line.data["id"] in doubtful:
            continue
        if outcome != "rate_limited":
            found.append(anomaly("I8", f"job {job} asked again after {outcome}", line, then))
            continue
        least = min(profile.pace.crawl.delay * 2**refused, profile.refusal.wait_cap)
        refused += 1
        waited = wall(then.data["started_at"]) - wall(line.data["ended_at"])
        if waited < least:
            found.append(anomaly("I8", f"job {job} waited {waited:.3f} s after a refusal", line, then))
        if refused > profile.refusal.retries:
            found.append(anomaly("I8", f"job {job} asked again after {refused} refusals", line, then))
    return found


def _doubtful(history: History) -> set[str]:
    """Requests of which two different ends were told: the answer had been told when its worker was lost."""
    ends: defaultdict[str, set[str]] = defaultdict(set)
    for told in history.told("request-ended"):
        ends[told.fact.id].add(told.fact.outcome)
    return {fact for fact, outcomes in ends.items() if len(outcomes) > 1 and "interrupted" in outcomes}


def audit(history: History, profile: Profile) -> list[Anomaly]:
    """I9 (E23, A04): acknowledged requests for a crawl and audit rows, one to one; each row whole and counted."""
    rows = {line.data["crawl"]: line for line in history.rows("crawls")}
    asking = ("crawl-requested", "start-crawl")
    asked = {ids.job_id("crawl", said.id): said for said in history.said if said.type in asking}
    found = [
        anomaly("I9", f"crawl {crawl} was acknowledged and has no audit row", said.line)
        for crawl, said in asked.items()
        if said.op == "ok" and crawl not in rows
    ]
    if len(rows) != len(history.rows("crawls")):
        found.append(anomaly("I9", "a crawl has two audit rows", *history.rows("crawls")))
    for crawl, line in rows.items():
        if crawl not in asked or not asked[crawl].may_have_happened:
            found.append(anomaly("I9", f"crawl {crawl} was asked for by nobody", line))
        found += _row(line)
    return found + _terminals(history, rows) + _counts(history) + _outcomes(history)


def _row(line: Line) -> list[Anomaly]:
    """E23: who, when, for whom, on what proof, and how it ended."""
    row = line.data
    named = ("site", "account", "host", "requester", "requested_at", "decided_at", "bot")
    lacking = [name for name in named if row.get(name) in (None, "")]
    if row.get("accepted"):
        more = ("proof", "verified_at", "terminal_kind", "terminal_at")
        lacking += [name for name in more if row.get(name) is None]
    elif row.get("accepted") is False and row.get("terminal_kind") != f"refused_{row.get('refusal')}":
        lacking.append("the refusal as its end")
    return [anomaly("I9", f"the row of crawl {row['crawl']} lacks {', '.join(lacking)}", line)] if lacking else []


def _terminals(history: History, rows: dict[str, Line]) -> list[Anomaly]:
    """One terminal state for each crawl: every copy of its end says the same end; and the row says it too."""
    ends: defaultdict[str, list[object]] = defaultdict(list)
    found = []
    for told in history.told("crawl-ended"):
        fact = told.fact
        others = ends[fact.crawl]
        if any(other.fact.id != fact.id or other.fact.end != fact.end for other in others):  # type: ignore[attr-defined]
            found.append(anomaly("I9", f"crawl {fact.crawl} ended twice", *(o.line for o in others), told.line))  # type: ignore[attr-defined]
        others.append(told)
        row = rows.get(fact.crawl)
        if row is None or (row.get("terminal_kind") is not None and row.get("terminal_kind") != fact.end):
            found.append(anomaly("I9", f"the row of crawl {fact.crawl} does not say {fact.end}", row, told.line))
    for crawl, line in rows.items():
        if line.get("accepted") and line.get("terminal_kind") is not None and crawl not in ends:
            found.append(anomaly("I9", f"crawl {crawl} has an end that no fact tells", line))
    return found


def _counts(history: History) -> list[Anomaly]:
    """Site by site and kind by kind, what was recorded as sent is what arrived; an interrupted one may have."""
    least: Counter[tuple[str, str]] = Counter()
    most: Counter[tuple[str, str]] = Counter()
    unsure = ("interrupted", "timeout", "connect", "tls", "dns", "protocol", "refused_address")
    rows: dict[tuple[str, str], Line] = {}
    for line in history.rows("fetches"):
        if line.data["sent"] and line.data["kind"] != "dns_proof":  # asked of a resolver, not of the site
            key = (line.data["site"], line.data["kind"])
            rows[key] = line
            most[key] += 1
            least[key] += line.data["outcome"] not in unsure
    arrived = Counter((request.site, request.kind) for request in history.requests)
    last = {(request.site, request.kind): request.line for request in history.requests}
    found = []
    for key in sorted(set(most) | set(arrived)):
        if not least[key] <= arrived[key] <= most[key]:
            what = f"{arrived[key]} requests of kind {key[1]} at {key[0]}, recorded {least[key]} to {most[key]}"
            found.append(anomaly("I9", what, last.get(key), rows.get(key)))
    return found


def _outcomes(history: History) -> list[Anomaly]:
    """A04: each URL that a crawl took up has its one outcome: the final row of the highest number (docs/outcomes.md).

    Another may stand beside it only where an answer had been told when its worker was lost.
    """
    doubtful = _doubtful(history)
    ended = {line.data["crawl"] for line in history.rows("crawls") if line.get("terminal_kind")}
    urls: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in history.rows("fetches"):
        urls[line.data["job"], line.data["url_id"]].append(line)
    found = []
    for (job, url), lines in urls.items():
        final = sorted((line for line in lines if line.data["final"]), key=lambda line: int(line.data["number"]))
        if job in ended and not final:
            found.append(anomaly("I9", f"{url[:12]} of crawl {job} has no outcome", *lines))
        if any(line.data["id"] not in doubtful for line in _overruled(final)):
            found.append(anomaly("I9", f"{url[:12]} of job {job} has {len(final)} outcomes", *final))
    return found


def _overruled(final: list[Line]) -> list[Line]:
    """Answers beside the outcome that counts. Where at last nothing was asked (number 0), that is all of them."""
    asked = [line for line in final if line.data["number"]]
    return asked if len(asked) < len(final) else asked[:-1]


def caps(history: History, profile: Profile) -> list[Anomaly]:
    """I16 (E21): customers' and scheduled crawls of a site and UTC day that were accepted."""
    days: defaultdict[tuple[str, str], list[Line]] = defaultdict(list)
    for line in history.rows("crawls"):
        if line.get("accepted") and line.get("requester") != "staff":
            day = datetime.fromtimestamp(wall(line.data["requested_at"]), UTC).date().isoformat()
            days[line.data["site"], day].append(line)
    cap = profile.gate.customer_starts_per_day
    return [
        anomaly("I16", f"{len(lines)} crawls of {site} on {day}", *lines)
        for (site, day), lines in days.items()
        if cap is not None and len(lines) > cap
    ]


def liveness(history: History, profile: Profile) -> list[Anomaly]:
    """I17: every accepted crawl ends by its deadline; after the last fault all is quiet and ready within a minute."""
    found = []
    for line in history.rows("crawls"):
        if line.get("accepted"):
            if line.get("terminal_at") is None:
                found.append(anomaly("I17", f"crawl {line.data['crawl']} never ended", line))
            elif wall(line.data["terminal_at"]) - wall(line.data["decided_at"]) > DEADLINE + 60:
                found.append(anomaly("I17", f"crawl {line.data['crawl']} ended after its deadline", line))
    heals = [line for line in history.of("nemesis") if line.get("event") == "heal"]
    quiet = [line for line in history.of("final") if line.get("event") == "quiet"]
    return found + _quiet(heals, quiet)


def _quiet(heals: Iterable[Line], quiet: Iterable[Line]) -> list[Anomaly]:
    found = []
    for heal in list(heals)[-1:]:
        since = [line for line in quiet if line.data["at"] >= heal.data["at"]]
        calm = [line for line in since if line.get("ready") and not line.get("lag")]
        first = min(calm, key=lambda line: int(line.data["at"]), default=None)
        if first is None or seconds(first.data["at"] - heal.data["at"]) > DRAINED:
            found.append(anomaly("I17", "not quiet and ready a minute after the last fault", heal, first))
    return found


CHECKERS = (
    Checker("I3", ("origin", "database", "topics"), budget),
    Checker("I8", ("database", "topics"), retries),
    Checker("I9", ("origin", "client", "commands", "topics", "database"), audit),
    Checker("I16", ("database",), caps),
    Checker("I17", ("database", "nemesis", "final"), liveness),
)
