"""Making a broker agree with `topics.yaml`, and saying where it does not.

Only aiokafka's admin client is used. What it and the brokers leave open decides the shape:
* the topics are listed whole, never asked for by name: Tansu creates a topic that a client asks about, with
  four partitions (measured);
* aiokafka has no incremental change of configurations, and the old request replaces all of a topic's own
  values; so the values that somebody else set on the topic are read first and sent along;
* Tansu can create topics with a configuration but cannot change one, nor add partitions (measured). It keeps
  nothing over a restart either, so the answer there is a new start, and a change says so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, UnknownTopicOrPartitionError, for_code

from models.topics import Topic
from models.topics import load as load_topics
from stack.errors import StackError

OWN_VALUE = 1  # DescribeConfigs: a value set on the topic itself
TOPIC_EXISTS = 36
SETTLING = 15.0


@dataclass(frozen=True, slots=True)
class Found:
    """A topic as it stands on the broker. `own` are the values set on the topic, `all` those in force."""

    partitions: int
    replication: int
    own: dict[str, str] = field(default_factory=dict)
    all: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drift:
    """One difference between the list and the broker."""

    topic: str
    what: str  # missing, partitions, replication, or the name of a configuration value
    wanted: str
    found: str = ""

    def __str__(self) -> str:
        if self.what == "missing":
            return f"{self.topic}: missing"
        return f"{self.topic}: {self.what} is {self.found or 'not set'}, should be {self.wanted}"


async def check(bootstrap: str, topics: Iterable[Topic] | None = None, replication: int | None = None) -> list[Drift]:
    """Every difference between `topics.yaml` and the broker; topics outside the list are not looked at."""
    wanted = load_topics() if topics is None else list(topics)
    async with admin(bootstrap) as client:
        return await _drift(client, wanted, await _copies(client, replication))


async def apply(
    bootstrap: str,
    topics: Iterable[Topic] | None = None,
    replication: int | None = None,
    *,
    grow_keyed: bool = False,
) -> list[str]:
    """Create and alter until the broker agrees with `topics.yaml`; what was changed, a sentence each.

    What would move data is said, not done: partitions taken away, copies moved. A topic that is keyed by site
    gets more partitions only with `grow_keyed`: its sites would land on others, away from their memory.
    """
    wanted = load_topics() if topics is None else list(topics)
    async with admin(bootstrap) as client:
        copies = await _copies(client, replication)
        by_topic: dict[str, list[Drift]] = {}
        for drift in await _drift(client, wanted, copies):
            by_topic.setdefault(drift.topic, []).append(drift)
        changes: list[str] = []
        held: list[Drift] = []
        for topic in wanted:
            reasons = {drift: _moves_data(topic, drift, grow_keyed) for drift in by_topic.get(topic.name, [])}
            changes += [f"{drift}: not changed, {why}" for drift, why in reasons.items() if why]
            held += [drift for drift, why in reasons.items() if why]
            changes += await _mend(client, topic, [drift for drift, why in reasons.items() if not why], copies)
        if len(changes) > len(held):
            await _settle(client, wanted, copies)
        return changes


async def _settle(client: AIOKafkaAdminClient, wanted: list[Topic], copies: int) -> None:
    """Wait until the broker shows what it has accepted, with a leader for each partition.

    Metadata follows a change by some 100 ms (measured: two of eleven fresh topics still missing). Until then
    a second `apply` would create again, and a first send would meet NotLeaderForPartition.
    """
    deadline = time.monotonic() + SETTLING
    while time.monotonic() < deadline:
        missing = [drift for drift in await _drift(client, wanted, copies) if drift.what == "missing"]
        leaders = [part["leader"] for topic in await client.describe_topics() for part in topic["partitions"]]
        if not missing and all(leader >= 0 for leader in leaders):
            return
        await asyncio.sleep(0.05)


def _moves_data(topic: Topic, drift: Drift, grow_keyed: bool) -> str:
    """Why this difference is left to a person; empty when it can be mended here."""
    if drift.what == "replication":
        return "copies are moved by hand"
    if drift.what != "partitions":
        return ""
    if topic.partitions < int(drift.found):
        return "partitions cannot be taken away"
    return "its sites would move away from their memory" if topic.key == "site" and not grow_keyed else ""


@asynccontextmanager
async def admin(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """An admin client that is connected, or a `StackError` that names the broker."""
    client = AIOKafkaAdminClient(bootstrap_servers=bootstrap, client_id="licet-topics")
    try:
        await client.start()
    except (KafkaError, OSError):
        await client.close()
        raise StackError(f"No broker answers at {bootstrap}: is it running, and is this its address?") from None
    try:
        yield client
    except KafkaError as error:
        raise StackError(f"The broker at {bootstrap} does not answer any more ({type(error).__name__}).") from None
    finally:
        await client.close()


async def _copies(client: AIOKafkaAdminClient, replication: int | None) -> int:
    """Three copies where there are brokers for them: then each can be killed and nothing is lost."""
    brokers = len((await client.describe_cluster())["brokers"])
    if replication is not None and replication > brokers:
        raise StackError(f"{replication} copies of each partition need as many brokers; {brokers} are there.")
    return replication or (3 if brokers >= 3 else 1)


def configs(topic: Topic, copies: int) -> dict[str, str]:
    """A topic's configuration on a cluster: with three copies a write is acknowledged by two of them."""
    return {**topic.configs(), **({"min.insync.replicas": "2"} if copies >= 3 else {})}


