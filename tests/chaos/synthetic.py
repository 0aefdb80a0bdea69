"""Valid histories, made up from a seed: what a run that keeps every promise may look like, faults and all.

Made from the models alone, without the rules and the agents, so that what the checkers believe is not what the
production code believes. Each has some sites with settings, proofs and crawls; answers of every kind; requests whose
answer was lost and that were made again; facts told twice; a suspension; poison; an erasure.
"""

from __future__ import annotations

import hashlib
import random
import uuid
from typing import Any

from models import events, ids, mailbox
from models.events import Fact
from models.state import Head, Intent, Job
from tests.chaos.history import CHANGELOG, SECOND, TOKEN_FILE
from tests.chaos.projecting import project

WALL = 1_800_000_000.0
UA = "EmaIngestBot/1.0 (+https://www.puglieseweb.com/crawler)"
Lines = dict[str, list[dict[str, Any]]]


def synthetic(seed: int) -> Lines:
    """The files of one run, by name."""
    return Maker(seed).lines()


class Maker:
    """Writes one history down as it would have happened. `now` is in seconds of the one clock."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 100.0
        self.files: Lines = {
            name: [] for name in ("client", "commands", "nemesis", "world", "origin", "topics", "final")
        }
        self.facts: list[Fact] = []
        self.contents: list[Fact] = []
        self._offsets: dict[str, int] = {}
        self._events = self._asked = 0

    def lines(self) -> Lines:
        """Everything, once."""
        sites = [f"s{number}.example" for number in range(self.random.randint(1, 3))]
        for site in sites:
            self.now = 100.0 + self.random.random()
            _Site(self, site).live()
        self._poison()
        return self._finished(sites)

    def _finished(self, sites: list[str]) -> Lines:
        rows = [
            {"table": table, "row": row}
            for table, found in project([*self.facts, *self.contents]).items()
            for row in found
        ]
        erased = f"{sites[0]}.gone"
        rows.append({"table": "erasures", "row": {"id": "1", "site": erased, "erased_at": WALL, "by": "ann"}})
        heal = 10_000 * SECOND
        self.files["nemesis"] += [{"at": SECOND, "event": "start", "fault": "kill", "target": "worker-1"}]
        self.files["nemesis"] += [{"at": heal, "event": "heal", "fault": "", "target": ""}]
        self.files["final"] += [{"event": "quiet", "at": heal + 20 * SECOND, "lag": 0, "ready": True}]
        return {
            **self.files,
            "origin": sorted(self.files["origin"], key=lambda line: (line["id"], line["ended"] is not None)),
            "clock": [{"monotonic": 0, "wall": WALL}],
            "database": rows,
            "replay": [{"table": row["table"], "row": dict(row["row"])} for row in rows],
            "egress": [],
        }

    # -- what observers write

    def record(
        self, topic: str, value: str, key: str = "", headers: dict[str, str] | None = None
    ) -> tuple[str, int, int]:
        """One record of partition 0."""
        offset = self._offsets.get(topic, 0)
        self._offsets[topic] = offset + 1
        at = int((WALL + self.now) * 1000)
        line = {"topic": topic, "partition": 0, "offset": offset, "timestamp": at, "key": key, "value": value}
        self.files["topics"].append({**line, "headers": headers or {}})
        return topic, 0, offset

    def tell(self, fact: Fact) -> None:
        """A fact, now and then twice."""
        again = 1 + (self.random.random() < 0.1)
        for _ in range(again):
            self.record("site-events", fact.model_dump_json(), fact.site)
        self.facts.append(fact)

    def content(self, content: Fact) -> None:
        """A page's text."""
        self.record("page-fetched", content.model_dump_json(), content.site)
        self.contents.append(content)

    def say(self, kind: str, site: str, topic: str = "", **data: str) -> str:
        """A client's event, taken in and put into the site's mailbox."""
        self._events += 1
        event = str(uuid.UUID(int=self._events))
        topic = topic or kind
        file = "commands" if topic == "operator-commands" else "client"
        line = {"id": event, "topic": topic, "type": kind, "site": site, "account": "acme", "requester": "customer"}
        at = int(self.now * SECOND)
        self.files[file] += [{"at": at, "op": "invoke", **line}, {"at": at + 5_000_000, "op": "ok", **line}]
        data = {"account": "acme", "address": site, **data}
        place = self.record(topic, f'{{"id":"{event}"}}')
        origin = mailbox.Origin(topic=place[0], partition=place[1], offset=place[2])
        message = mailbox.Message.model_validate(
            {
                "id": event, "type": kind, "site": site, "host": site, "start": f"https://{site}/", "origin": origin,
                "said_at": WALL + self.now, "data": data,
            }
        )  # fmt: skip
        self.now += 0.05
        for _ in range(1 + (self.random.random() < 0.1)):
            self.record("site-mailbox", message.model_dump_json(), site)
        return event

    def asked(self, site: str, target: str, status: int | None, takes: float, method: str = "GET") -> None:
        """A request at the origin, from now until `takes` later; without a status it was cut off."""
        self._asked += 1
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {site}\r\nUser-Agent: {UA}\r\nAccept: */*\r\nAccept-Encoding: gzip"
        )
        line: dict[str, Any] = {
            "id": self._asked, "connection": 1, "name": site, "method": method, "target": target, "head": head,
            "arrived": int(self.now * SECOND), "ended": None, "status": None, "sent": 0, "abandoned": False, "peer": "",
        }  # fmt: skip
        over = {"ended": int((self.now + takes) * SECOND), "status": status, "abandoned": status is None}
        self.files["origin"] += [{"event": "arrived", **line}, {"event": "ended", **line, **over}]

    def _poison(self) -> None:
        for value in ("not json", "{}", '{"id": 1}'):
            topic, partition, offset = self.record("crawl-requested", value)
            headers = {"topic": topic, "partition": str(partition), "offset": str(offset), "cause": "json"}
            self.record("dead-letters", value, f"{topic}/{partition}/{offset}", headers)


class _Site:
    """One site's part of the history."""

    def __init__(self, maker: Maker, name: str) -> None:
        self.make = maker
        self.name = name
        self.random = maker.random
        self.proved = 0.0

    @property
    def at(self) -> float:
        """The wall clock."""
        return WALL + self.make.now

    def live(self) -> None:
        """Saved, proved, crawled; perhaps refused, perhaps suspended."""
        self.make.files["world"].append({"site": self.name, "robots": 200, "disallow": ["/private/"]})
        self._saved()
        self._refused("unverified")
        self._verified()
        for _ in range(self.random.randint(1, 2)):
            self._crawl()
        if self.random.random() < 0.3:
            self._crawl(suspended=True)
            self._refused("suspended")

    def _job(self, kind: str, event: str) -> Job:
        return Job.model_validate(
            {
                "id": ids.job_id(kind, event), "kind": kind, "account": "acme", "host": self.name, "start": f"https://{self.name}/",
                "accepted_at": self.at, "deadline": self.at + 1000,
            }
        )  # fmt: skip

    def _request(self, job: Job, kind: str, target: str, outcome: str, status: int | None, **more: Any) -> Job:
        """Intent, request, record; then the pace."""
        method = "HEAD" if kind == "address_check" else "GET"
        url_id, attempt = ids.url_id(f"https://{self.name}{target}"), more.get("attempt", 1)
        requests = {**job.requests, kind: job.requests.get(kind, 0) + 1}
        job = job.model_copy(update={"number": job.number + 1, "requests": requests})
        intent = Intent(
            number=job.number, job=job.id, kind=kind, method=method, url_id=url_id, attempt=attempt, worker="w",
            at=self.at, timeout=30.0,
        )  # fmt: skip
        head = Head(site=self.name, partition=0, jobs=(job,), intents=(intent,))
        self.make.record(CHANGELOG, head.model_dump_json(), f"{self.name}|h")
        self.make.now += 0.01
        started, takes = self.at, self.random.choice((0.02, 0.2, 1.5))
        arrived = outcome != "interrupted" or self.random.random() < 0.7
        if arrived:
            self.make.asked(self.name, target, status, takes, method)
        self.make.now += takes + 0.01 if outcome != "interrupted" else 32.0
        self.make.tell(
            events.RequestEnded(
                id=ids.event_id(job.id, "request", job.number), at=self.at, site=self.name, job=job.id,
                number=job.number, kind=kind, method=method, url_id=url_id, attempt=attempt, sent=True,
                outcome=outcome, final=more.get("final", True), status=status, started_at=started, ended_at=self.at,
                worker="w",
            )
        )  # fmt: skip
        self.make.now += max(1.05, more.get("wait", 0.0)) + self.random.random()
        return job

    def _saved(self) -> None:
        job = self._job("check", self.make.say("address-saved", self.name))
        self._request(job, "address_check", "/", "ok", 200)
        self.make.tell(
            events.AddressChecked(
                id=ids.event_id(job.id, "ended"), at=self.at, site=self.name, job=job.id, account="acme",
                host=self.name, answers=True, status=200, outcome="ok",
            )
        )  # fmt: skip

    def _verified(self) -> None:
        job = self._job("verification", self.make.say("verification-requested", self.name))
        self._request(job, "token_file", TOKEN_FILE, "ok", 200)
        self.proved = self.at
        self.make.tell(
            events.Verified(
                id=ids.event_id(job.id, "ended"), at=self.at, site=self.name, job=job.id, account="acme",
                host=self.name, method="token_file", weaker=False,
            )
        )  # fmt: skip

    def _decided(self, crawl: str, refusal: Any) -> None:
        proved = bool(self.proved)
        self.make.tell(
            events.CrawlDecided(
                id=ids.event_id(crawl, "decided"), at=self.at, site=self.name, crawl=crawl, account="acme",
                host=self.name, requester="customer", requested_by="bob", requested_at=self.at - 0.05,
                accepted=refusal is None, refusal=refusal, verified=proved, proof="token_file" if proved else None,
                verified_at=self.proved or None, bot="ema",
            )
        )  # fmt: skip

    def _refused(self, why: str) -> None:
        self._decided(ids.job_id("crawl", self.make.say("crawl-requested", self.name)), why)
        self.make.now += 1.0

    def _crawl(self, suspended: bool = False) -> None:
        job = self._job("crawl", self.make.say("crawl-requested", self.name))
        self._decided(job.id, None)
        if self.random.random() < 0.3:
            job = self._request(job, "robots", "/robots.txt", "interrupted", None, final=False)
        job = self._request(job, "robots", "/robots.txt", "ok", 200)
        job = self._request(job, "sitemap", "/sitemap.xml", "http_4xx", 404)
        kept = 0
        for number in range(self.random.randint(1, 4)):
            job = self._page(job, f"/p/{number}")
            kept += 1
        job = self._request(job, "page", "/gone", "http_4xx", 404)
        self._denied(job)
        if suspended:
            self._suspended(job, kept)
        else:
            self._ended(job, "completed", kept)

    def _page(self, job: Job, target: str) -> Job:
        """Perhaps refused at first, perhaps cut short; then read and kept."""
        luck = self.random.random()
        if luck < 0.2:
            job = self._request(job, "page", target, "rate_limited", 503, final=False, wait=1.1)
        elif luck < 0.4:
            job = self._request(job, "page", target, "interrupted", None, final=False)
        before = self.make.now
        job = self._request(job, "page", target, "ok", 200)
        url, text = f"https://{self.name}{target}", f"The text of {target} at {before}."
        digest = hashlib.sha256(text.encode()).hexdigest()
        at = self.at
        self.make.content(
            events.PageFetched(
                id=ids.page_id(job.id, url), at=at, site=self.name, crawl=job.id, url=url, title="", description="",
                language="en", text=text, pairs=(), facts=(), sha256=digest,
            )
        )  # fmt: skip
        self.make.tell(
            events.PageKept(
                id=ids.event_id(ids.page_id(job.id, url), "kept"), at=at, site=self.name, crawl=job.id,
                url_id=ids.url_id(url), sha256=digest, characters=len(text), pairs=0, noindex=False,
            )
        )  # fmt: skip
        return job

    def _denied(self, job: Job) -> None:
        url_id = ids.url_id(f"https://{self.name}/private/x")
        self.make.tell(
            events.RequestEnded(
                id=ids.event_id(job.id, "unasked", url_id), at=self.at, site=self.name, job=job.id, number=0,
                kind="page", method="GET", url_id=url_id, attempt=0, sent=False, outcome="robots_denied",
                started_at=self.at, ended_at=self.at,
            )
        )  # fmt: skip

    def _ended(self, job: Job, end: Any, kept: int) -> None:
        self.make.tell(
            events.CrawlEnded(
                id=ids.event_id(job.id, "ended"), at=self.at, site=self.name, crawl=job.id, end=end, pages=kept,
                pairs=0, requests=job.requests, outcomes={},
            )
        )  # fmt: skip

    def _suspended(self, job: Job, kept: int) -> None:
        event = self.make.say("suspend-site", self.name, "operator-commands", by="ann", reason="told so")
        self.make.tell(
            events.Suspended(
                id=ids.event_id("suspended", event), at=self.at, site=self.name, by="ann", reason="told so"
            )
        )
        self._ended(job, "suspended", kept)
        self.make.now += 5.0
