"""Staff stop a site while the worker through whose hands their command would go is frozen or dead."""

from __future__ import annotations

import json
import signal
import time
import uuid
from pathlib import Path

import pytest
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocol

from agents.worker import APP_ID, MAILBOX
from models import topics
from models.ids import partition_of
from models.intake import STAFF_TOPIC
from stack.kafka import Kafka
from stack.postgres import Postgres
from tests.house.house import House

PROMISED = 2.0
pytestmark = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.mark.parametrize("fault", [signal.SIGSTOP, signal.SIGKILL], ids=["frozen", "killed"])
async def test_E25_W13_a_stop_is_effective_within_2_s_though_the_owner_of_its_command_is_gone(
    fault: signal.Signals, fresh_broker: Kafka, postgres: Postgres, tmp_path: Path
) -> None:
    # names of its own: what the other case suspended stays suspended on the broker that both have
    names = [f"{fault.name.lower()}{number}.example" for number in range(8)]
    house = House(tmp_path, fresh_broker, postgres, names)
    async with house:
        await house.start(2, "tests.house.shops:small")
        for name in names:
            await house.verify(name)
        for name in names:
            await house.crawl(name)
        await house.until(lambda: asked_since(house, names, 0) >= 5 * len(names), 60, "every site is crawled")
        gone, at, sites = await apart(house, names)
        house.workers[gone].send(fault)
        said = []
        for site in sites:
            data = {"address": site, "by": "tests", "reason": "stop"}
            event = {"id": str(uuid.uuid4()), "type": "suspend-site", "version": 1, "producer": "tests", "data": data}
            assert house._producer is not None
            await house._producer.send_and_wait(STAFF_TOPIC, json.dumps(event).encode(), partition=at)
            said.append(time.monotonic_ns())
        query = "SELECT 1 FROM crawls WHERE host = ANY(%s) AND terminal_kind IS NOT NULL"
        await house.until(lambda: len(house.rows(query, sites)) == len(sites), 90, "the crawls have ended")
        house.workers[gone].send(signal.SIGCONT)  # the dead hear nothing
        late = [
            (one.site, (one.arrived - when) / 1e9)
            for site, when in zip(sites, said, strict=True)
            for one in house.asked()
            if one.site == site and one.arrived > when + PROMISED * 1e9
        ]
        assert not late


def asked_since(house: House, sites: list[str], since: int) -> int:
    """Requests at these sites that began after a moment."""
    return sum(1 for one in house.asked() if one.site in sites and one.arrived > since)


async def apart(house: House, names: list[str]) -> tuple[str, int, list[str]]:
    """A worker, a partition of staff's commands that it owns, and the sites that the other one crawls."""
    admin = AIOKafkaAdminClient(bootstrap_servers=house.broker.bootstrap)
    await admin.start()
    try:
        (answer,) = await admin.describe_consumer_groups([APP_ID])
    finally:
        await admin.close()
    partitions = topics.by_name()[MAILBOX].partitions
    owned = {}
    for member in answer.groups[0][5]:
        given = ConsumerProtocol.ASSIGNMENT.decode(member[4]).assignment
        owned[member[1]] = {topic: set(numbers) for topic, numbers in given}
    for name, topics_of in owned.items():
        theirs = [s for s in names if partition_of(s, partitions) not in topics_of.get(MAILBOX, set())]
        if topics_of.get(STAFF_TOPIC) and theirs:
            return name, min(topics_of[STAFF_TOPIC]), theirs
    raise AssertionError(f"no worker owns commands and leaves sites to the other: {owned}")
