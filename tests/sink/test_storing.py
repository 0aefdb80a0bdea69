"""A bad record is set aside alone; a database that is away loses nothing and sets nothing aside."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, create_engine, text

import migrations
from agents.dead_letters import DeadLetter
from agents.storing import DatabaseAwayError, Record, read, schema_problem, store
from models import events, ids
from models.database import make_engine
from models.events import Fact
from stack.net import free_port
from stack.postgres import Postgres
from tests.sink.histories import ACCOUNT, CRAWL, SITE, START, URLS, apply, dump, history, page, request, topic_of


def records(facts: list[Fact]) -> list[Record]:
    topics = [topic_of(fact) for fact in facts]
    return [
        Record(topic, 3, offset, START, events.dump(fact))
        for offset, (topic, fact) in enumerate(zip(topics, facts, strict=True))
    ]


def changed(fact: Fact, **values: Any) -> bytes:
    return orjson.dumps({**fact.model_dump(mode="json"), **values})


def deep(levels: int) -> bytes:
    whole = events.dump(page(URLS[0]))
    return whole.replace(b'"facts":[{"@type":"Store"}]', b'"facts":[{"x":' + b"[" * levels + b"]" * levels + b"}]")


def _huge() -> bytes:
    return events.dump(request(9, URLS[0], bytes=12345)).replace(b"12345", b"1" * 30)


def attested(**more: Any) -> bytes:
    values = {"by": "ann", "kept_at": "drawer", **more}
    return events.dump(
        events.Verified(id="v", at=START, site=SITE, account=ACCOUNT, host=SITE, method="attestation", weaker=True,
                        **values)
    )  # fmt: skip


UNREADABLE = {
    "null": (None, "empty"),
    "empty": (b"", "empty"),
    "half a JSON": (b'{"type": "suspended"', "json"),
    "not UTF-8": (b"\xff\xfe\x00", "json"),
    "no object": (b"[1, 2]", "schema"),
    "deep": (b"[" * 100_000, "json"),
    "NaN as a time": (b'{"type":"suspended","id":"x","site":"a","by":"b","reason":"c","at":NaN}', "schema"),
    "an unknown type": (b'{"type":"site-sold","id":"x","site":"a","at":1}', "unsupported_type"),
    "a missing field": (b'{"type":"suspended","id":"x","site":"a","at":1}', "schema"),
}

UNSTORABLE: dict[str, tuple[str, Callable[[], bytes]]] = {
    "NUL in a text": ("page-fetched", lambda: events.dump(page(URLS[0], text="a\x00b"))),
    "NUL in JSON": ("page-fetched", lambda: events.dump(page(URLS[0], facts=({"a": "\x00"},)))),
    "a time that no calendar has": ("site-events", lambda: changed(request(9, URLS[0]), at=1e300)),
    "a crawl that is no id": ("page-fetched", lambda: changed(page(URLS[0]), crawl="yesterday")),
    "a status that fits nowhere": ("site-events", lambda: changed(request(9, URLS[0]), status=10**6)),
    "more bytes than a number holds": ("site-events", _huge),
    "a url_id that is a novel": ("site-events", lambda: changed(request(9, URLS[0]), url_id="x" * 5000)),
    # random, because PostgreSQL compresses a long key before it finds it too long
    "a key above 2.7 kB": ("site-events", lambda: changed(request(9, URLS[0]), id=_noise(9000))),
    "an attestation without who": ("site-events", lambda: attested(by=None)),
}


def _noise(length: int) -> str:
    return "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=length))


@pytest.mark.parametrize("name", UNREADABLE)
def test_F40_what_cannot_be_read_is_a_letter_with_its_cause(name: str) -> None:
    raw, cause = UNREADABLE[name]
    found = read(Record("site-events", 3, 7, START, raw))
    assert isinstance(found, DeadLetter)
    assert (found.topic, found.partition, found.offset, found.cause) == ("site-events", 3, 7, cause)


@pytest.mark.parametrize("name", UNSTORABLE)
def test_0_8_one_unstorable_record_among_good_ones_is_set_aside_alone(engine: Engine, name: str) -> None:
    topic, raw = UNSTORABLE[name]
    good = records(history())
    bad = Record(topic, 5, 41, START, raw())
    stored = store(engine, [*good[:9], bad, *good[9:]])
    assert [(letter.offset, letter.cause) for letter in stored.letters] == [(41, "unstorable")]
    assert stored.letters[0].raw == bad.raw
    after = dump(engine)
    _, expected = store(engine, good), dump(engine)
    assert after == expected
    assert len(after["pages"]) == 3


def test_F43_facts_nested_deeper_than_the_database_can_take_are_set_aside(engine: Engine) -> None:
    stored = store(engine, [Record("page-fetched", 0, 0, START, deep(100_000)), *records(history())])
    assert len(stored.letters) == 1
    assert len(dump(engine)["pages"]) == 3


def test_all_bad_is_all_letters_and_each_once(engine: Engine) -> None:
    bad = [Record(topic, 0, place, START, raw()) for place, (topic, raw) in enumerate(UNSTORABLE.values())]
    stored = store(engine, bad)
    assert [letter.offset for letter in stored.letters] == list(range(len(bad)))
    assert stored.rows == 0


@given(st.binary(max_size=400))
def test_F40_any_bytes_are_a_fact_or_a_letter(raw: bytes) -> None:
    for topic in ("site-events", "page-fetched"):
        assert isinstance(read(Record(topic, 0, 0, START, raw)), Fact | DeadLetter)


@given(
    st.dictionaries(
        st.sampled_from(["type", "id", "site", "at", "by", "reason", "x"]),
        st.one_of(st.none(), st.floats(), st.text(max_size=9), st.sampled_from(["suspended", "url-named"]),
                  st.lists(st.integers(0, 2**40), max_size=3)),
    )
)  # fmt: skip
def test_F41_any_object_is_a_fact_or_a_letter(value: dict[str, object]) -> None:
    assert isinstance(read(Record("site-events", 0, 0, START, orjson.dumps(value))), Fact | DeadLetter)


# --- the database is away: never a letter


def test_F21_an_unreachable_database_is_waited_for() -> None:
    engine = make_engine(f"postgresql+psycopg2://licet:secret-word@127.0.0.1:{free_port()}/licet", "test")
    with pytest.raises(DatabaseAwayError) as caught:
        store(engine, records(history()))
    assert "secret-word" not in str(caught.value)
    assert "away" in schema_problem(engine)


def test_an_empty_database_is_waited_for_until_it_is_migrated(postgres: Postgres) -> None:
    engine = make_engine(postgres.create_database("unmigrated"), "test")
    with pytest.raises(DatabaseAwayError, match="42P01"):
        store(engine, records(history()))
    assert schema_problem(engine).endswith("run `licet migrate`")
    migrations.upgrade(engine)
    assert schema_problem(engine) == ""
    assert store(engine, records(history())).letters == ()
    engine.dispose()


def test_F25_a_read_only_database_is_waited_for(engine: Engine, database_url: str) -> None:
    name = database_url.rsplit("/", 1)[1]
    admin = create_engine(database_url, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
        with pytest.raises(DatabaseAwayError, match="25006"):
            store(engine, records(history()))
        connection.execute(text("SET default_transaction_read_only = off"))
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = off"))
    admin.dispose()
    engine.dispose()
    assert store(engine, records(history())).letters == ()


def test_F23_a_killed_connection_leaves_no_half_batch(engine: Engine) -> None:
    """The kill comes while the batch waits for a lock, so in mid-transaction."""
    found: list[Exception] = []

    def storing() -> None:
        try:
            store(engine, records(history()))
        except DatabaseAwayError as error:
            found.append(error)

    other = create_engine(engine.url)
    admin = create_engine(engine.url, isolation_level="AUTOCOMMIT")
    with other.begin() as connection:
        connection.execute(text("LOCK TABLE fetches IN ACCESS EXCLUSIVE MODE"))
        thread = threading.Thread(target=storing)
        thread.start()
        query = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                     " AND datname = current_database()")  # fmt: skip
        with admin.connect() as watching:  # in autocommit: a transaction sees one picture of the activity
            while not watching.execute(query).all():
                pass
        thread.join(10)
    other.dispose()
    admin.dispose()
    assert len(found) == 1
    assert not any(dump(engine).values())
    assert store(engine, records(history())).letters == ()
    assert len(dump(engine)["fetches"]) == 4


def test_F24_a_batch_whose_commit_is_unknown_is_stored_again_with_the_same_result(engine: Engine) -> None:
    store(engine, records(history()))
    once = dump(engine)
    assert store(engine, records(history())).rows == 0
    assert dump(engine) == once


def test_batches_larger_than_one_page_of_parameters(engine: Engine) -> None:
    many = [page(f"https://shop.test/{n}") for n in range(1500)]
    apply(engine, [*many], batch=1500)
    found = dump(engine)
    assert (len(found["pages"]), len(found["pairs"]), len(found["urls"])) == (1500, 1500, 1500)
    assert {row[0] for row in found["pages"]} == {ids.page_id(CRAWL, one.url) for one in many}  # type: ignore[attr-defined]
