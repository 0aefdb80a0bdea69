"""Authority on the running house: broker, database, worker, sink, origin and resolvers, each really there."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer

from models import ids, intake
from stack.postgres import Postgres
from stack.restore import restore, restore_when_up_to_date, unread_facts
from stack.tansu import Tansu
from stack.topics_admin import apply
from tests.authority.resolver import Resolver, zone
from tests.authority.test_histories import FORGED, STAFF
from tests.house.house import House, token_of

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
BARE = [f"bare{number}.example" for number in range(20)]
SITES = [
    "bare.example",
    "meta.example",
    "dns.example",
    "closed.example",
    "good.example",
    "held.example",
]


def targets(house: House, site: str) -> Counter[tuple[str, str]]:
    return Counter((asked.method, asked.target) for asked in house.asked() if asked.site == site)


async def staff(house: House, kind: str, host: str, **more: Any) -> str:
    return await house.say("operator-commands", kind, address=host, by="ann", reason="so", **more)


async def verification(house: House, host: str, method: str) -> dict[str, Any]:
    event = await house.say("verification-requested", account="acme", address=host, method=method)
    job = ids.job_id("verification", event)
    rows = await house.until(lambda: house.rows("SELECT * FROM verifications WHERE job = %s", job), 40, host)
    found: dict[str, Any] = rows[0]
    return found


async def decided(house: House, event: str, kind: str = "crawl") -> dict[str, Any]:
    query = "SELECT * FROM crawls WHERE crawl = %s AND decided_at IS NOT NULL"
    rows = await house.until(lambda: house.rows(query, ids.job_id(kind, event)), 40, "the gate has decided")
    found: dict[str, Any] = rows[0]
    return found


async def test_E05_E08_E10_E23_foreign_producers_open_nothing_and_each_proof_does(
    postgres: Postgres, tmp_path: Path
) -> None:
    """One house: a storm of forged messages, then proofs by DNS and by homepage, a listing and a crawl."""
    record = zone(dns__example=f"ema-site-verification={token_of('dns.example')}")
    async with Tansu(tmp_path / "broker") as broker, Resolver(record) as one, Resolver(record) as two:
        house = House(tmp_path, broker, postgres, [*SITES, *BARE])
        house.resolvers = [one.url, two.url]
        async with house:
            await house.start(1, "tests.authority.shops:serve")
            await _forged(house)
            await _random_histories(house)
            await _proofs(house, one)
            await _listed_and_crawled(house)


async def _forged(house: House) -> None:
    """Every type on every intake topic but the staff's, all fields forged; and straight bytes."""
    forged = {**FORGED, "account": "acme", "address": "bare.example", "requester": "schedule"}
    types = sorted({name for types in intake.type_of_topic.values() for name in types} | {"restore-site", *STAFF})
    for topic in (name for name in intake.type_of_topic if name != intake.STAFF_TOPIC):
        for kind in types:
            await house.say(topic, kind, **forged)
        await house.send(topic, b"\xff", key=b"bare.example")
        await house.send(topic, None, key=b"bare.example")
    last = await house.say("crawl-requested", account="acme", address="bare.example")
    assert (await decided(house, last))["refusal"] == "unverified"
    await asyncio.sleep(3.0)  # long enough for anything that was let in to be asked
    allowed = {("HEAD", "/"), ("GET", "/.well-known/ema-site-verification.txt"), ("GET", "/")}
    seen = targets(house, "bare.example")
    assert set(seen) <= allowed
    assert seen["HEAD", "/"] == 1
    assert not house.rows("SELECT 1 FROM crawls WHERE accepted")
    assert not house.rows("SELECT 1 FROM verifications WHERE kind = 'verified'")


async def _random_histories(house: House) -> None:
    """Twenty of the histories of test_histories.py, on everything that really runs."""
    topics = [name for name in intake.type_of_topic if name != intake.STAFF_TOPIC]
    saved: Counter[str] = Counter()
    last = []
    for number, name in enumerate(BARE):
        dice = random.Random(number)
        for _ in range(12):
            topic = dice.choice(topics)
            kind = dice.choice((topic, topic, *STAFF))
            claims = {claim: FORGED[claim] for claim in dice.sample(sorted(FORGED), 4)}
            account = dice.choice(("acme", "rival", "admin"))
            saved[name] += (topic, kind) == ("address-saved", "address-saved")
            await house.say(topic, kind, **claims, account=account, address=name)
        last.append(await house.say("crawl-requested", account="acme", address=name))
    for event in last:
        assert (await decided(house, event))["refusal"] == "unverified"
    await asyncio.sleep(3.0)
    for name in BARE:
        seen = targets(house, name)
        assert set(seen) <= {("HEAD", "/"), ("GET", "/.well-known/ema-site-verification.txt"), ("GET", "/")}
        assert seen["HEAD", "/"] <= saved[name]
        assert seen["GET", "/"] <= 12  # homepage proofs that a forger asked for


