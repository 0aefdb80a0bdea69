"""Who may read and write which topic: a role inside a message is a claim, an ACL is not.

Set `allow.everyone.if.no.acl.found=false` on the broker. Nobody creates or alters topics but whoever runs
`licet topics apply` (the principal `licet-deploy`). An ACL cannot tell staff from customers inside one topic;
that is why staff have `operator-commands` to themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.lives import TOPIC as LIVES
from models.topics import Topic
from models.topics import load as load_topics

STAFF_TOPIC = "operator-commands"
READ, WRITE = ("Read", "Describe"), ("Write", "Describe")


@dataclass(frozen=True, slots=True)
class Grant:
    """One principal, some operations, one topic or group; `*` at the end: all names that begin so."""

    principal: str
    operations: tuple[str, ...]
    kind: str  # topic, group, cluster
    name: str = ""

    def line(self, bootstrap: str) -> str:
        """As `kafka-acls.sh` takes it."""
        target = f"--{self.kind}" + (f" '{self.name.removesuffix('*')}'" if self.name else "")
        pattern = " --resource-pattern-type prefixed" if self.name.endswith("*") else ""
        operations = "".join(f" --operation {operation}" for operation in self.operations)
        return (
            f"kafka-acls.sh --bootstrap-server {bootstrap} --command-config admin.properties --add"
            f" --allow-principal 'User:{self.principal}'{operations} {target}{pattern}"
        )


def acls(bootstrap: str) -> list[str]:
    """Every line, principal by principal."""
    return [grant.line(bootstrap) for grant in grants()]


def grants() -> list[Grant]:
    """What each principal may do. What is not listed here, nobody may."""
    topics = load_topics()
    others = [*_sink(), *_replayer(topics), *_restore(), *_deploy(topics)]
    return [*_writers_of_intake(topics), *_workers(topics), *others]


def _intake(topics: list[Topic]) -> list[str]:
    """Topics that somebody outside the workers writes: those of any key, but for the two that are ours."""
    return [topic.name for topic in topics if topic.key == "any" and topic.name not in {"dead-letters", LIVES}]


def _writers_of_intake(topics: list[Topic]) -> Iterator[Grant]:
    """The console writes all of the intake, the schedule crawls alone; a foreign program never commands."""
    for name in _intake(topics):
        yield Grant("licet-console", WRITE, "topic", name)
    yield Grant("licet-schedule", WRITE, "topic", "crawl-requested")
    for name in _intake(topics):
        if name != STAFF_TOPIC:
            yield Grant("licet-customer-app", WRITE, "topic", name)


def _workers(topics: list[Topic]) -> Iterator[Grant]:
    """Workers read the intake, alone write mailboxes and facts, and own their memory and their group."""
    for name in _intake(topics):
        yield Grant("licet-worker", READ, "topic", name)
    for topic in topics:
        if topic.key == "site" and not topic.name.startswith("licet-worker-"):
            both = ("Read", *WRITE) if topic.name == "site-mailbox" else WRITE
            yield Grant("licet-worker", both, "topic", topic.name)
    yield Grant("licet-worker", WRITE, "topic", "dead-letters")
    yield Grant("licet-worker", ("Read", *WRITE), "topic", "licet-worker-*")
    yield Grant("licet-worker", ("Read", *WRITE), "topic", LIVES)
    yield Grant("licet-supervisor", WRITE, "topic", LIVES)  # it alone can be certain of a death
    yield Grant("licet-worker", READ, "group", "licet-worker*")


def _sink() -> Iterator[Grant]:
    """The sink reads facts and puts aside what it cannot write; it gives nobody orders."""
    for name in ("site-events", "page-fetched", "pages-listed"):
        yield Grant("licet-sink", READ, "topic", name)
    yield Grant("licet-sink", WRITE, "topic", "dead-letters")
    yield Grant("licet-sink", READ, "group", "licet-sink*")


def _replayer(topics: list[Topic]) -> Iterator[Grant]:
    """Replay reads all and writes nothing, in a group of its own."""
    for topic in topics:
        yield Grant("licet-replay", READ, "topic", topic.name)
    yield Grant("licet-replay", READ, "group", "licet-replay*")


def _restore() -> Iterator[Grant]:
    """`licet restore`: tells sites what the database knows of them, once the sink has read all facts (A03)."""
    yield Grant("licet-restore", WRITE, "topic", "site-mailbox")
    yield Grant("licet-restore", READ, "topic", "site-events")
    yield Grant("licet-restore", READ, "group", "licet-sink")


def _deploy(topics: list[Topic]) -> Iterator[Grant]:
    """`licet topics apply` and `check`: create, alter, describe; no records."""
    yield Grant("licet-deploy", ("Create", "Describe", "DescribeConfigs"), "cluster")
    for topic in topics:
        operations = ("Create", "Alter", "AlterConfigs", "Describe", "DescribeConfigs")
        yield Grant("licet-deploy", operations, "topic", topic.name)
