"""The websites of the virtual world, and the fetcher that asks them: arrivals are logged as an origin logs them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from crawler.reading.bodies import read_robots, read_sitemap
from crawler.rules.jobs import Send
from crawler.rules.jobs.answer import Read
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Policy
from crawler.rules.tokens import token
from models.ids import url_id
from models.page import PageRead
from models.reading import Link, Reading
from models.web import Kind, Outcome, Request, Response
from tests.chaos.broker import NOBODY
from tests.chaos.history import SECOND, TOKEN_FILE
from tests.chaos.virtual import WALL, VirtualLoop, current
from tests.support.origin import Asked

WAY = 0.005
"""Seconds from a worker to the origin."""
Answer = tuple[int, str, bytes]


@dataclass
class Shop:
    """One site: its pages link onwards, a part is disallowed, one page is missing, some answers are slow."""

    name: str
    pages: int = 6
    robots: int = 200
    disallow: tuple[str, ...] = ("/private/",)
    busy: frozenset[int] = frozenset()
    """Pages that answer 503 the first time."""
    slow: dict[str, float] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def answer(self, target: str, key: bytes, at: float) -> Answer:
        """Status, media type and body."""
        self.asked[target] = self.asked.get(target, 0) + 1
        if target == TOKEN_FILE:
            return 200, "text/plain", f"ema-site-verification={token(key, 'ema', 'acme', self.name, at)}".encode()
        if target == "/robots.txt":
            rules = "".join(f"Disallow: {path}\n" for path in self.disallow)
            return self.robots, "text/plain", f"User-agent: *\n{rules}".encode()
        number = 0 if target == "/" else int(target[3:]) if target[3:].isdigit() else -1
        if number in self.busy and self.asked[target] == 1:
            return 503, "text/html", b""
        if not 0 <= number < self.pages:
            return 404, "text/html", b"nothing"
        return 200, "text/html", f"page {number} of {self.name}".encode()

    def links(self, target: str) -> list[str]:
        """What a page links to: the next three, one that is missing, one that is disallowed."""
        number = 0 if target == "/" else int(target[3:])
        onwards = [f"/p/{n}" for n in range(3 * number + 1, min(self.pages, 3 * number + 4))]
        return [*onwards, "/p/99", "/private/x"] if number == 0 else onwards


class Web:
    """All sites, and the log of what they were asked."""

    def __init__(self, loop: VirtualLoop, shops: list[Shop], policy: Policy, seed: int) -> None:
        self.loop = loop
        self.shops = {shop.name: shop for shop in shops}
        self.policy = policy
        self.asked: list[Asked] = []
        self.random = random.Random(seed)
        self.before_fetch: Callable[[], str] = lambda: ""

    async def fetch(self, request: Request) -> Response:
        """As crawler.fetch: always a response. The request travels whatever becomes of the process."""
        started = self.loop.now
        if self.before_fetch() == "fail":
            return Response(Outcome.CONNECT, WALL + started, WALL + self.loop.now, 0.0)
        answered: asyncio.Future[Answer] = self.loop.create_future()
        process = current()
        assert process is not None
        name, _, target = request.url.removeprefix("https://").partition("/")
        open_: list[Asked] = []
        gone = lambda: self.loop.call_later(WAY + 1e-6, self._over, open_, True, context=NOBODY)  # noqa: E731
        process.on_death.append(gone)
        hear = lambda answer: process.call(_heard, answered, answer)  # noqa: E731
        self.loop.call_later(WAY, self._arrived, request, name, f"/{target}", open_, hear, context=NOBODY)
        try:
            async with asyncio.timeout(request.timeout):
                status, media, body = await answered
        except TimeoutError:
            gone()
            return self._ended(Outcome.TIMEOUT, started)
        except asyncio.CancelledError:
            gone()
            raise
        finally:
            process.on_death.remove(gone)
        return self._ended(_outcome(status), started, status, (("Content-Type", media),), body)

    def _ended(self, outcome: Outcome, started: float, *more: object) -> Response:
        now = self.loop.now
        return Response(outcome, WALL + started, WALL + now, now - started, *more)  # type: ignore[arg-type]

    def _arrived(
        self, request: Request, name: str, target: str, open_: list[Asked], hear: Callable[[Answer], None]
    ) -> None:
        headers = "".join(f"{key}: {value}\r\n" for key, value in request.headers)
        head = f"{request.method} {target} HTTP/1.1\r\nHost: {name}\r\n{headers}"
        asked = Asked(len(self.asked) + 1, 0, name, request.method, target, head, int(self.loop.now * SECOND))
        self.asked.append(asked)
        open_.append(asked)
        shop = self.shops[asked.site]
        answer = shop.answer(target, self.policy.token_key, WALL + self.loop.now)
        takes = shop.slow.get(target) or self.random.choice((0.02, 0.1, 0.3))
        self.loop.call_later(takes, self._answered, asked, answer, hear, context=NOBODY)

    def _answered(self, asked: Asked, answer: Answer, hear: Callable[[Answer], None]) -> None:
        if asked.ended is None:
            asked.status = answer[0]
            self._over([asked], False)
            self.loop.call_later(WAY, hear, answer, context=NOBODY)

    def _over(self, open_: list[Asked], abandoned: bool) -> None:
        for asked in open_:
            if asked.ended is None:
                asked.ended, asked.abandoned = int(self.loop.now * SECOND), abandoned

    async def read(self, plan: Send, response: Response) -> Read:
        """As agents.reader, with the small readers in place and pages made up."""
        url, kind = plan.request.url, plan.request.kind
        if kind is Kind.ROBOTS:
            first = f"https://{plan.host}/robots.txt"
            stored = read_robots(response, url, first, plan.ask.hops, self.policy.profile)
            return stored if isinstance(stored, str) else Verdict.from_bytes(stored)
        if response.outcome is not Outcome.OK:
            return None
        if kind is Kind.SITEMAP:
            return read_sitemap(response.body, plan.host, self.policy.profile)
        if kind is not Kind.PAGE:
            return None
        name, _, target = url.removeprefix("https://").partition("/")
        links = tuple(Link(f"https://{name}{path}") for path in self.shops[name].links(f"/{target}"))
        text = response.body.decode()
        return PageRead(Reading(title=text, markdown=text, links=links), sha256=url_id(text))


def _heard(future: asyncio.Future[Answer], answer: Answer) -> None:
    if not future.done():
        future.set_result(answer)


def _outcome(status: int) -> Outcome:
    if status in (429, 503):
        return Outcome.RATE_LIMITED
    return {2: Outcome.OK, 4: Outcome.HTTP_4XX, 5: Outcome.HTTP_5XX}.get(status // 100, Outcome.HTTP_OTHER)