async def _proofs(house: House, resolver: Resolver) -> None:
    dns = await verification(house, "www.dns.example", "dns")
    assert (dns["kind"], dns["method"], dns["host"]) == ("verified", "dns", "dns.example")
    assert sorted(resolver.asked) == ["_ema-verify.dns.example", "dns.example"]
    assert not targets(house, "dns.example")
    meta = await verification(house, "meta.example", "homepage")
    assert (meta["method"], meta["weaker"]) == ("homepage_meta", False)
    assert targets(house, "meta.example") == {("GET", "/"): 1}
    bare = await verification(house, "bare.example", "dns")
    assert (bare["kind"], bare["result"], bare["cause"]) == ("failed", "absent", "no_record")


async def _listed_and_crawled(house: House) -> None:
    event = await house.say("listing-requested", account="acme", address="meta.example")
    job = ids.job_id("listing", event)
    rows = await house.until(lambda: house.rows("SELECT * FROM listings WHERE job = %s", job), 40, "it is listed")
    titles = {page["url"]: page["title"] for page in rows[0]["pages"]}
    assert titles["https://meta.example/hours"] == "Opening hours"
    rival = await decided(
        house, await house.say("listing-requested", account="rival", address="meta.example"), "listing"
    )
    assert (rival["refusal"], rival["kind"]) == ("unverified", "listing")
    crawl = await house.crawl("dns.example")
    row = (await house.ended(crawl, seconds=60))[0]
    assert (row["terminal_kind"], row["proof"], row["pages"]) == ("completed", "dns", 3)


async def test_A03_everything_stopped_the_broker_s_data_gone_everything_started(
    postgres: Postgres, tmp_path: Path
) -> None:
    """A suspended site stays suspended, a capped one capped, a verified one crawls; test_wembi.py has a paused one."""
    async with House(tmp_path, Tansu(tmp_path / "one"), postgres, SITES) as house:
        async with house.broker:
            await house.start(1, "tests.authority.shops:serve")
            await _lived(house)
            await all_down(house)
        async with Tansu(tmp_path / "two") as house.broker:
            await up_without_memory(house)
            await _nothing_is_asked(house)
            await restore(house.broker.bootstrap, house.url)
            await _as_before(house)


async def _lived(house: House) -> None:
    for name in ("good.example", "held.example", "closed.example"):
        await house.verify(name)
    await staff(house, "suspend-site", "held.example")
    for _ in range(5):
        await house.ended(await house.crawl("closed.example"), seconds=30)
    await house.until(lambda: house.rows("SELECT 1 FROM suspensions"), 20, "the suspension is known")


async def all_down(house: House) -> None:
    await asyncio.gather(*(worker.stop(8.0) for worker in house.workers.values()))
    assert house.sink is not None
    await house.sink.stop(5.0)
    assert house._producer is not None
    await house._producer.stop()
    house.workers.clear()


async def up_without_memory(house: House) -> None:
    await apply(house.broker.bootstrap)
    house.sink = house._process("sink", [sys.executable, "-m", "app", "sink"])
    house.add_worker("worker-2")
    await house.until_ready("worker-2", "sink")
    house._producer = AIOKafkaProducer(bootstrap_servers=house.broker.bootstrap, max_batch_size=1)
    await house._producer.start()


async def _nothing_is_asked(house: House) -> None:
    """Fail closed: even what needs no proof waits until it is known whether the site may be asked at all."""
    before = len(house.asked())
    for name in ("held.example", "bare.example"):
        await house.say("address-saved", account="new", address=name)
        await house.say("verification-requested", account="new", address=name)
    await house.until(lambda: house.rows("SELECT 1 FROM settings WHERE account = 'new'"), 40, "they are heard")
    await asyncio.sleep(4.0)
    assert len(house.asked()) == before
    assert "licet restore" in (house.folder / "worker-2.log").read_text()


async def _as_before(house: House) -> None:
    began = time.time()
    await house.until(lambda: targets(house, "bare.example")["HEAD", "/"] == 1, 30, "the address is asked")
    events = {name: await house.say("crawl-requested", account="acme", address=name) for name in SITES[3:]}
    found = {name: await decided(house, event) for name, event in events.items()}
    refusals = {name: row["refusal"] for name, row in found.items()}
    assert refusals == {"closed.example": "cap", "good.example": None, "held.example": "suspended"}
    good = (await house.ended(str(found["good.example"]["crawl"]), seconds=60))[0]
    assert good["terminal_kind"] == "completed", good
    assert Counter(asked.site for asked in house.asked())["held.example"] == 1  # its proof, before all this
    async with asyncio.timeout(30):
        while await unread_facts(house.broker.bootstrap):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.2)
    again = await restore_when_up_to_date(house.broker.bootstrap, house.url)
    assert again >= 3
    assert time.time() - began < 120
