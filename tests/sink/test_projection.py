"""Whatever is repeated, reordered or cut into batches: the same rows."""

from __future__ import annotations

import random
import threading
import uuid
from datetime import timedelta

import pytest
from sqlalchemy import Engine, delete, insert, select, text, update
from sqlalchemy.exc import DBAPIError, IntegrityError

from agents.projection import gather, project
from agents.rows import when
from models import events, ids, tables
from models.tables import Crawl, Erasure, Fetch, Page, Pair, Settings, Url, Verification
from tests.sink.histories import (
    ACCOUNT,
    CRAWL,
    REFUSED,
    SITE,
    START,
    URLS,
    apply,
    decided,
    dump,
    ended,
    history,
    page,
)


def test_a_history_fills_every_table(engine: Engine) -> None:
    apply(engine, history())
    sizes = {name: len(rows) for name, rows in dump(engine).items()}
    assert sizes == {
        "sites": 1, "events": 32, "settings": 1, "address_checks": 1, "verifications": 5, "suspensions": 6,
            "confirmations": 1, "listings": 1, "pauses": 1, "stop_requests": 1,
        "crawls": 2, "fetches": 4, "digests": 3, "urls": 3, "pages": 3, "pairs": 3, "erasures": 0, "removals": 0,
        "sightings": 1,
    }  # fmt: skip


def test_E23_the_audit_row_says_when_who_host_proof_and_end(engine: Engine) -> None:
    apply(engine, history())
    with engine.connect() as connection:
        row = connection.execute(select(Crawl.__table__).where(Crawl.crawl == uuid.UUID(CRAWL))).one()
    assert (row.account, row.host, row.requester, row.requested_by) == (ACCOUNT, "www.shop.test", "customer", "ann")
    assert (row.verified, row.proof, row.verified_at) == (True, "token_file", when(START + 10))
    assert (row.requested_at, row.robots, row.crawl_delay) == (when(START + 19.5), "rules", 2.5)
    assert (row.terminal_kind, row.terminal_at, row.pages) == ("completed", when(START + 60), 3)
    assert row.requests == {"page": 3, "robots": 1}


def test_E23_a_refused_request_has_its_terminal_row_too(engine: Engine) -> None:
    apply(engine, history())
    with engine.connect() as connection:
        row = connection.execute(select(Crawl.__table__).where(Crawl.crawl == uuid.UUID(REFUSED))).one()
    assert (row.accepted, row.refusal, row.verified) == (False, "unverified", False)
    assert (row.terminal_kind, row.terminal_at) == ("refused_unverified", row.decided_at)


def test_F30_every_fact_twice_in_one_batch_and_once_more(engine: Engine) -> None:
    apply(engine, history())
    once = dump(engine)
    doubled = [fact for fact in history() for _ in (1, 2)]
    apply(engine, doubled)
    apply(engine, history(), batch=1)
    assert dump(engine) == once


@pytest.mark.parametrize("seed", range(12))
def test_F31_facts_in_any_order_and_batch_size(engine: Engine, seed: int) -> None:
    apply(engine, history())
    expected = dump(engine)
    with engine.begin() as connection:
        connection.execute(text("SET session_replication_role = replica"))  # the guards are not what is tested here
        for table in reversed(tables.Base.metadata.sorted_tables):
            connection.execute(delete(table))
        connection.execute(text("SET session_replication_role = origin"))
    shuffled = history() * 2
    dice = random.Random(seed)
    dice.shuffle(shuffled)
    apply(engine, shuffled, batch=dice.choice((1, 2, 3, 7, 200)))
    assert dump(engine) == expected


def test_F31_an_end_before_its_decision_keeps_both(engine: Engine) -> None:
    apply(engine, [ended(), decided()], batch=1)
    with engine.connect() as connection:
        row = connection.execute(select(Crawl.__table__)).one()
    assert (row.terminal_kind, row.accepted) == ("completed", True)


def test_A04_the_first_end_stands_against_a_later_one(engine: Engine) -> None:
    apply(engine, [decided(), ended("completed"), ended("failed", at=START + 99)], batch=1)
    with engine.connect() as connection:
        assert connection.execute(select(Crawl.terminal_kind)).scalar_one() == "completed"


