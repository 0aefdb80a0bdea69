"""A whole small history of one site, as facts, and what a database holds of it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, select

from agents.projection import project
from models import events, ids
from models.events import Fact
from models.tables import Base

SITE, ACCOUNT, START = "shop.test", "acme", 1_700_000_000.0
CRAWL = ids.job_id("crawl", "request-1")
REFUSED = ids.job_id("crawl", "request-2")
URLS = tuple(f"https://shop.test/{name}" for name in ("", "hours", "returns"))


def page(url: str, crawl: str = CRAWL, text: str = "We open at nine.", at: float = START + 50, **more: Any) -> Fact:
    pairs = ({"id": "q1", "question": "When?", "answer": text, "source": "details"},)
    defaults: dict[str, Any] = {
        "title": "Shop", "description": "", "language": "en", "text": text, "pairs": pairs,
        "facts": ({"@type": "Store"},), "signals": {"tdm": "0"}, "sha256": ids.url_id(text),
    }  # fmt: skip
    values = {**defaults, **more}
    return events.PageFetched(id=ids.page_id(crawl, url), at=at, site=SITE, crawl=crawl, url=url, **values)


def request(number: int, url: str, kind: str = "page", **more: Any) -> events.RequestEnded:
    defaults: dict[str, Any] = {"outcome": "ok", "status": 200, "bytes": 500, "wire_bytes": 300, "worker": "w1"}
    values = {**defaults, **more}
    at = START + 20 + number
    return events.RequestEnded(
        id=ids.event_id(CRAWL, "request", number), at=at + 0.2, site=SITE, job=CRAWL, number=number, kind=kind,
        method="GET", url_id=ids.url_id(url), attempt=1, sent=True, started_at=at, ended_at=at + 0.2, **values,
    )  # fmt: skip


def decided(crawl: str = CRAWL, *, accepted: bool = True, refusal: Any = None) -> events.CrawlDecided:
    return events.CrawlDecided(
        id=ids.event_id(crawl, "decided"), at=START + 20, site=SITE, crawl=crawl, account=ACCOUNT,
        host="www.shop.test", requester="customer", requested_by="ann", requested_at=START + 19.5,
        accepted=accepted, refusal=refusal, verified=accepted, proof="token_file" if accepted else None,
        verified_at=START + 10 if accepted else None, bot="ema",
    )  # fmt: skip


def ended(end: events.CrawlEnd = "completed", at: float = START + 60, pages: int = 3) -> events.CrawlEnded:
    return events.CrawlEnded(
        id=ids.event_id(CRAWL, "ended"), at=at, site=SITE, crawl=CRAWL, end=end, pages=pages, pairs=3,
        requests={"page": 3, "robots": 1}, outcomes={"ok": 4}, left=0,
    )  # fmt: skip


def history() -> list[Fact]:
    """Everything that can happen to a site, once."""
    own: dict[str, Any] = {"site": SITE, "account": ACCOUNT}
    check, proof = ids.job_id("check", "save-1"), ids.job_id("verification", "verify-1")
    facts: list[Fact] = [
        events.SettingsSaved(
            id="s1", at=START, host="shop.test", start=URLS[0], note=None, scope=None, schedule=True, **own
        ),
        events.SettingsSaved(
            id="s2", at=START + 1, host="www.shop.test", start=URLS[0], note="site=shop.test", scope=(URLS[1],),
            schedule=False, refused={"note": "it is too long"}, **own,
        ),
        events.AddressChecked(id="a1", at=START + 2, job=check, host="shop.test", answers=True, status=404,
                              outcome="http_4xx", **own),
        events.VerificationFailed(id="v0", at=START + 5, job=proof, host="shop.test", method="token_file",
                                  result="absent", reason="404", **own),
        events.Verified(id="v1", at=START + 10, job=proof, host=SITE, method="token_file", weaker=False, **own),
        events.Verified(id="v2", at=START + 11, host="shop.test", method="attestation", weaker=True, by="ann",
                        kept_at="drawer 3", **own),
        events.VerificationWithdrawn(id="v3", at=START + 12, by="ann", reason="sold", **own),
        decided(),
        decided(REFUSED, accepted=False, refusal="unverified"),
        events.RobotsDecided(id="r1", at=START + 21, site=SITE, crawl=CRAWL, verdict="rules", reason="200",
                             sha256="ab", crawl_delay=2.5, sitemaps=1),
        request(1, "https://shop.test/robots.txt", "robots"),
        ended(),
        events.Suspended(id="x1", at=START + 70, site=SITE, by="ann", reason="asked by mail"),
        events.Resumed(id="x2", at=START + 80, site=SITE, by="bob", reason="settled"),
        *[
            kind(id=f"y{n}", at=START + 81 + n, site=SITE, by="bob", reason="so")
            for n, kind in enumerate((events.Blocked, events.Unblocked, events.Listed, events.Unlisted))
        ],
        events.SiteConfirmed(id="c1", at=START + 9, by="carl", **own),
        events.ProofRechecked(id="p1", at=START + 22, site=SITE, crawl=CRAWL, account=ACCOUNT, host=SITE, method="dns",
                              result="absent", reason="no TXT record", page_limit=25),
        events.StopRequested(id="t1", at=START + 69, site=SITE, stop_request="mail-7", received_at=START + 60,
                             due_at=START + 86_400, from_whom="the owner", channel="mail", by="ann"),
        events.StopDone(id="t2", at=START + 70, site=SITE, stop_request="mail-7", by="ann"),
        events.StopConfirmed(id="t3", at=START + 75, site=SITE, stop_request="mail-7", by="bob"),
        events.SitePaused(id="w1", at=START + 40, site=SITE, until=START + 46, strikes=2),
        events.SitePaused(id="w2", at=START + 46, site=SITE, until=START + 58, strikes=3),
        events.PageUnchanged(id="u1", at=START + 80, site=SITE, crawl=REFUSED, url_id=ids.url_id(URLS[1]),
                             page_id=ids.page_id(CRAWL, URLS[1])),
        events.PagesListed(id="l1", at=START + 90, job=ids.job_id("listing", "list-1"), host=SITE, end="completed",
                           reason="1 pages found", pages=(events.ListedPage(url=URLS[1], title="Hours"),), **own),
    ]  # fmt: skip
    for number, url in enumerate(URLS, start=2):
        facts += [events.named(SITE, url, START + 20 + number), request(number, url), page(url)]
        facts.append(
            events.PageKept(
                id=ids.event_id(CRAWL, "kept", url),
                at=START + 50,
                site=SITE,
                crawl=CRAWL,
                url_id=ids.url_id(url),
                sha256="cd",
                characters=16,
                pairs=1,
                noindex=False,
            )
        )
    return facts


def apply(engine: Engine, facts: list[Fact], batch: int = 200) -> None:
    for first in range(0, len(facts), batch):
        with engine.begin() as connection:
            project(connection, facts[first : first + batch])


def dump(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, without the one column that is the database's own."""
    found = {}
    with engine.connect() as connection:
        for table in Base.metadata.sorted_tables:
            columns = [column for column in table.c if column.name != "inserted_at"]
            rows = connection.execute(select(*columns)).all()
            found[table.name] = sorted((tuple(row) for row in rows), key=repr)
    return found


def topic_of(fact: Fact) -> str:
    """Where a worker would have put it."""
    if isinstance(fact, events.PagesListed):
        return "pages-listed"
    return "page-fetched" if isinstance(fact, events.PageFetched | events.UrlNamed) else "site-events"
