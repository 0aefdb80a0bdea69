"""On what authority a site was asked (I4), and what its robots.txt allows (I5)."""

from __future__ import annotations

from collections import Counter

from models.profile import Profile
from tests.chaos.checkers.verdicts import Anomaly, Checker, anomaly, wall
from tests.chaos.history import History, Line, Request

PROOFS = ("address_check", "token_file")
CRAWLING = ("page", "sitemap", "robots")


def authority(history: History, profile: Profile) -> list[Anomaly]:
    """I4 (E05, E07): before a proof a site sees at most one HEAD for each save, and proof reads; nothing else."""
    found = []
    for site, requests in history.by_site.items():
        proved = _proved(history, requests, site)
        found += [
            anomaly("I4", f"{request.asked.target} of {site} before any proof", request.line)
            for request in requests
            if request.kind not in PROOFS and request.asked.arrived < proved
        ]
        found += _heads(history, site, requests)
        found += _proof_reads(history, site, requests, profile)
    return found + _decided(history)


def _proved(history: History, requests: list[Request], site: str) -> float:
    """The earliest moment at which a proof could be on file: a token file served, or staff's word."""
    times: list[float] = [
        request.asked.arrived for request in requests if request.kind == "token_file" and request.asked.status == 200
    ]
    times += [
        said.invoked
        for said in history.said
        if said.type == "attest-site" and said.site == site and said.may_have_happened
    ]
    return min(times, default=float("inf"))


def _heads(history: History, site: str, requests: list[Request]) -> list[Anomaly]:
    heads = [request for request in requests if request.kind == "address_check"]
    saves = {said.id for said in history.said if said.type == "address-saved" and said.site == site}
    again = _interrupted(history, site, "address_check")
    if len(heads) <= len(saves) + again:
        return []
    what = f"{len(heads)} HEADs at {site} for {len(saves)} saves and {again} interruptions"
    return [anomaly("I4", what, *(request.line for request in heads))]


def _proof_reads(history: History, site: str, requests: list[Request], profile: Profile) -> list[Anomaly]:
    reads = [request for request in requests if request.kind == "token_file"]
    asked = {said.id for said in history.said if said.type == "verification-requested" and said.site == site}
    hops = profile.proofs.file.max_redirects if profile.proofs.file else 0
    most = len(asked) * (1 + hops) + _interrupted(history, site, "token_file")
    if len(reads) <= most:
        return []
    return [anomaly("I4", f"{len(reads)} proof reads at {site}, at most {most}", *(one.line for one in reads))]


def _interrupted(history: History, site: str, kind: str) -> int:
    """Requests of a kind that were asked again because their first answer was lost."""
    lost = {
        told.fact.id
        for told in history.told("request-ended")
        if told.fact.site == site and told.fact.kind == kind and told.fact.outcome == "interrupted"
    }
    return len(lost)


def _decided(history: History) -> list[Anomaly]:
    """Every accepted crawl stands on a proof of its own account that was not withdrawn before."""
    found = []
    for line in history.rows("crawls"):
        row = line.data
        if not row.get("accepted"):
            continue
        proofs = [
            proof for proof in history.rows("verifications")
            if (proof.data["site"], proof.data["account"]) == (row["site"], row["account"])
            and proof.data["kind"] != "failed" and wall(proof.data["at"]) <= wall(row["decided_at"])
        ]  # fmt: skip
        latest = max(proofs, key=lambda proof: wall(proof.data["at"]), default=None)
        if latest is None or latest.data["kind"] != "verified" or not row.get("verified"):
            found.append(anomaly("I4", f"crawl {row['crawl']} was accepted without a proof", line, latest))
    return found


def robots(history: History, profile: Profile) -> list[Anomaly]:
    """I5 (E14, E15): robots.txt first and read; nothing that it denies; nothing at all when it is unreadable."""
    found = []
    served = {line.data["site"]: line for line in history.of("world")}
    for site, requests in history.by_site.items():
        rules = served.get(site)
        ends = [one.asked.ended for one in requests if one.kind == "robots" and one.asked.ended is not None]
        read = min(ends, default=float("inf"))
        for request in requests:
            if request.kind not in ("page", "sitemap"):
                continue
            if request.asked.arrived < read:
                found.append(anomaly("I5", f"{site}{request.asked.target} before robots.txt was read", request.line))
            if rules is not None and (why := _denied(request, rules)):
                found.append(anomaly("I5", f"{site}{request.asked.target}: {why}", rules, request.line))
    return found + _robots_first(history)


def _denied(request: Request, rules: Line) -> str:
    status = rules.get("robots", 200)
    if status not in (200, 404, 410):
        return f"robots.txt answers {status}"
    if status == 200:
        prefix = next((path for path in rules.get("disallow", ()) if request.asked.target.startswith(path)), None)
        return f"Disallow: {prefix}" if prefix else ""
    return ""


def _robots_first(history: History) -> list[Anomaly]:
    """In each crawl the first request is for robots.txt, and a crawl that it refused asks for nothing else."""
    found = []
    refused = {line.data["crawl"] for line in history.rows("crawls") if line.get("terminal_kind") == "refused_robots"}
    crawls: dict[str, list[Line]] = {}
    for line in history.rows("fetches"):
        if line.data["sent"] and line.data["kind"] in CRAWLING:
            crawls.setdefault(line.data["job"], []).append(line)
    for crawl, lines in crawls.items():
        lines.sort(key=lambda line: line.data["number"])
        kinds = Counter(line.data["kind"] for line in lines)
        if lines[0].data["kind"] != "robots":
            found.append(anomaly("I5", f"crawl {crawl} does not begin with robots.txt", lines[0]))
        if crawl in refused and set(kinds) != {"robots"}:
            found.append(anomaly("I5", f"crawl {crawl} went on without robots.txt", *lines))
    return found


CHECKERS = (
    Checker("I4", ("origin", "client", "commands", "topics", "database"), authority),
    Checker("I5", ("origin", "world", "database"), robots),
)
