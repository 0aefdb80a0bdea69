"""The worker: one Faust app with its agents, its memory and its pump, and the hooks that tie them together.

The pump starts in `on_rebalance_end` (recovered, right generation) and stops in `on_partitions_revoked` and, since
SIGTERM sends no revoke, in `on_before_shutdown` (both measured).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import faust
from aiokafka import AIOKafkaConsumer, TopicPartition

from agents.health import Health
from agents.holds import Holds, Overhearing, committed
from agents.intake import Intake
from agents.lives import Lives
from agents.memory import Memory
from agents.metrics import LOOP_LAG, REBALANCES
from agents.partitions import bootstrap
from agents.post import Post
from agents.pump import Pump
from agents.reader import Reader
from agents.runtime import App, build_app, raw_topic
from agents.site import Mailbox
from agents.sites import Sites
from agents.standstill import STALL, Standstill
from agents.step import Stepper
from agents.vitals import Vitals
from crawler.fetch.client import Fetcher
from crawler.fetch.doh import Carrier, Doh
from crawler.fetch.network import Network
from crawler.rules.site import Policy
from models import intake, topics
from models.ids import partition_of
from models.lives import Life, full_name, new_life
from models.settings import Settings

log = logging.getLogger(__name__)

APP_ID = "licet-worker"
MAILBOX = "site-mailbox"
LOOK = 0.5
"""Seconds between questions whether we are still in the group. Well below the delay of whoever takes over."""


class WorkerApp(App):
    """Faust's app with two hooks of ours. `worker` is set once, before it starts."""

    worker: Worker

    def on_rebalance_start(self) -> None:
        """In the consumer's thread: a count and a flag, nothing else."""
        self.worker.rebalances += 1
        self.worker.pump.paused = True
        super().on_rebalance_start()

    def on_rebalance_end(self) -> None:
        """In the main loop, recovered, in the right generation."""
        super().on_rebalance_end()
        self.worker.assigned()