def test_the_first_copy_of_a_page_wins_with_its_pairs(engine: Engine) -> None:
    late = page(URLS[0], text="Another text", at=START + 999, pairs=tuple(
        {"id": f"z{n}", "question": f"z{n}", "answer": "z", "source": "dl"} for n in range(5)
    ))  # fmt: skip
    apply(engine, [page(URLS[0]), late], batch=1)
    with engine.connect() as connection:
        assert connection.execute(select(Page.text)).scalars().all() == ["We open at nine."]
        assert connection.execute(select(Pair.question)).scalars().all() == ["When?"]


def test_an_older_save_does_not_replace_a_newer_one(engine: Engine) -> None:
    facts = [fact for fact in history() if isinstance(fact, events.SettingsSaved)]
    apply(engine, facts[::-1], batch=1)
    with engine.connect() as connection:
        row = connection.execute(select(Settings.__table__)).one()
    assert (row.fact, row.scope, row.refused) == ("s2", [URLS[1]], {"note": "it is too long"})


def test_one_key_is_written_once_a_batch() -> None:
    batch = gather(history() * 3)
    assert all(len(found) == len({tuple(row[k] for k in target.keys) for row in found.values()})
               for target, found in batch.items())  # fmt: skip


# --- what the database itself refuses


@pytest.mark.parametrize(
    "change",
    [
        update(Crawl).values(terminal_kind="failed"),
        update(Crawl).values(pages=99),
        update(Crawl).values(refusal="cap"),
        update(Crawl).values(verified=True),
        update(Crawl).values(robots="allow_all"),
        update(Crawl).values(site="other.test"),
        delete(Crawl),
        text("TRUNCATE crawls"),
        update(Verification).values(kind="verified"),
        delete(Fetch),
        text("TRUNCATE fetches"),
    ],
)
def test_E23_an_audit_row_cannot_be_changed_or_deleted(engine: Engine, change: object) -> None:
    apply(engine, history())
    with pytest.raises(DBAPIError, match=r"append-only|stands|has ended|never changes"), engine.begin() as connection:
        connection.execute(change)  # type: ignore[call-overload]


@pytest.mark.parametrize("missing", [{"by": None}, {"by": ""}, {"kept_at": None}, {"kept_at": ""}])
def test_E11_an_attestation_without_who_or_where_is_refused(engine: Engine, missing: dict[str, None]) -> None:
    values = {"by": "ann", "kept_at": "drawer 3", **missing}
    bad = events.Verified(id="v", at=START, site=SITE, account=ACCOUNT, host=SITE, method="attestation",
                          weaker=True, **values)  # fmt: skip
    with pytest.raises(IntegrityError, match="attested"), engine.begin() as connection:
        project(connection, [bad])


# --- erasure


def _erase(engine: Engine, at: float) -> None:
    with engine.begin() as connection:
        connection.execute(
            insert(Erasure).values(id=uuid.uuid4(), site=SITE, erased_at=when(at), by="ann", reason="asked")
        )


def test_E25_an_erasure_takes_the_content_and_leaves_the_audit(engine: Engine) -> None:
    apply(engine, history())
    before = dump(engine)
    _erase(engine, START + 500)
    after = dump(engine)
    assert {name for name in before if after[name] != before[name]} == {
        "pages",
        "pairs",
        "urls",
        "listings",
        "erasures",
    }
    assert after["pages"] == after["pairs"] == after["urls"] == after["listings"] == []


def test_E25_a_replay_does_not_bring_erased_content_back(engine: Engine) -> None:
    apply(engine, history())
    _erase(engine, START + 500)
    erased = dump(engine)
    apply(engine, history())
    assert dump(engine) == erased
    apply(engine, [page(URLS[0], crawl=ids.job_id("crawl", "later"), at=START + 501)])
    assert len(dump(engine)["pages"]) == len(dump(engine)["urls"]) == 1


def test_E25_an_erasure_waits_for_a_batch_that_has_read_the_ledger(engine: Engine) -> None:
    """Without the lock the batch would bring the page in after the deletion had looked for it."""
    with engine.begin() as connection:
        project(connection, [page(URLS[0])])
        eraser = threading.Thread(target=_erase, args=(engine, START + 500))
        eraser.start()
        eraser.join(timedelta(milliseconds=300).total_seconds())
        assert eraser.is_alive()
    eraser.join(10)
    with engine.connect() as connection:
        assert connection.execute(select(Page.page_id)).all() == connection.execute(select(Url.url_id)).all() == []
