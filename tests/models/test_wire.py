"""What strangers' programs may write: any bytes give an event or a named cause, and nothing else (F40-F44, F76)."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.intake import message_of
from models import events, ids, intake, mailbox, topics
from models.wire import MAX_EVENT_BYTES, Unreadable, read_json

CAUSES = {
    "empty", "oversized", "encoding", "json", "depth", "schema", "unsupported_type", "unsupported_version",
}  # fmt: skip
TOPICS = sorted(intake.type_of_topic)


def event(topic: str = "crawl-requested", **changes: Any) -> bytes:
    said = {
        "id": str(uuid.uuid4()), "type": topic, "version": 1,
        "data": {"account": "acme", "address": "shop.example"}, **changes,
    }  # fmt: skip
    return json.dumps(said).encode()


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        (None, "empty"),
        (b"", "empty"),
        (b"not json", "json"),
        (b"\xff\xfe", "encoding"),
        (b"[]", "schema"),
        (b"1", "schema"),
        (b"{}", "schema"),
        (b"[" * 100_000, "depth"),
        (b'{"a":' * 10_000, "depth"),
        (b'{"a": NaN}', "json"),
        (b'{"a": Infinity}', "json"),
        (b'{"a": 1, "a": 2}', "json"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "json"),
        (b'{"a": "\\u0000"}', "encoding"),
        (b'{"a": "\\ud800"}', "encoding"),
        (b'{"' + b"x" * MAX_EVENT_BYTES + b'": 1}', "oversized"),
        (event(version=99), "unsupported_version"),
        (event(type="suspend-site"), "unsupported_type"),
        (event(id="no uuid"), "schema"),
        (event(data={"account": "acme"}), "schema"),
        (event(data={"account": "", "address": "shop.example"}), "schema"),
        (event(data={"account": "a" * 201, "address": "shop.example"}), "schema"),
        (event(data={"account": "acme", "address": "127.0.0.1"}), "address"),
        (event(data={"account": "acme", "address": "shop.example:8443"}), "address"),
        (event(data={"account": "acme", "address": "user@shop.example"}), "address"),
        (event(data={"account": "acme", "address": "two words.example"}), "address"),
        (event(data={"account": "acme", "address": "x';drop table p;--"}), "address"),
        (event(data={"account": "acme", "address": "co.uk"}), "address"),
    ],
)
def test_A04_what_cannot_be_read_has_a_named_cause(raw: bytes | None, cause: str) -> None:
    with pytest.raises(Unreadable) as caught:
        message_of("crawl-requested", 0, 0, 1.0, raw)
    assert caught.value.cause.partition("_")[0] == cause.partition("_")[0]
    assert str(caught.value)


@given(topic=st.sampled_from(TOPICS), raw=st.binary(max_size=300))
def test_A04_any_bytes_give_a_message_or_a_named_cause(topic: str, raw: bytes) -> None:
    try:
        message_of(topic, 0, 0, 1.0, raw)
    except Unreadable as error:
        assert error.cause in CAUSES or error.cause.startswith("address_")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


FIELDS = st.sampled_from(["id", "type", "version", "data"])


@given(topic=st.sampled_from(TOPICS), said=st.dictionaries(FIELDS, values))
def test_A04_any_json_gives_a_message_or_a_cause(topic: str, said: dict[str, Any]) -> None:
    try:
        message_of(topic, 0, 0, 1.0, json.dumps(said).encode())
    except Unreadable as error:
        assert error.cause in CAUSES or error.cause.startswith("address_")


@given(address=st.text(max_size=60))
def test_A04_any_address_names_a_site_or_is_refused(address: str) -> None:
    try:
        message = message_of("crawl-requested", 0, 0, 1.0, event(data={"account": "acme", "address": address}))
    except Unreadable as error:
        assert error.cause in CAUSES or error.cause.startswith("address_")
    else:
        assert message.start.startswith(f"https://{message.host}/")
        assert message.site in (message.host, message.host.removeprefix("www."))


def test_E05_a_field_that_nobody_asked_for_is_ignored_and_widens_nothing() -> None:
    data = {"account": "acme", "address": "shop.example", "requester": "customer", "role": "staff", "verified": True}
    message = message_of("crawl-requested", 0, 0, 1.0, event(data=data, role="staff"))
    assert set(message.data) == {"account", "address", "requester", "by", *(set(message.data) & {"plan"})}


def test_E05_a_customer_cannot_call_itself_staff() -> None:
    data = {"account": "acme", "address": "shop.example", "requester": "staff"}
    with pytest.raises(Unreadable, match="requester"):
        message_of("crawl-requested", 0, 0, 1.0, event(data=data))


def test_E06_with_and_without_www_is_one_site_on_one_partition() -> None:
    sites = {
        message_of("crawl-requested", 0, 0, 1.0, event(data={"account": "a", "address": address})).site
        for address in ("shop.example", "www.shop.example", "https://WWW.Shop.Example/home", "http://shop.example.")
    }
    assert sites == {"shop.example"}


def test_a_mailbox_message_survives_its_own_reading() -> None:
    message = message_of("crawl-requested", 3, 7, 1.5, event())
    assert mailbox.read(message.model_dump_json().encode()) == message


def test_ids_are_the_same_for_the_same_thing() -> None:
    assert ids.job_id("crawl", "x") == ids.job_id("crawl", "x") != ids.job_id("check", "x")
    assert {ids.partition_of(f"shop{n}.example", 12) for n in range(500)} == set(range(12))


def test_keyed_topics_have_one_number_of_partitions() -> None:
    keyed = [topic for topic in topics.load() if topic.key == "site"]
    assert len({topic.partitions for topic in keyed}) == 1


def test_a_newer_programs_field_does_not_stop_an_older_reader() -> None:
    fact = events.Resumed(id="1", at=1.0, site="shop.example", by="anna", reason="fine")
    said = {**json.loads(events.dump(fact)), "added_later": 1}
    assert events.read_event(json.dumps(said).encode()) == fact


def test_read_json_keeps_what_is_right() -> None:
    assert read_json(b'{"a": [1, {"b": "\\u00e9"}]}') == {"a": [1, {"b": "é"}]}
