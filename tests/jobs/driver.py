"""Plays a site in virtual time: plan, intend, a handler's answer, absorb; and keeps what happened.

The real readers run in this process; only the network and the clock are played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import bots
from crawler.reading.bodies import read_page, read_robots, read_sitemap
from crawler.reading.marks import read_marks
from crawler.rules import jobs
from crawler.rules.actor import decide
from crawler.rules.jobs.answer import Read
from crawler.rules.parts import applied, parsed
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Change, Policy, Site
from crawler.rules.urls import site_key
from models.events import Fact
from models.mailbox import Message, Origin
from models.profile import Profile
from models.state import Head, Proof
from models.web import Kind, Lookup, Outcome, Reply, Request, Response

Answer = tuple[int, Mapping[str, str], bytes]
HTML = {"Content-Type": "text/html"}
TEXT = {"Content-Type": "text/plain"}


def page(text: str = "", *links: str) -> Answer:
    """An ordinary page with a text of its own."""
    anchors = "".join(f'<a href="{link}">{link}</a>' for link in links)
    said = (
        f"What stands here is about {text}, and about nothing else in the shop, however long one reads on."
        f" Whoever wants to know more of {text} may ask at the counter, where somebody who knows all about it is to be found."
    )
    body = f"<title>{text}</title><main><h1>{text}</h1><p>{said}</p>{anchors}</main>"
    return 200, HTML, body.encode()


def not_found(_path: str) -> Answer:
    """Nothing but 404s."""
    return 404, HTML, b"nothing here"


@dataclass
class Play:
    """One site, its history, and a virtual clock in seconds."""

    handler: Callable[[str], Answer | Outcome]
    policy: Policy = field(default_factory=lambda: Policy(bots.load("ema"), b"k" * 32))
    host: str = "shop.example"
    now: float = 1_800_000_000.0
    took: float = 0.1
    spent: bool = False
    """What intake says of the account's address checks (E07)."""
    resolve: Callable[[str, str], Reply] = lambda resolver, name: Reply(resolver, name, error="away")
    resolvers: tuple[str, ...] = ("one", "two")
    lookups: list[Lookup] = field(default_factory=list)
    requests: list[tuple[float, float, Request]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    contents: list[Any] = field(default_factory=list)
    records: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.site = Site(Head(site=site_key(self.host), partition=0))
        self._messages = 0

    @property
    def profile(self) -> Profile:
        return self.policy.profile

    def commit(self, change: Change) -> None:
        """As agents.sites does it, with the records kept, so that a restart can read them back."""
        self.facts += change.facts
        self.contents += change.contents
        for key, value in change.parts:
            if value is None:
                self.records.pop(key, None)
            else:
                self.records[key] = value
        self.site = applied(self.site, change)

    def restart(self) -> None:
        """Another owner: all that it has is what was written."""
        head = Head.model_validate_json(self.site.head.model_dump_json())
        self.site = parsed(head, self.records.get)

    def say(self, kind: str, message_id: str = "", path: str = "/", **data: Any) -> None:
        """A message to the site; `path` is that of the address that it names."""
        self._messages += 1
        message = Message.model_validate(
            {
                "id": message_id or f"00000000-0000-0000-0000-{self._messages:012d}",
                "type": kind,
                "site": self.site.head.site,
                "host": self.host,
                "start": f"https://{self.host}{path}",
                "origin": Origin(topic="t", partition=0, offset=self._messages),
                "said_at": self.now,
                "account_spent": self.spent,
                "data": {"account": "acme", "address": self.host, "by": "ann", "reason": "so", **data},
            }
        )
        self.messages.append(message)
        self.hear(message)

    def hear(self, message: Message) -> None:
        """One message, perhaps again."""
        self.commit(decide(self.site, message, self.now, self.policy))

    def verify(self, account: str = "acme") -> None:
        """Put a proof on file without asking anybody."""
        proof = Proof(method="token_file", host=self.host, at=self.now)
        held = {"host": self.host, "start": f"https://{self.host}/", "proof": proof}
        accounts = {**self.site.head.accounts, account: {**held}}
        head = Head.model_validate({**self.site.head.model_dump(), "accounts": accounts})
        self.site = replace(self.site, head=head)

    def step(self) -> bool:
        """One request, at the earliest moment that the pace allows; False when there is nothing to do."""
        while True:
            if left := jobs.left_open(self.site, ()):
                self.commit(jobs.interrupted(self.site, left, self.now, self.policy))
            plan = jobs.plan(self.site, self.now, self.policy)
            if isinstance(plan, jobs.Idle):
                if plan.wait is None:
                    return False
                self.now += plan.wait
            elif isinstance(plan, jobs.Done):
                self.commit(plan.change)
            else:
                self.now = max(self.now, self.site.head.last_end + self.site.head.wait)
                self.send(plan)
                return True

    def send(self, plan: jobs.Send) -> None:
        """Intent, answer, absorb."""
        intended = jobs.intend(self.site, plan, "w", self.now)
        self.commit(intended.change)
        if isinstance(plan.request, Lookup):
            self.lookups.append(plan.request)
            names = plan.request.names
            replies = tuple(self.resolve(resolver, name) for resolver in self.resolvers for name in names)
            response = Response(Outcome.OK, self.now, self.now + 0.1, 0.1, replies=replies)
            self.commit(jobs.absorb(self.site, intended.intent, plan.ask, response, None, self.policy))
            return
        response = self.answer(plan.request)
        self.requests.append((response.started_at, response.ended_at, plan.request))
        self.now = response.ended_at
        read = self.read(plan, response)
        self.commit(jobs.absorb(self.site, intended.intent, plan.ask, response, read, self.policy))

    def answer(self, request: Request) -> Response:
        """The handler's answer, with the outcome that the fetcher would give it."""
        said = self.handler(request.url.removeprefix(f"https://{self.host}"))
        started, ended = self.now, self.now + self.took
        if isinstance(said, Outcome):
            return Response(said, started, ended, self.took)
        status, headers, body = said
        outcome = _outcome(status)
        media = dict(headers).get("Content-Type", "").split(";")[0]
        if outcome is Outcome.OK and request.media_types is not None and media not in request.media_types:
            outcome = Outcome.REFUSED_TYPE
        if outcome is Outcome.OK and len(body) > request.max_bytes:
            outcome, body = (Outcome.OK, body[: request.max_bytes]) if request.truncate else (Outcome.TOO_LARGE, b"")
        return Response(outcome, started, ended, self.took, status, tuple(dict(headers).items()), body)

    def read(self, plan: jobs.Send, response: Response) -> Read:
        """The readers that the child process runs."""
        url, kind = plan.request.url, plan.request.kind
        if kind is Kind.ROBOTS:
            first = f"https://{plan.host}/robots.txt"
            stored = read_robots(response, url, first, plan.ask.hops, self.profile)
            return stored if isinstance(stored, str) else Verdict.from_bytes(stored)
        if response.outcome is not Outcome.OK:
            return None
        if kind is Kind.PAGE:
            return read_page(response, url, self.profile.identity.token)
        if kind is Kind.HOMEPAGE_PROOF and self.profile.proofs.page is not None:
            return read_marks(response.body, response.header("Content-Type"), self.profile.proofs.page.meta)
        if kind is Kind.SITEMAP:
            return read_sitemap(response.body, plan.host, self.profile)
        return None

    def run(self, most: int = 1000) -> None:
        """Until nothing is left to do."""
        for _ in range(most):
            if not self.step():
                return
        raise AssertionError(f"still busy after {most} requests")

    def crawl(self) -> Fact:
        """A verified account's crawl, to its end; the fact that ended it."""
        self.verify()
        self.say("crawl-requested", requester="customer")
        self.run()
        return self.of("crawl-ended")[-1]

    def of(self, kind: str) -> list[Any]:
        """The facts of one type."""
        return [fact for fact in self.facts if fact.type == kind]  # type: ignore[attr-defined]

    def asked(self, kind: Kind | None = None) -> list[str]:
        """The paths that were asked for, in order."""
        home = f"https://{self.host}"
        return [r.url.removeprefix(home) for _, _, r in self.requests if kind is None or r.kind is kind]


def _outcome(status: int) -> Outcome:
    if status in (429, 503):
        return Outcome.RATE_LIMITED
    if status in (301, 302, 303, 307, 308):
        return Outcome.REDIRECTED
    kinds = {2: Outcome.OK, 4: Outcome.HTTP_4XX, 5: Outcome.HTTP_5XX}
    return kinds.get(status // 100, Outcome.HTTP_OTHER)
