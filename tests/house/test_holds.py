"""A suspension whose worker on the way is frozen or dead: effective within two seconds at sites of all others (E25).

The command lies in a partition of `operator-commands` that the frozen or killed worker owns, so its mailbox message
comes a session later; the site is another worker's, which goes on with its requests.
"""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass

import pytest

from models.ids import partition_of
from models.topics import by_name
from stack.kafka import Kafka
from stack.postgres import Postgres
from tests.conftest import complete
from tests.house.house import SESSION, House
from tests.support.origin import Asked

SHOPS = [f"shop{number}.example" for number in range(10)]
COMMANDS, MAILBOX = "operator-commands", "site-mailbox"
pytestmark = [pytest.mark.kafka, pytest.mark.stack, pytest.mark.timeout(600)]


@dataclass
class Stopped:
    """One suspension: when it was acknowledged, when it was recorded, and what the origin saw of the site."""

    site: str
    said: float
    recorded: float
    asked: list[Asked]

    def after(self, seconds: float) -> list[float]:
        """Requests of the site later than so many seconds after the command."""
        arrived = [asked.arrived / 1e9 - self.said for asked in self.asked]
        return [at for at in arrived if at > seconds]


@pytest.fixture(scope="module")
def stopped(fresh_broker: Kafka, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stopped]:
    return complete(_house(House(tmp_path_factory.mktemp("house"), fresh_broker, postgres, SHOPS)))


async def _house(house: House) -> dict[str, Stopped]:
    found = {}
    async with house:
        await house.start(3, "tests.house.shops:serve")
        for name in SHOPS:
            await house.verify(name)
        for name in SHOPS:
            await house.crawl(name)
        for name in SHOPS:
            await house.until(lambda name=name: len(_pages(house, name)) > 3, 60, f"{name} is crawled")  # type: ignore[misc]
        frozen, partition, site = await _far_from_each_other(house, set())
        house.workers[frozen].send(signal.SIGSTOP)
        found["frozen"] = await _suspended(house, site, partition)
        house.workers[frozen].send(signal.SIGCONT)
        await house.until_ready(*house.workers)
        killed, partition, site = await _far_from_each_other(house, {site})
        await house.workers.pop(killed).kill()
        found["killed"] = await _suspended(house, site, partition)
        for one in found.values():
            one.asked = [asked for asked in house.asked() if asked.site == one.site]
    return found


def _pages(house: House, site: str) -> list[Asked]:
    return [asked for asked in house.asked() if asked.site == site and asked.target.startswith("/p/")]


async def _far_from_each_other(house: House, gone: set[str]) -> tuple[str, int, str]:
    """A worker, a partition of commands that it owns, and a site under way that it does not own."""
    partitions = by_name()[MAILBOX].partitions
    deadline = time.monotonic() + 60
    while True:
        owners = await house.owners()
        for (topic, number), worker in owners.items():
            for site in SHOPS:
                others = owners.get((MAILBOX, partition_of(site, partitions)), worker)
                under_way = site not in gone and len(_pages(house, site)) < 35 and _lately(house, site)
                if topic == COMMANDS and others != worker and under_way:
                    return worker, number, site
        assert time.monotonic() < deadline, owners
        await asyncio.sleep(0.2)


def _lately(house: House, site: str) -> bool:
    return any(asked.arrived / 1e9 > time.monotonic() - 2.5 for asked in _pages(house, site))


async def _suspended(house: House, site: str, partition: int) -> Stopped:
    await house.say(COMMANDS, "suspend-site", partition, address=site, by="ann", reason="said so")
    said = time.monotonic()
    query = "SELECT kind FROM suspensions WHERE site = %s"
    await house.until(lambda: house.rows(query, site), 10 * SESSION, f"the suspension of {site} is recorded")
    return Stopped(site, said, time.monotonic() - said, [])


@pytest.mark.parametrize("fault", ["frozen", "killed"])
def test_E25_no_request_later_than_two_seconds_although_the_way_to_the_mailbox_is_shut(
    stopped: dict[str, Stopped], fault: str
) -> None:
    found = stopped[fault]
    assert found.after(-3.0), "it was being crawled"
    assert found.after(2.0) == []


@pytest.mark.parametrize("fault", ["frozen", "killed"])
def test_E25_the_record_comes_by_the_mailbox_when_another_has_taken_over(
    stopped: dict[str, Stopped], fault: str
) -> None:
    assert stopped[fault].recorded > 3.0, "else nothing was shut"
