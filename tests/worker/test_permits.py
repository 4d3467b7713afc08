"""Limits that hold for all of a pool's workers together: permits taken before a receive, kept, lost and given back."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random

import pytest

from tests.worker.conftest import PLAN, Bench, until, working
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerState
from tidegate.core.workers.permits import CLOCKS_S, FLEET, Permits
from tidegate.errors import TidegateError, Unreachable
from tidegate.ports import StoredPermits
from tidegate.stores.notes import MemoryNotes
from tidegate.stores.permits import MemoryPermits
from tidegate.testing import FakeWorkQueue
from tidegate.worker.fleet.limits import ClassLoad, FleetLimits
from tidegate.worker.fleet.permits import Holding, PermitKeeper
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Message
from tidegate.worker.plan import Plan
from tidegate.worker.settings.slot_rule import auto
from tidegate.worker.slots import Slots

pytestmark = pytest.mark.looptime

LEASE_S = 3 * PLAN.heartbeat_s
AWAY = Unreachable("dynamodb:GetItem", "table fleet", "no answer")


def now_s() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Table(MemoryPermits):
    """Permits in memory; `error` is raised by each call while it is set."""

    error: TidegateError | None = None
    writes: int = 0
    most_held: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        super().__init__()

    async def permits(self, pool: str) -> StoredPermits:
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        return await super().permits(pool)

    async def replace(self, pool: str, permits: Permits, expected_version: int, expires_at_s: float) -> bool:
        await asyncio.sleep(0.01)
        if self.error is not None:
            raise self.error
        self.writes += 1
        return await super().replace(pool, permits, expected_version, expires_at_s)

    async def held(self, limit: str = FLEET) -> dict[str, int]:
        holders = (await super().permits("orders")).permits.holders
        return {name: holder.claims[limit].held for name, holder in holders.items() if limit in holder.claims}


@dataclass
class Together:
    """One handler of all workers: how many ran at once, in all and by body."""

    takes_s: Mapping[str, float]
    running: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    most_at_once: int = 0
    done: Counter[str] = field(default_factory=Counter)
    receives: Counter[str] = field(default_factory=Counter)

    async def __call__(self, message: Message) -> None:
        kind = message.body
        self.receives[message.id] = message.receive_count
        self.running[kind] += 1
        self.most[kind] = max(self.most[kind], self.running[kind])
        self.most_at_once = max(self.most_at_once, self.running.total())
        try:
            await asyncio.sleep(self.takes_s[kind])
            self.done[kind] += 1
        finally:
            self.running[kind] -= 1


@asynccontextmanager
async def fleet(
    count: int, work: Together, queue: FakeWorkQueue, table: Table, plan: Plan
) -> AsyncIterator[list[Bench]]:
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(
                working(work, queue, replace(plan, worker_id=f"w{number}"), permits=table, random=Random(number).random)
            )
            for number in range(1, count + 1)
        ]
        yield workers


LIMITED = replace(PLAN, slots=4, limits=FleetLimits(slots=6))


async def test_all_workers_together_run_as_many_handlers_as_the_fleet_may_and_no_receive_is_in_vain() -> None:
    work, queue, table = Together({"job": 7.0}), FakeWorkQueue(visibility_s=30), Table()
    async with fleet(4, work, queue, table, LIMITED):
        for _ in range(100):
            queue.send("job")
        await until(lambda: work.done["job"] == 100)
    assert work.most_at_once == 6
    assert max(work.receives.values()) == 1
    assert now_s() < 100 / 6 * 7.0 * 1.5


async def test_a_worker_takes_nothing_before_it_has_a_permit() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(), Table(error=AWAY)
    queue.send("job")
    async with fleet(1, work, queue, table, LIMITED) as workers:
        await asyncio.sleep(60)
        assert queue.of("receive") == []
        assert [(report.slots, report.permitted) for report in workers[0].sink.reports[-1:]] == [(4, 0)]
        table.error = None
        await until(lambda: work.done["job"] == 1, within_s=3)


async def test_a_newcomer_gets_its_share_within_a_lease_and_a_poll() -> None:
    work, queue, table = Together({"job": 5.0}), FakeWorkQueue(), Table()
    async with fleet(1, work, queue, table, replace(LIMITED, slots=6)) as (first,):
        for _ in range(1000):
            queue.send("job")
        await until(lambda: work.running["job"] == 6)
        async with working(work, queue, replace(LIMITED, slots=6, worker_id="new"), permits=table) as newcomer:
            await until(lambda: newcomer.sink.reports and newcomer.sink.reports[-1].busy == 3, within_s=LEASE_S)
            assert (await table.held()) == {"w1": 3, "new": 3}
            assert work.most_at_once == 6
            await first.stop()
            await newcomer.stop()


async def test_a_worker_that_can_not_renew_takes_nothing_new_once_its_lease_ends_and_finishes_what_runs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    work, queue, table = Together({"long": 300.0, "job": 1.0}), FakeWorkQueue(visibility_s=30), Table()
    async with fleet(1, work, queue, table, LIMITED):
        queue.send("long")
        await until(lambda: work.running["long"] == 1)
        table.error, cut_at_s = AWAY, now_s()
        caplog.clear()
        await asyncio.sleep(LEASE_S + PLAN.poll_wait_s)
        sent = queue.send("job")
        await until(lambda: work.done["long"] == 1)
        assert now_s() - cut_at_s < 310
        assert queue.visible() == {sent}
        assert work.done["job"] == 0
        said = [
            (record.levelno, record.message.split(":")[0]) for record in caplog.records if "permits" in record.message
        ]
        assert said == [
            (logging.WARNING, "permits could not be renewed, trying again"),
            (logging.ERROR, "no permits of the fleet can be had, nothing new is taken until they can"),
        ]
        table.error = None
        await until(lambda: work.done["job"] == 1, within_s=3)


async def test_what_an_outstanding_poll_brings_after_the_lease_has_ended_waits_in_hand_and_runs_once() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(visibility_s=10), Table()
    async with fleet(1, work, queue, table, replace(LIMITED, poll_wait_s=20)):
        await until(lambda: queue.of("receive"))
        while now_s() < LEASE_S + 1:  # a poll is out at the end of the lease
            table.error = AWAY
            await asyncio.sleep(1)
        queue.send("job")
        await asyncio.sleep(100)
        assert (work.done["job"], len(queue.in_flight())) == (0, 1)
        table.error = None
        await until(lambda: work.done["job"] == 1, within_s=3)
    assert set(work.receives.values()) == {1}


async def test_what_has_given_its_permits_back_rests_until_the_worker_ends() -> None:
    looks, slots, loop = list[float](), Slots(4), asyncio.get_running_loop()

    def clock() -> float:
        looks.append(loop.time())
        assert len(looks) < 1_000, "it spins"
        return looks[-1]

    holding = Holding("orders", "w1", PLAN.heartbeat_s)
    keeper = PermitKeeper(
        Table(), FleetLimits(6), holding, slots, lambda: True, clock=clock, wall=loop.time, random=Random(1).random
    )
    renewing = asyncio.create_task(keeper.run())
    await until(lambda: slots.permitted == 4)
    await keeper.release()
    await asyncio.sleep(2 * PLAN.heartbeat_s)
    assert not renewing.done()
    renewing.cancel()


async def test_a_process_that_was_stopped_for_longer_than_its_lease_starts_nothing_before_it_has_renewed() -> None:
    at_s, slots = [1_000.0], Slots(4)
    limits, holding = FleetLimits(6, {"bulk": 2}), Holding("orders", "w1", PLAN.heartbeat_s)
    times = {"clock": lambda: at_s[0], "wall": lambda: at_s[0]}
    keeper = PermitKeeper(Table(), limits, holding, slots, lambda: True, random=Random(1).random, **times)
    keeper.class_loads = lambda: {"bulk": ClassLoad(waiting=1)}
    renewing = asyncio.create_task(keeper.run())
    await until(lambda: slots.usable == 4)
    assert keeper.class_limit("bulk") == 1
    at_s[0] += LEASE_S  # SIGSTOP and SIGCONT: no task of its own has run yet
    assert (slots.usable, slots.idle, slots.reserve(4), keeper.class_limit("bulk")) == (0, False, 0, 0)
    await until(lambda: slots.usable == 4, within_s=LEASE_S)
    assert keeper.class_limit("bulk") == 1
    renewing.cancel()


async def test_a_worker_without_permits_is_not_taken_for_stuck_because_messages_wait() -> None:
    """An outage of the table must not end long jobs all over the fleet."""
    work, queue, table = Together({"long": 2_000.0, "job": 1.0}), FakeWorkQueue(visibility_s=30), Table()
    plan = replace(LIMITED, stuck_after_s=120.0, leaves_when_stuck=True)
    async with fleet(1, work, queue, table, plan) as (bench,):
        queue.send("long")
        await until(lambda: work.running["long"] == 1)
        table.error = AWAY
        await asyncio.sleep(LEASE_S + PLAN.poll_wait_s)
        queue.send("job")
        await asyncio.sleep(1_000)
        assert not bench.serving.done()
        table.error = None
        await until(lambda: work.done["long"] == 1)
        assert work.done == Counter(long=1, job=1)


async def test_the_permits_of_a_worker_that_dies_come_back_when_its_lease_lapses() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(visibility_s=30), Table()
    async with fleet(2, work, queue, table, replace(LIMITED, slots=6)) as (dies, lives):
        await until(lambda: lives.sink.reports and dies.sink.reports)
        await asyncio.sleep(20)
        assert (await table.held()) == {"w1": 3, "w2": 3}
        dies.serving.cancel()
        await asyncio.wait({dies.serving})
        assert (await table.held()) == {"w1": 3, "w2": 3}
        died_at_s = now_s()
        await until(lambda: lives.service._slots.permitted == 6)
        assert now_s() - died_at_s <= LEASE_S + CLOCKS_S + PLAN.heartbeat_s


async def test_a_worker_that_leaves_gives_its_permits_back_at_once() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(), Table()
    async with fleet(2, work, queue, table, LIMITED) as (leaves, stays):
        await asyncio.sleep(30)
        await leaves.stop()
        assert (await table.held()) == {"w2": 3}
        await until(lambda: stays.service._slots.permitted == 4, within_s=PLAN.heartbeat_s + 1)


async def test_a_retired_worker_gives_back_what_is_idle_keeps_what_runs_and_has_its_share_again_when_taken_back() -> (
    None
):
    work, queue, table = Together({"job": 60.0}), FakeWorkQueue(visibility_s=30), Table()
    async with fleet(1, work, queue, table, LIMITED) as (bench,):
        queue.send("job")
        await until(lambda: work.running["job"] == 1)
        bench.sink.told = Directive(retire=("w1",))
        await asyncio.sleep(30)
        assert (await table.held()) == {"w1": 1}
        await until(lambda: work.done["job"] == 1)
        await asyncio.sleep(5)
        assert (await table.held()) == {"w1": 0}
        bench.sink.told = Directive()
        await until(lambda: bench.service._slots.permitted == 4, within_s=5)


async def test_an_idle_fleet_writes_about_once_per_worker_and_beat() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(), Table()
    async with fleet(3, work, queue, table, LIMITED):
        await asyncio.sleep(100)
        before = table.writes
        await asyncio.sleep(300)
        assert 90 <= table.writes - before <= 130


def by_body(message: Message) -> str:
    return message.body


CLASSES = replace(
    PLAN, slots=4, sorting=Sorting(by_body), limits=FleetLimits(classes={"bulk": 2, "mail": 1}), prefetch=0
)


async def test_a_class_has_its_permits_in_all_workers_together_and_the_others_go_on() -> None:
    work, queue, table = Together({"bulk": 5.0, "mail": 2.0, "free": 1.0}), FakeWorkQueue(visibility_s=10), Table()
    async with fleet(3, work, queue, table, CLASSES):
        for kind, count in (("bulk", 20), ("mail", 10), ("free", 40)):
            for _ in range(count):
                queue.send(kind)
        await until(lambda: work.done == Counter(bulk=20, mail=10, free=40), within_s=600)
    assert (work.most["bulk"], work.most["mail"]) == (2, 1)
    assert work.most["free"] > 2


async def test_a_message_whose_class_has_no_permit_gets_its_turn_though_another_worker_never_rests() -> None:
    work, queue, table = Together({"mail": 2.0}), FakeWorkQueue(visibility_s=10), Table()
    busy, other = FakeWorkQueue(visibility_s=10), queue
    async with (
        working(work, busy, replace(CLASSES, worker_id="w1"), permits=table),
        working(work, other, replace(CLASSES, worker_id="w2"), permits=table),
    ):
        for _ in range(1000):
            busy.send("mail")
        await until(lambda: work.running["mail"] == 1)
        sent, sent_at_s = other.send("mail"), now_s()
        await until(lambda: other.deleted == [sent])
        assert now_s() - sent_at_s < 2 * LEASE_S
        assert work.most["mail"] == 1
        assert work.receives[sent] == 1


async def test_a_star_gives_every_class_that_is_not_named_a_limit_of_its_own() -> None:
    work, queue, table = Together({"a": 3.0, "b": 3.0}), FakeWorkQueue(visibility_s=30), Table()
    plan = replace(CLASSES, slots=8, limits=FleetLimits(classes={"*": 2}))
    async with fleet(2, work, queue, table, plan):
        for kind in "abababababab":
            queue.send(kind)
        await until(lambda: work.done == Counter(a=6, b=6))
    assert work.most == Counter(a=2, b=2)


async def test_class_and_fleet_limits_hold_together() -> None:
    work, queue, table = Together({"a": 3.0, "b": 3.0, "c": 3.0}), FakeWorkQueue(visibility_s=30), Table()
    plan = replace(CLASSES, limits=FleetLimits(slots=3, classes={"a": 1}))
    async with fleet(3, work, queue, table, plan):
        for kind in "abc" * 8:
            queue.send(kind)
        await until(lambda: work.done == Counter(a=8, b=8, c=8))
    assert (work.most_at_once, work.most["a"]) == (3, 1)


async def test_what_a_worker_does_not_use_of_a_class_any_more_is_free_after_a_beat() -> None:
    work, queue, table = Together({"bulk": 1.0}), FakeWorkQueue(), Table()
    async with fleet(1, work, queue, table, CLASSES):
        queue.send("bulk")
        await until(lambda: work.done["bulk"] == 1)
        await asyncio.sleep(2 * PLAN.heartbeat_s + 1)
        assert (await table.held("class bulk")) == {}


async def test_a_suspect_runs_alone_only_with_a_permit_of_its_class() -> None:
    work, table, notes = Together({"mail": 40.0}), Table(), MemoryNotes()
    first, second = FakeWorkQueue(visibility_s=30), FakeWorkQueue(visibility_s=30)
    suspect = second.send("mail")
    await second.receive(10, 1, 30)  # by a worker that dies of it
    await asyncio.sleep(31)
    async with working(work, first, replace(CLASSES, worker_id="w1"), permits=table):
        first.send("mail")
        await until(lambda: work.running["mail"] == 1)
        async with working(work, second, replace(CLASSES, worker_id="w2"), permits=table, notes=notes):
            await until(lambda: second.deleted == [suspect])
    assert work.most["mail"] == 1
    assert work.receives[suspect] == 2


async def test_a_suspect_waits_for_a_permit_of_the_fleet_too() -> None:
    work, queue, table, notes = Together({"job": 1.0}), FakeWorkQueue(visibility_s=30), Table(), MemoryNotes()
    suspect = queue.send("job")
    await queue.receive(10, 1, 30)
    await asyncio.sleep(31)
    plan = replace(LIMITED, slots=2, limits=FleetLimits(slots=2))
    async with working(work, queue, plan, permits=table, notes=notes) as bench:
        await until(lambda: work.running["job"] == 1)
        assert (await table.held())["w1"] >= 1
        await until(lambda: queue.deleted == [suspect])
        bench.queue.send("job")
        await until(lambda: work.done["job"] == 2)


async def test_a_worker_that_is_told_to_leave_while_messages_wait_for_their_class_gives_them_back_and_ends() -> None:
    work, queue, table = Together({"mail": 15.0}), FakeWorkQueue(visibility_s=600), Table()
    async with fleet(1, work, queue, table, CLASSES) as (bench,):
        for _ in range(3):
            queue.send("mail")
        await until(lambda: work.running["mail"] == 1)
        await bench.stop()
    assert work.done["mail"] == 1
    assert len(queue.visible()) == 2


async def test_a_retired_worker_first_works_what_waits_for_its_class_in_hand() -> None:
    work, queue, table = Together({"mail": 5.0}), FakeWorkQueue(visibility_s=30), Table()
    async with fleet(1, work, queue, table, CLASSES) as (bench,):
        for _ in range(3):
            queue.send("mail")
        await until(lambda: work.running["mail"] == 1)
        bench.sink.told = Directive(retire=("w1",))
        await until(lambda: bench.sink.reports[-1].state is WorkerState.RELEASED)
        assert work.done["mail"] == 3
        assert (await table.held("class mail")) == {}


async def test_slots_that_follow_the_work_grow_within_the_fleets_limit() -> None:
    work, queue, table = Together({"job": 1.0}), FakeWorkQueue(visibility_s=30), Table()
    rule = auto(min=1, max=20, target_wait="1s")
    plan = replace(LIMITED, slots=rule.least, auto=rule)
    async with fleet(2, work, queue, table, plan):
        for _ in range(400):
            queue.send("job")
        await until(lambda: work.done["job"] == 400)
    assert work.most_at_once == 6


async def test_while_the_table_is_away_what_waits_for_its_class_stays_in_hand_and_no_more_is_received() -> None:
    work, queue, table = Together({"mail": 1.0}), FakeWorkQueue(visibility_s=30), Table(error=AWAY)
    async with fleet(1, work, queue, table, CLASSES):
        for _ in range(60):
            queue.send("mail")
        await asyncio.sleep(300)
        assert work.done["mail"] == 0
        assert len(queue.in_flight()) <= 2 * CLASSES.slots + 10
        assert [call for call in queue.of("change") if 5 in call.timeouts_s] == []  # the time of those that go back
        table.error = None
        await until(lambda: work.done["mail"] == 60)
