"""Torture in virtual time: one crawl, and at its k-th fallible call something goes wrong, once.

Fallible calls are every record sent to the broker (`put` to the changelog, `tell` to other topics), every `fetch`,
`read` and `commit` of offsets. Modes: `fail` (the call fails and the process knows), `kill` (SIGKILL before its
effect), `kill-after` (after its effect, before the process hears of it), `freeze` (SIGSTOP before its effect, for
longer than a session; another worker takes over). After each, recovery, and then all checkers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from models.state import Head
from tests.chaos.broker import NOBODY, PARTITIONS, SESSION
from tests.chaos.history import CHANGELOG
from tests.chaos.node import Node
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"
FROZEN = 1.5 * SESSION


@dataclass
class Tortured:
    """What came of one run."""

    world: World
    calls: list[str] = field(default_factory=list)
    settled: bool = False
    failed: str = ""
    """The call that failed: a website that does not answer may end a crawl (E14)."""

    def wrong(self) -> list[str]:
        """Everything that must not be."""
        found = [str(anomaly) for anomaly in self.world.anomalies()]
        found += [f"remembers {key!r} otherwise than the log" for key in self.world.forgotten()]
        found += [f"error in the loop: {error}" for error in self.world.loop.errors]
        ends = {fact.end for fact in self.world.facts() if fact.type == "crawl-ended"}
        lawful = {"completed"} | ({"refused_robots", "failed"} if self.failed == "fetch" else set())
        if not self.settled or len(ends) != 1 or not ends <= lawful:
            found.append(f"settled: {self.settled}, ends: {ends}")
        asked = [one.target for one in self.world.web.asked if one.target.startswith("/p/")]
        if any(asked.count(target) > 3 for target in asked):
            found.append(f"asked again and again: {asked}")
        return found


def torture(number: int, mode: str, seed: int = 1) -> Tortured:
    """One crawl with `mode` at call `number`, counted from 1; with 0, nothing goes wrong."""
    world = World([Shop(SITE, pages=4, busy=frozenset({2}))], seed)
    run = Tortured(world)

    def called(node: Node, kind: str) -> str:
        run.calls.append(kind)
        if len(run.calls) != number:
            return ""
        run.failed = kind if mode == "fail" else ""
        if mode == "freeze":
            world.loop.call_later(FROZEN, node.process.thaw, context=NOBODY)
        return mode

    world.on_call = called
    world.start("worker-1")
    if mode == "freeze":
        world.start("worker-2")
    world.run(12)
    world.say("address-saved", SITE)
    _prove(world)
    world.crawl(SITE)
    world.until(lambda: any(fact.type == "crawl-ended" for fact in world.facts()) or bool(_gone(world)), 60)
    world.run(FROZEN + 5)
    run.settled = world.settle(900)
    return run


def _gone(world: World) -> list[Node]:
    return [node for node in world.nodes.values() if node.process.state != "running"]


def _prove(world: World) -> None:
    """Ask for a proof until it is on file; a supervisor starts again what ends."""
    for _ in range(5):
        world.say("verification-requested", SITE)

        def proved() -> bool:
            world.revive()
            return _proved(world)

        if world.until(proved, 80):
            return
    raise AssertionError("no proof was found in five times")


def _proved(world: World) -> bool:
    for number in range(PARTITIONS):
        for record in reversed(world.broker.logs[CHANGELOG, number]):
            if record.key == f"{SITE}|h".encode() and record.value:
                return any(account.proof for account in Head.model_validate_json(record.value).accounts.values())
    return False