async def _drift(client: AIOKafkaAdminClient, wanted: list[Topic], copies: int) -> list[Drift]:
    found = await _found(client, {topic.name for topic in wanted})
    return [drift for topic in wanted for drift in _differences(topic, found.get(topic.name), copies)]


def _differences(topic: Topic, found: Found | None, copies: int) -> list[Drift]:
    if found is None:
        return [Drift(topic.name, "missing", "there")]
    counts = [("partitions", topic.partitions, found.partitions), ("replication", copies, found.replication)]
    wrong = [Drift(topic.name, what, str(is_to), str(is_)) for what, is_to, is_ in counts if is_to != is_]
    return wrong + [
        Drift(topic.name, name, value, found.all.get(name, ""))
        for name, value in sorted(configs(topic, copies).items())
        if not _same(value, found.all.get(name))
    ]


def _same(wanted: str, found: str | None) -> bool:
    """Brokers print numbers in their own way: 0.05 may come back as 0.050."""
    if found is None or wanted == found:
        return wanted == found
    try:
        return float(wanted) == float(found)
    except ValueError:
        return False


async def _found(client: AIOKafkaAdminClient, names: set[str]) -> dict[str, Found]:
    """What the broker has of these topics, by one listing and one question about their configuration."""
    listed = {entry["topic"]: entry["partitions"] for entry in await client.describe_topics()}
    there = sorted(names & listed.keys())
    own: dict[str, dict[str, str]] = {name: {} for name in there}
    in_force: dict[str, dict[str, str]] = {name: {} for name in there}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in there]
    for response in await client.describe_configs(resources) if resources else []:
        for code, message, _, name, entries in response.resources:
            if code == UnknownTopicOrPartitionError.errno:
                there.remove(
                    name
                )  # one node has listed it, and the one that was asked has not heard of it (three nodes)
                continue
            _raise_on(code, f"describing {name}", message)
            for key, value, _, source, *_ in entries:
                in_force[name][key] = value
                if source == OWN_VALUE:
                    own[name][key] = value
    return {
        name: Found(len(listed[name]), len(listed[name][0]["replicas"]), own[name], in_force[name]) for name in there
    }


async def _mend(client: AIOKafkaAdminClient, topic: Topic, drifts: list[Drift], copies: int) -> list[str]:
    """Do away with one topic's differences; what was done, and what could not be."""
    if not drifts:
        return []
    if drifts[0].what == "missing":
        return [await _create(client, topic, copies)]
    changes = [await _grow(client, topic, drift) for drift in drifts if drift.what == "partitions"]
    values = [drift for drift in drifts if drift.what != "partitions"]
    return changes + (await _configure(client, topic, values, copies) if values else [])


async def _create(client: AIOKafkaAdminClient, topic: Topic, copies: int) -> str:
    wanted = NewTopic(topic.name, topic.partitions, copies, topic_configs=configs(topic, copies))
    response = await client.create_topics([wanted])
    for name, code, *message in response.topic_errors:
        if code != TOPIC_EXISTS:  # another `apply` was quicker
            _raise_on(code, f"creating {name}", message[0] if message else None)
    return f"{topic.name}: created, partitions {topic.partitions}, replication {copies}"


async def _grow(client: AIOKafkaAdminClient, topic: Topic, drift: Drift) -> str:
    try:
        response = await client.create_partitions({topic.name: NewPartitions(topic.partitions)})
    except IncompatibleBrokerVersion:
        return _cannot(drift)
    for name, code, message in response.topic_errors:
        _raise_on(code, f"adding partitions to {name}", message)
    return f"{topic.name}: partitions from {drift.found} to {drift.wanted}"


async def _configure(client: AIOKafkaAdminClient, topic: Topic, drifts: list[Drift], copies: int) -> list[str]:
    found = (await _found(client, {topic.name}))[topic.name]
    values = {**found.own, **configs(topic, copies)}
    try:
        responses = await client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic.name, values)])
    except IncompatibleBrokerVersion:
        return [_cannot(drift) for drift in drifts]
    for response in responses:
        for code, message, _, name in response.resources:
            _raise_on(code, f"configuring {name}", message)
    return [f"{topic.name}: {drift.what} from {drift.found or 'not set'} to {drift.wanted}" for drift in drifts]


def _cannot(drift: Drift) -> str:
    return f"{drift}: not changed, this broker (Tansu) cannot alter a topic; it starts empty each time"


def _raise_on(code: int, doing: str, message: str | None) -> None:
    if code != 0:
        raise StackError(f"The broker refused {doing}: {message or for_code(code).__name__}.")
