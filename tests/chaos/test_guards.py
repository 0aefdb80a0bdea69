"""The model finds what each guard is there for: with the guard taken out, the checkers condemn what happens."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agents import consuming, pump, sites
from agents.fences import Fence
from agents.standstill import Standstill
from agents.store import Store
from crawler.rules import actor, gate, site
from crawler.rules.robots_verdict import Verdict
from crawler.rules.site import Change
from models.ids import partition_of
from models.state import Head
from tests.chaos.broker import NOBODY, PARTITIONS, SESSION
from tests.chaos.node import Node
from tests.chaos.torture import torture
from tests.chaos.web import Shop
from tests.chaos.world import World

SITE = "shop.example"
Patch = pytest.MonkeyPatch


def crawling(slow: float = 0.1, pages: int = 8, workers: int = 2) -> World:
    """A house in which a crawl has just begun."""
    world = World([Shop(SITE, pages=pages, slow={"/p/1": slow})], 5)
    for number in range(workers):
        world.start(f"worker-{number + 1}")
    world.run(4)
    world.say("verification-requested", SITE)
    world.run(8)
    world.crawl(SITE)
    return world


def owner(world: World) -> str:
    return next(name for name, node in world.nodes.items() if SITE in node.worker.pump._slots)


def asked(world: World, target: str) -> bool:
    return world.until(lambda: any(one.target == target for one in world.web.asked), 40, 0.05)


def frozen_in_a_request() -> World:
    world = crawling(slow=20.0)
    assert asked(world, "/p/1")
    name = owner(world)
    world.freeze(name)
    world.loop.call_later(4 * SESSION, world.nodes[name].process.thaw, context=NOBODY)
    world.run(5 * SESSION)
    world.settle(400)
    return world


def handed_over() -> World:
    world = crawling()
    assert asked(world, "/")
    world.run(0.2)
    world.nodes.pop(owner(world)).terminate()
    world.settle(300)
    return world


def woken_with_a_message() -> World:
    world = crawling(pages=12)
    assert asked(world, "/p/1")
    world.run(0.6)
    name = owner(world)
    world.freeze(name)
    world.run(2.5 * SESSION)
    world.say("address-saved", SITE)
    world.run(0.5)
    world.thaw(name)
    world.settle(400)
    return world


def woken_with_a_result_in_its_buffer() -> World:
    """The result of /p/2 is in the buffer of a process that stands still; when it wakes, its successor is killed."""
    world = crawling(pages=10)
    assert asked(world, "/")
    name = owner(world)
    puts: list[str] = []

    def freeze(node: Node, kind: str) -> str:
        last = world.web.asked[-1]
        if kind != "put" or node.name != name or last.target != "/p/2" or last.ended is None:
            return ""
        puts.append(kind)
        return "freeze" if len(puts) == 2 else ""  # the first is a part of the page, the second the head

    world.on_call = freeze
    assert world.until(lambda: world.nodes[name].process.state == "frozen", 40, 0.05)
    assert world.until(lambda: any(one.target == "/p/4" for one in world.web.asked), 90, 0.05)
    world.run(0.8)
    world.on_call = lambda _node, _kind: ""
    world.thaw(name)
    world.run(0.01)
    for other in [other for other in world.nodes if other != name]:
        world.kill(other)
    world.settle(400)
    return world


def evicted_unawares() -> World:
    """Cut off for longer than a session, a worker hears a message and acts on it before it hears of its eviction."""
    world = crawling(workers=3, pages=4)
    world.settle(100)
    for _ in range(3):
        name = world.broker.owners[partition_of(SITE, PARTITIONS)]
        world.cut(name)
        world.run(SESSION + 1.5)
        world.crawl(SITE)
        world.run(0.1)
        world.cut(name, is_cut=False)
        world.settle(100)
    return world


def killed_with_a_slow_broker() -> World:
    world = crawling(workers=1)
    world.settle(100)
    world.broker.latency = 0.1
    world.crawl(SITE)
    world.run(1.9)
    world.kill("worker-1")
    world.settle(300)
    return world


def delivered_again() -> World:
    world = crawling(pages=4)
    world.settle(100)
    for number in range(4):
        world.redeliver(number)
    world.settle(200)
    return world


def unverified() -> World:
    world = World([Shop(SITE)], 1)
    world.start("worker-1")
    world.run(3)
    world.crawl(SITE)
    world.settle(100)
    return world


def suspended() -> World:
    world = crawling(workers=1)
    assert asked(world, "/")
    world.operator("suspend-site", SITE)
    world.settle(100)
    return world


def plain() -> World:
    world = crawling(workers=1)
    world.settle(200)
    return world


async def _at_once(*_: Any) -> None:
    return None


def no_takeover_wait(patch: Patch) -> None:
    patch.setattr(pump, "takeover_wait", lambda head, wall, delay, dead: 0.0)


def no_wait_for_open_intents(patch: Patch) -> None:
    whole = pump.takeover_wait

    def blind(head: Head, wall: float, delay: float, dead: Callable[[str], bool]) -> float:
        return whole(head.model_copy(update={"intents": ()}), wall, delay, dead)

    patch.setattr(pump, "takeover_wait", blind)


def pace_from_the_start(patch: Patch) -> None:
    patch.setattr(pump, "SLACK", -0.3)


def no_fence(patch: Patch) -> None:
    patch.setattr(Fence, "is_stale", lambda self, key, value, headers: False)


def intents_in_dispute(patch: Patch) -> None:
    patch.setattr(Store, "is_undisputed", lambda self, partition: True)


def zombies_write(patch: Patch) -> None:
    no_fence(patch)
    patch.setattr(sites.Sites, "_ours", lambda self, partition, term: None)
    patch.setattr(Standstill, "settled", _at_once)


def acknowledged_before_written(patch: Patch) -> None:
    whole = consuming._handled

    async def early(event: Any, handle: Any) -> Any:
        event.ack()
        event.message.acked(event.message)
        await asyncio.sleep(2.0)  # done later, as from a queue
        return await whole(event, handle)

    patch.setattr(consuming, "_handled", early)


def messages_not_remembered(patch: Patch) -> None:
    whole = site.joined
    patch.setattr(actor, "joined", lambda first, then: whole(Change(first.head), then))


def gate_open(patch: Patch) -> None:
    whole = gate.admit

    def admit(*args: Any) -> gate.Verdict:
        found = whole(*args)
        return gate.Verdict(None, found.proof, found.confirmed, found.limits, False)

    patch.setattr(gate, "admit", admit)


def deaf_to_suspensions(patch: Patch) -> None:
    patch.setitem(actor._HANDLERS, "suspend-site", lambda site_, message, now, policy: Change(site_.head))


def robots_not_obeyed(patch: Patch) -> None:
    patch.setattr(Verdict, "allows", lambda self, url: True)


GUARDS: list[tuple[Callable[[Patch], None], Callable[[], World], set[str]]] = [
    (no_wait_for_open_intents, frozen_in_a_request, {"I1"}),
    (no_takeover_wait, frozen_in_a_request, {"I1"}),
    (pace_from_the_start, plain, {"I2"}),
    (zombies_write, woken_with_a_message, {"I3", "I9"}),
    (no_fence, woken_with_a_result_in_its_buffer, {"I8", "I9"}),
    (intents_in_dispute, evicted_unawares, {"I1", "I2", "I3", "I9"}),
    (acknowledged_before_written, killed_with_a_slow_broker, {"I9"}),
    (messages_not_remembered, delivered_again, {"I9"}),
    (gate_open, unverified, {"I4"}),
    (deaf_to_suspensions, suspended, {"I14"}),
    (robots_not_obeyed, plain, {"I5"}),
]


@pytest.mark.parametrize(("without", "scenario", "broken"), GUARDS, ids=[guard[0].__name__ for guard in GUARDS])
def test_without_this_guard_the_model_breaks_a_promise(
    without: Callable[[Patch], None], scenario: Callable[[], World], broken: set[str], monkeypatch: Patch
) -> None:
    assert [str(found) for found in scenario().anomalies()] == []
    without(monkeypatch)
    assert {found.invariant for found in scenario().anomalies()} & broken


def test_a_head_that_is_written_after_the_mark_of_its_message_loses_the_crawl(monkeypatch: Patch) -> None:
    monkeypatch.setattr(sites, "seen_key", lambda site: "")
    assert any(
        any("never ended" in line for line in torture(number, "kill-after").wrong()) for number in range(20, 32)
    )
