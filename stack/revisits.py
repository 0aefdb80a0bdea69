"""How each page that is held is asked for again (W09), read from the database for `stack.restore` (A03)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Select, func, select
from sqlalchemy.orm import aliased

from crawler.rules.validators import MOST
from models.state import Validator
from models.tables import Crawl, Fetch, Page, Pair, Sighting

PORTION = 150_000
"""Bytes of validators in one message; the mailbox reads no message above 256 KiB."""
GOOD = ("ok", "not_modified")
"""Outcomes after which the stored text is what the site says."""


def known(connection: Connection) -> dict[str, list[Validator]]:
    """Site -> the validators of its pages, those that were seen last at the end."""
    sites: defaultdict[str, list[Validator]] = defaultdict(list)
    for row in connection.execute(_conditional()).mappings():
        sites[row["site"]].append(
            Validator(
                account=row["account"], url=row["url"], etag=row["etag"], modified=row["last_modified"],
                crawl=str(row["crawl"]), at=row["at"].timestamp(), pairs=row["pairs"],
                fingerprint=row["fingerprint"], links=tuple(row["links"]),
            )
        )  # fmt: skip
    return dict(sites)


def _conditional() -> Select[Any]:
    """The newest text of each URL for each account, unless the URL's last reading was no success."""
    page = _held().subquery()
    asked, crawl = aliased(Fetch), aliased(Crawl)
    failed = select(asked.id).join(crawl, crawl.crawl == asked.job)
    failed = failed.where(
        crawl.account == page.c.account, func.coalesce(crawl.kind, "crawl") == "crawl",
        asked.url_id == page.c.url_id, asked.kind == "page", asked.sent, asked.final,
        asked.ended_at > page.c.at, asked.outcome.not_in(GOOD),
    )  # fmt: skip
    query = select(page).where(page.c.place == 1, page.c.links.is_not(None), ~failed.exists())
    return query.where(page.c.etag.is_not(None) | page.c.last_modified.is_not(None)).order_by(page.c.at, page.c.url)


def _held() -> Select[Any]:
    """Every text that is held, and its `place` among those of its URL: 1 is the newest."""
    seen = select(Sighting.page_id, func.max(Sighting.at).label("at")).group_by(Sighting.page_id).subquery()
    newest_first = (Page.fetched_at.desc(), Page.page_id)
    place = func.row_number().over(partition_by=(Crawl.account, Page.url_id), order_by=newest_first)
    pairs = select(func.count()).where(Pair.page_id == Page.page_id).scalar_subquery()
    validators = (Page.etag, Page.last_modified, Page.fingerprint, Page.links)
    query = select(
        Crawl.account, Page.site, Page.url, Page.url_id, Page.crawl, *validators, pairs.label("pairs"),
        func.coalesce(seen.c.at, Page.fetched_at).label("at"), place.label("place"),
    )  # fmt: skip
    query = query.join(Crawl, Crawl.crawl == Page.crawl).outerjoin(seen, seen.c.page_id == Page.page_id)
    return query.where(Crawl.account.is_not(None), Page.pairs_only.is_(False))


def portions(validators: list[Validator]) -> list[tuple[Validator, ...]]:
    """As many as fit into a message each; those that were seen last, when there are more than a memory takes."""
    found: list[list[Validator]] = []
    room = 0
    for one in validators[-MOST:]:
        size = len(one.model_dump_json().encode())
        if size > room:
            found.append([])
            room = PORTION
        found[-1].append(one)
        room -= size
    return [tuple(some) for some in found]
