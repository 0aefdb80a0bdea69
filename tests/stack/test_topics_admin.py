"""topics.yaml against a real broker: created once, mended when it drifted, never moved behind one's back."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from click.testing import CliRunner

from commands.topics import topics as topics_command
from models.topics import Topic, load
from stack.errors import StackError
from stack.kafka import Kafka
from stack.tansu import Tansu
from stack.topics_admin import admin, apply, check
from tests.conftest import complete

pytestmark = pytest.mark.stack


def topic(key: str = "any", partitions: int = 2, **config: str) -> Topic:
    return Topic.model_validate(
        {
            "name": f"t-{secrets.token_hex(4)}",
            "about": "a test",
            "key": key,
            "schema": "raw",
            "partitions": partitions,
            "retention": "1h",
            "cleanup": "delete",
            "config": {name.replace("_", "."): value for name, value in config.items()},
        }
    )


def changed(one: Topic, **values: object) -> Topic:
    return one.model_copy(update=values)


async def test_apply_creates_all_topics_once_and_check_agrees(broker: Kafka | Tansu) -> None:
    prefix = secrets.token_hex(4)  # the broker is shared: other tests have topics by the real names
    wanted = [changed(one, name=f"t{prefix}-{one.name}") for one in load()]
    created = await apply(broker.bootstrap, wanted)
    assert [change.split(":")[0] for change in created] == [one.name for one in wanted]
    assert await apply(broker.bootstrap, wanted) == []
    assert await check(broker.bootstrap, wanted) == []


async def test_check_names_what_is_missing(broker: Kafka | Tansu) -> None:
    one = topic()
    assert [str(drift) for drift in await check(broker.bootstrap, [one])] == [f"{one.name}: missing"]
    async with admin(broker.bootstrap) as client:  # looking must not have created it
        assert one.name not in {entry["topic"] for entry in await client.describe_topics()}


@pytest.mark.kafka
async def test_apply_mends_configuration_and_keeps_what_others_set(kafka: Kafka) -> None:
    one = topic(segment_ms="600000", min_cleanable_dirty_ratio="0.05")
    await apply(kafka.bootstrap, [one])
    async with admin(kafka.bootstrap) as client:
        others = {**one.configs(), "segment.ms": "700000", "max.message.bytes": "2000000"}
        await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, one.name, others)])
    drift = await check(kafka.bootstrap, [one])
    assert [str(d) for d in drift] == [f"{one.name}: segment.ms is 700000, should be 600000"]
    assert await apply(kafka.bootstrap, [one]) == [f"{one.name}: segment.ms from 700000 to 600000"]
    assert await check(kafka.bootstrap, [changed(one, config={**one.config, "max.message.bytes": "2000000"})]) == []


@pytest.mark.kafka
async def test_partitions_grow_but_a_site_never_moves_unasked(kafka: Kafka) -> None:
    free, keyed = topic("any"), topic("site")
    await apply(kafka.bootstrap, [free, keyed])
    more = [changed(free, partitions=3), changed(keyed, partitions=3)]
    changes = await apply(kafka.bootstrap, more)
    assert changes[0] == f"{free.name}: partitions from 2 to 3"
    assert "not changed, its sites would move" in changes[1]
    assert [drift.topic for drift in await check(kafka.bootstrap, more)] == [keyed.name]
    assert await apply(kafka.bootstrap, more, grow_keyed=True) == [f"{keyed.name}: partitions from 2 to 3"]
    assert await check(kafka.bootstrap, more) == []
    assert "cannot be taken away" in (await apply(kafka.bootstrap, [free]))[0]


@pytest.mark.kafka
async def test_a_value_that_the_broker_refuses_is_one_sentence(kafka: Kafka) -> None:
    with pytest.raises(StackError, match=r"refused creating .*segment\.ms"):
        await apply(kafka.bootstrap, [topic(segment_ms="never")])
    with pytest.raises(StackError, match="3 copies of each partition need as many brokers; 1 are there"):
        await apply(kafka.bootstrap, [topic()], replication=3)


async def test_tansu_says_that_it_cannot_alter(tmp_path: Path) -> None:
    one = topic(segment_ms="600000")
    async with Tansu(tmp_path) as tansu:
        await apply(tansu.bootstrap, [one])
        other = changed(one, partitions=3, config={"segment.ms": "700000"})
        changes = await apply(tansu.bootstrap, [other])
        assert [("cannot alter a topic" in change) for change in changes] == [True, True]
        assert len(await check(tansu.bootstrap, [other])) == 2


async def test_a_broker_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(StackError, match=r"No broker answers at 127\.0\.0\.1:1: is it running"):
        await check("127.0.0.1:1")


def test_commands_print_changes_and_fail_on_drift(tmp_path: Path) -> None:
    tansu = Tansu(tmp_path)
    complete(tansu.start())
    try:
        run = CliRunner(env={"LICET_KAFKA": tansu.bootstrap}).invoke
        drift = run(topics_command, ["check"])
        assert (drift.exit_code, drift.output.count(": missing")) == (1, len(load()))
        assert run(topics_command, ["apply"]).output.count("created") == len(load())
        again = run(topics_command, ["apply"])
        assert (again.exit_code, again.output) == (
            0,
            "Nothing to do: all 12 topics are as topics.yaml has them.\n",
        )
        assert run(topics_command, ["check"]).exit_code == 0
    finally:
        complete(tansu.stop())
    assert CliRunner(env={"LICET_KAFKA": "nonsense"}).invoke(topics_command, ["check"]).exit_code == 2


def test_acls_give_staff_commands_to_the_console_alone_and_mailboxes_to_workers_and_whoever_restores() -> None:
    lines = CliRunner().invoke(topics_command, ["acls", "--bootstrap", "kafka:9093"]).output.splitlines()

    def writers(name: str) -> set[str]:
        hits = [line for line in lines if f"--topic '{name}'" in line and "--operation Write" in line]
        return {line.split("User:")[1].split("'")[0] for line in hits}

    assert writers("operator-commands") == {"licet-console"}
    assert writers("site-events") == writers("page-fetched") == {"licet-worker"}
    assert writers("site-mailbox") == {"licet-worker", "licet-restore"}
    assert writers("crawl-requested") == {"licet-console", "licet-schedule", "licet-customer-app"}
    assert writers("worker-lives") == {"licet-worker", "licet-supervisor"}
    assert writers("dead-letters") == {"licet-worker", "licet-sink"}
    creators = {line.split("User:")[1].split("'")[0] for line in lines if "--operation Create" in line}
    assert creators == {"licet-deploy"}
    assert all(line.startswith("kafka-acls.sh --bootstrap-server kafka:9093 ") for line in lines)
