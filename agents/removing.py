"""The pages above the standard limit, removed at the end of a crawl whose proof was found absent (C06).

The audit row of that crawl says how many the account may hold; everything else follows from the rows, so the rule can
be applied again whenever pages come late or twice. What was beyond the limit once is beyond it with more pages there,
too: the same pages are left, however the facts are ordered (F31).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, Table, delete, literal, select
from sqlalchemy.dialects.postgresql import insert

from models.tables import Crawl, Page, Removal


def remove_above(connection: Connection, sites: Collection[str]) -> int:
    """Apply the rule to what is held of `sites`. Gives the number of pages that were removed."""
    ended = select(Crawl.__table__).where(Crawl.site.in_(sorted(sites)), Crawl.remove_above.is_not(None))
    ended = ended.where(Crawl.account.is_not(None)).order_by(Crawl.terminal_at)
    rows = [dict(row) for row in connection.execute(ended).mappings()]
    return sum(_removed(connection, row) for row in rows)


def _removed(connection: Connection, ended: dict[str, Any]) -> int:
    """One crawl's: pages of newer crawls stay before older ones, then the priority decides. Pairs go with their page.

    An order of pages, and not of URLs: it holds for each page whatever else is there.
    """
    gone = select(literal(ended["crawl"]).label("crawl"), Page.page_id, Page.site, Page.url_id, Page.rank)
    gone = gone.join(Crawl, Crawl.crawl == Page.crawl)
    gone = gone.where(Page.site == ended["site"], Crawl.account == ended["account"])
    gone = gone.where(Page.fetched_at <= ended["terminal_at"], Page.pairs_only.is_(False))
    order = (Crawl.requested_at.desc(), Crawl.crawl, Page.rank, Page.page_id)
    pages = connection.execute(gone.order_by(*order).offset(ended["remove_above"])).mappings().all()
    if pages:
        table = Removal.__table__
        assert isinstance(table, Table)
        connection.execute(insert(table).on_conflict_do_nothing(), [dict(page) for page in pages])
        connection.execute(delete(Page).where(Page.page_id.in_([page["page_id"] for page in pages])))
    return len(pages)
