"""Two workers, twenty shops, a slow site and 530 pages that nobody here wrote: what the origin saw, what was kept.

One history, made once; each test asks one question of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from stack.kafka import Kafka
from stack.postgres import Postgres
from stack.tansu import Tansu
from tests.conftest import complete
from tests.house import shops
from tests.house.house import House
from tests.support.origin import Asked, gaps, overlaps
from tests.support.python_docs import python_docs

SHOPS = [f"shop{number}.example" for number in range(20)]
pytestmark = [pytest.mark.stack, pytest.mark.timeout(600)]

POISON: list[bytes | None] = [
    b"not json", b"", None, b"\xff\xfe", b"[]", b"{}", b'{"id": 1}', b"[" * 100_000, b'{"a": NaN}',
    b'{"a": 1, "a": 2}',
    b'{"a": ' + b"9" * 10_000 + b"}",
]  # fmt: skip
BAD_ADDRESSES = [
    "127.0.0.1", "[::1]", "0x7f.1", "2130706433", "shop.example:8443", "user:pw@shop.example", "two words.example",
    'x";drop table sites;--', "localhost", "co.uk", "", "a" * 300,
]  # fmt: skip


@dataclass
class History:
    """What there is to ask of."""

    asked: list[Asked]
    crawls: dict[str, dict[str, Any]]
    pages: list[dict[str, Any]]
    fetches: list[dict[str, Any]]
    letters: list[Any]
    sent: list[Any]
    metrics: str

    def of(self, site: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.site == site]


@pytest.fixture(scope="module")
def history(fresh_broker: Kafka | Tansu, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> History:
    python_docs()
    house = House(tmp_path_factory.mktemp("house"), fresh_broker, postgres, [*SHOPS, shops.DOCS, shops.SLOW])
    return complete(_busy(house))


async def _busy(house: House) -> History:
    async with house:
        await house.start(2, "tests.house.shops:serve")
        sent = [await _poison(house, value) for value in POISON]
        sent += [await _event(house, {"account": "acme", "address": address}) for address in BAD_ADDRESSES]
        sent.append(await _event(house, {"account": "acme"}))
        sent.append(await _event(house, {"account": "acme", "address": "shop0.example"}, version=99))
        sent.append(await _event(house, {"account": "acme", "address": "shop0.example"}, kind="suspend-site"))
        sent.append(await _poison(house, b'{"pad": "' + b"x" * 1_000_000 + b'"}'[:900_000]))
        names = [*SHOPS, shops.DOCS, shops.SLOW]
        for name in names:
            await house.say("verification-requested", account="acme", address=name)
        await house.until(
            lambda: (
                house.rows("SELECT count(*) AS n FROM verifications WHERE kind = 'verified'")[0]["n"] == len(names)
            ),
            60,
            "all sites are verified",
        )
        ids = {name: await house.crawl(name) for name in names}
        slow = ids.pop(shops.SLOW)
        rows = {row["host"]: row for row in await house.ended(*ids.values(), seconds=300)}
        await house.say("operator-commands", "suspend-site", address=shops.SLOW, by="tests", reason="slow enough")
        rows[shops.SLOW] = (await house.ended(slow, seconds=30))[0]
        sent_rows = "SELECT count(*) AS n FROM fetches WHERE sent"
        await house.until(lambda: house.rows(sent_rows)[0]["n"] == len(house.asked()), 20, "every request is a row")
        metrics = "".join(house.get(name, "metrics")[1] for name in house.workers)
        fetches = house.rows("SELECT * FROM fetches LEFT JOIN urls USING (url_id)")
        pages = house.rows("SELECT * FROM pages")
        return History(house.asked(), rows, pages, fetches, await house.topic("dead-letters"), sent, metrics)


async def _poison(house: House, value: bytes | None) -> Any:
    return await house.send("crawl-requested", value, key=b"any")


async def _event(house: House, data: dict[str, Any], kind: str = "crawl-requested", version: int = 1) -> Any:
    event = {"id": "1e9b1c3e-0000-4000-8000-000000000000", "type": kind, "version": version, "data": data}
    return await house.send("crawl-requested", json.dumps(event).encode())


def test_E16_no_two_requests_at_once_and_none_less_than_a_second_after_the_one_before(history: History) -> None:
    assert len(history.asked) > 1000
    assert overlaps(history.asked) == []
    assert min(min(found) for found in gaps(history.asked).values() if found) >= 1.000


def test_E18_F77_twenty_shops_at_one_address_are_read_whole_by_two_workers(history: History) -> None:
    ends = {(row["terminal_kind"], row["pages"]) for host, row in history.crawls.items() if host in SHOPS}
    assert ends == {("completed", shops.PAGES)}
    assert len({fetch["worker"] for fetch in history.fetches if fetch["sent"]}) == 2


def test_E14_nothing_that_robots_txt_disallows_is_asked_for(history: History) -> None:
    shut = ("/private/", "/c-api/", "/library/asyncio")
    assert not [asked for asked in history.asked if asked.target.startswith(shut)]
    assert [fetch for fetch in history.fetches if fetch["outcome"] == "robots_denied" and not fetch["sent"]]


def test_E18_E20_a_website_that_nobody_here_wrote(history: History) -> None:
    pages = [
        asked
        for asked in history.of(shops.DOCS)
        if asked.target not in ("/robots.txt", "/sitemap.xml", shops.TOKEN_FILE)
    ]
    stored = [page for page in history.pages if page["site"] == shops.DOCS]
    assert len(pages) <= 120
    assert len(stored) == 60
    assert len({page["url"] for page in stored}) == 60
    assert len({page["sha256"] for page in stored}) == 60
    big = [fetch for fetch in history.fetches if fetch["url"] == f"https://{shops.DOCS}/contents.html"]
    assert [(fetch["outcome"], fetch["sent"]) for fetch in big] == [("too_large", True)]
    assert not [page for page in stored if page["url"].endswith("/contents.html")]


def test_E09_E12_before_the_proof_nothing_but_the_proof_read_arrives(history: History) -> None:
    for name in SHOPS:
        assert [asked.target for asked in history.of(name)][:2] == [shops.TOKEN_FILE, "/robots.txt"]
    assert not [page for page in history.pages if page["url"].endswith(shops.TOKEN_FILE)]


def test_E01_E03_every_request_is_a_plain_get_under_our_name(history: History) -> None:
    heads = {tuple(sorted(name.lower() for name, _ in asked.headers)) for asked in history.asked}
    assert heads == {("accept", "accept-encoding", "host", "user-agent")}
    agents = {asked.header("User-Agent") for asked in history.asked}
    assert agents == {"EmaIngestBot/1.0 (+https://www.puglieseweb.com/crawler)"}
    assert {asked.method for asked in history.asked} == {"GET"}


def test_E16_a_slow_site_delays_nobody(history: History) -> None:
    assert history.crawls[shops.SLOW]["terminal_kind"] == "suspended"
    spans = [(found[-1].arrived - found[0].arrived) / 1e9 for found in map(history.of, SHOPS)]
    ideal = (shops.PAGES + 3) * 1.05
    assert max(spans) < ideal * 1.5


def test_E23_every_crawl_has_its_audit_row_and_counts_what_the_origin_saw(history: History) -> None:
    for host in SHOPS:
        row = history.crawls[host]
        assert (row["accepted"], row["verified"], row["proof"], row["bot"]) == (True, True, "token_file", "ema")
        seen = Counter(asked.target for asked in history.of(host) if asked.target != shops.TOKEN_FILE)
        assert sum(row["requests"].values()) == sum(seen.values())


def test_A04_every_request_at_the_origin_is_one_row_and_no_page_is_stored_twice(history: History) -> None:
    sent = Counter(fetch["site"] for fetch in history.fetches if fetch["sent"])
    assert sent == Counter(asked.site for asked in history.asked)
    assert len({(page["crawl"], page["url"]) for page in history.pages}) == len(history.pages)


def test_A04_poison_is_set_aside_with_cause_and_origin_and_good_events_run(history: History) -> None:
    origins = {(r.topic, r.partition, r.offset) for r in history.sent}
    letters = {}
    for record in history.letters:
        found = {name: value.decode() for name, value in record.headers}
        letters[found["topic"], int(found["partition"]), int(found["offset"])] = found["cause"]
    assert set(letters) == origins
    causes = Counter(letters.values())
    assert sum(n for cause, n in causes.items() if cause.startswith("address_")) == len(BAD_ADDRESSES)
    assert causes["unsupported_version"] == 1
    assert causes["unsupported_type"] == 1
    assert causes["oversized"] == 1


def test_E28_the_text_that_was_served_is_the_text_that_is_kept(history: History) -> None:
    for page in history.pages:
        if page["site"] in SHOPS:
            number = page["url"].rpartition("/")[2] or "0"
            assert f"costs {number}.50 euros" in page["text"]
        assert hashlib.sha256(page["text"].encode()).hexdigest() == page["sha256"] or page["text_cut"]


def test_metrics_say_what_happened(history: History) -> None:
    for name in (
        "licet_requests_total",
        "licet_start_lateness_seconds",
        "licet_pace_slack_seconds",
        "licet_open_sites",
    ):
        assert name in history.metrics