class Worker:
    """Builds the parts and holds them together. Nothing is connected before `start`."""

    rebalances = 0
    """Rebalances that have begun; counted in the consumer's thread."""
    _given_in = 0
    """The one in which the partitions were given to us."""

    def __init__(self, settings: Settings, policy: Policy, network: Network, health: Health) -> None:
        self._settings = settings
        self._health = health
        self._delay = policy.profile.pace.crawl.delay
        self._partitions = topics.by_name()[MAILBOX].partitions
        self._behind: dict[int, int] = {}
        self._generation = 0
        self._background: set[asyncio.Task[None]] = set()
        me = Life(worker=settings.name, life=settings.worker_life or new_life(), state="started")
        self._name = full_name(me.worker, me.life)
        # An event that is held (the broker is away) must not hold up a rebalance for ever. By the client id a worker
        # finds itself in the broker's list of the group; it is the name alone, since Kafka keeps the first client id
        # of a static member over its restarts (measured).
        more: dict[str, Any] = {"stream_wait_empty": False, "broker_client_id": settings.name}
        self.app = cast("WorkerApp", build_app(settings, APP_ID, WorkerApp, **more))
        self.app.worker = self
        self.app.on_passed_over = self._fail
        self.failure: asyncio.Future[BaseException] | None = None
        self.memory = Memory(self.app, self._partitions, self._fail, self._name)
        post = Post(self.app, self._partitions)
        self.sites = Sites(self.memory, post, self._partitions)
        self.carrier = Carrier(Fetcher(network), Doh(settings.dns_resolvers, network))
        self.reader = Reader(policy)
        # After a standstill a heartbeat must have been answered before anything is sent or written.
        self._standstill = standstill = Standstill(max(STALL, 2 * settings.heartbeat_interval + 1.0))
        self.sites.settled = self._settled
        stepper = Stepper(self.sites, self.carrier, self.reader, policy, self._name, standstill)
        self.pump = Pump(stepper, standstill, self._may_run)
        # After an outage of the broker, suspensions that wait in the mailbox are heard before the next request (E25).
        stepper.on_slow_broker = lambda: self.pump.hold(max(2.0, self._delay, 2 * settings.heartbeat_interval + 1.0))
        self.mailbox = Mailbox(self.sites, post, policy, self._partitions)
        self.mailbox.on_change = lambda site: self.pump.add(site, self.sites.get(site).head)
        # Commands that stop a site are heard by everybody at once, whoever owns their partition (E25, W13).
        self.holds = Holds()
        self.overhearing = Overhearing(bootstrap(self.app), APP_ID, self.holds)
        self.mailbox.on_decided = self.holds.decided
        self._agents(Intake(post, policy.profile))
        self.lives = Lives(bootstrap(self.app), me, self._fail)
        self.vitals = self._vitals(settings)

    def _vitals(self, settings: Settings) -> Vitals:
        vitals = Vitals(
            bootstrap(self.app), APP_ID, settings.name, interval=min(LOOK, settings.heartbeat_interval),
            session=settings.session_timeout, asks_group=not settings.embedded,
        )  # fmt: skip
        vitals.waiting = lambda: self._heard_topics() if vitals.assigned else []
        vitals.on_lag = LOOP_LAG.observe
        self.pump.sure = lambda: not vitals.doubtful()
        vitals.on_doubt = lambda: self.pump.hold(settings.heartbeat_interval)
        self._health.unready, self._health.deaf = vitals.unready, vitals.deaf
        return vitals

    def _agents(self, intake_agent: Intake) -> None:
        names = sorted(intake.type_of_topic)
        self.app.agent(raw_topic(self.app, *names), name="intake", concurrency=1)(intake_agent.__call__)
        self.app.agent(raw_topic(self.app, MAILBOX), name="site", concurrency=1)(self.mailbox.__call__)
        self.app.on_partitions_revoked.connect(self._revoked)
        self.app.on_partitions_assigned.connect(self._given)
        self.app.on_before_shutdown.connect(self._shutdown)

    async def start(self) -> None:
        """Start reading and, once everything is recovered, crawling."""
        self.failure = asyncio.get_running_loop().create_future()
        # Lives before the group is joined: an older process of this name ends first.
        self._spawn(self.overhearing.run())
        await self.lives.start()
        self.vitals.start()
        self.app.finalize()
        await self.app.start()
        self._spawn(self.memory.watch())
        self.app.producer.buffer.max_messages = 10_000  # at 101 Faust throttles and logs (its #173)

    async def stop(self) -> None:
        """Finish the steps under way, hand the sites over, close everything."""
        for task in self._background:
            task.cancel()
        await self.pump.close()
        await self.vitals.stop()
        await self.lives.stop()
        await self.app.stop()
        await self.carrier.close()
        await self.reader.close()

    def assigned(self) -> None:
        """The sites of the assigned partitions are ours: everything recovered, nothing sent yet.

        Unless the next rebalance has begun: Faust ends the one before it all the same, and a worker that then started
        made requests for three seconds at sites that were somebody else's (measured).
        """
        if self._given_in != self.rebalances:
            log.info("a rebalance that is over by now has ended; the next one has begun")
            return
        REBALANCES.inc()
        self._generation += 1
        owned = self._owned()
        self.reader.start()
        self.sites.take(owned)
        self._behind = dict.fromkeys(owned, -1)
        self._spawn(self._find_ends(owned, self._generation))
        # An older process of this name that nobody has buried may not know yet that it lost its sites.
        delay = self._delay + (self._settings.heartbeat_interval if self.lives.namesake else 0.0)
        self.pump.start(self.sites.open(owned), delay, self.lives.certainly_dead)
        if self._given_in != self.rebalances:  # it began in this very moment, in the other thread
            self.pump.paused = True
        log.info("assigned %d of %d partitions", len(owned), self._partitions)

    def _owned(self) -> set[int]:
        return {tp.partition for tp in self.app.assignor.assigned_actives() if tp.topic == MAILBOX}

    def _heard_topics(self) -> list[TopicPartition]:
        heard = {MAILBOX, *intake.type_of_topic}
        return [TopicPartition(*tp) for tp in self.app.assignor.assigned_actives() if tp.topic in heard]

    async def _find_ends(self, owned: set[int], generation: int) -> None:
        """Where each mailbox ends now: a site waits until it has heard everything up to there (E25)."""
        while generation == self._generation:
            try:
                async with asyncio.timeout(10.0):
                    await self.overhearing.caught_up.wait()
                    forwarded = await committed(bootstrap(self.app), APP_ID)
                    ends = await mailbox_ends(self.app, owned)  # asked last: what was forwarded is before them
            except Exception as error:  # noqa: BLE001 - without the ends nothing may be sent: ask until they come
                log.warning("the ends of the mailboxes are not known yet: %r", error)
                await asyncio.sleep(1.0)
                continue
            if generation == self._generation:
                self.holds.forwarded(forwarded)
                self._behind = {p: end for p, end in ends.items() if self.mailbox.read.get(p, -1) < end}
                self._ready(True)
                log.info("mailboxes to hear first: %s", self._behind or "none")
            break
        await self._warn_of_lost(owned, generation)

    async def _warn_of_lost(self, owned: set[int], generation: int) -> None:
        """Say which memory is lost (A03), once what waits in the mailboxes, a restore perhaps, has been heard."""
        while generation == self._generation and not all(self._caught_up(number) for number in owned):  # noqa: ASYNC110 - progress in other tasks
            await asyncio.sleep(0.5)
        if generation != self._generation:
            return
        if lost := sorted(number for number in owned if not self.sites.whole(number)):
            log.warning("no memory in partitions %s: no request is made there until `licet restore` has run", lost)

    def _may_run(self, site: str) -> bool:
        """Whether a site may make a request now.

        It has heard all that was said before the assignment, its memory is its own (A03), and no stop is on its way
        to it (E25).
        """
        partition = partition_of(site, self._partitions)
        return self._caught_up(partition) and self.sites.whole(partition) and not self.holds.held(site)

    def _caught_up(self, partition: int) -> bool:
        end = self._behind.get(partition)
        if end is None:
            return True
        if end < 0 or self.mailbox.read.get(partition, -1) < end:
            return False
        del self._behind[partition]
        return True

    async def _given(self, *_args: Any, **_kwargs: Any) -> None:
        """Before recovery: this is the assignment of the rebalance that began last."""
        self._given_in = self.rebalances

    async def _revoked(self, *_args: Any, **_kwargs: Any) -> None:
        """Faust's rebalance is eager: everything goes, whatever comes back."""
        self._ready(False, "rebalancing")
        if not self._standstill.over:
            self.sites.release()  # others may have had these sites for long: not even results are written
        await self.pump.stop()
        self.sites.release()
        self.mailbox.read.clear()

    async def _settled(self) -> None:
        """Wait until it is certain whose the sites are: no standstill just now, a member by the broker's word."""
        await self._standstill.settled()
        while self.vitals.doubtful():
            await asyncio.sleep(0.1)
            await self._standstill.settled()

    def _ready(self, ready: bool, reason: str = "") -> None:
        self.vitals.assigned = ready
        self._health.set_ready(ready, reason)

    async def _shutdown(self, *_args: Any, **_kwargs: Any) -> None:
        self._health.set_ready(False, "stopping")
        await self.pump.stop()

    def _fail(self, error: BaseException) -> None:
        """The process must end: a lost write (memory is ahead of the log), events passed over, its name taken."""
        log.critical("the worker stops: %s", error)
        self.pump.paused = True
        if self.failure is not None and not self.failure.done():
            self.failure.set_result(error)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.create_task(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def mailbox_ends(app: faust.App, owned: set[int]) -> dict[int, int]:
    """Partition -> offset of its last message; partitions that were acknowledged to the end are left out."""
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap(app), group_id=APP_ID, enable_auto_commit=False)
    await consumer.start()
    try:
        wanted = [TopicPartition(MAILBOX, partition) for partition in sorted(owned)]
        consumer.assign(wanted)
        ends = await consumer.end_offsets(wanted) if wanted else {}
        starts = await consumer.beginning_offsets(wanted) if wanted else {}
        found = {}
        for tp in wanted:
            begin = max(await consumer.committed(tp) or 0, starts[tp])
            if begin < ends[tp]:
                found[tp.partition] = ends[tp] - 1
        return found
    finally:
        await consumer.stop()
