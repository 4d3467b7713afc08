"""A worker on the retire list: what it finishes, what it reports, and how it comes back."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from tests.worker.conftest import PLAN, Bench, Work, until, working
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerState
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.errors import Blocked, Denied, Gone, StateUnreadable, Throttled
from tidegate.testing import FakeProtection, FakeWorkQueue
from tidegate.worker.fleet.reporter import DEAF_FOR_S
from tidegate.worker.leaving.lapse import EVERY_S
from tidegate.worker.leaving.lifecycle import Lifecycle, Why
from tidegate.worker.leaving.retirement import Retirement
from tidegate.worker.leaving.shield import HOLD_S, RENEW_S, Shield
from tidegate.worker.message import Message
from tidegate.worker.slots import Slots

pytestmark = pytest.mark.looptime

RETIRE = Directive(retire=("w1",))


def now_s() -> float:
    return asyncio.get_running_loop().time()


def states(bench: Bench) -> list[WorkerState]:
    return list(dict.fromkeys(report.state for report in bench.sink.reports))


async def released(bench: Bench) -> None:
    await until(lambda: bench.sink.reports and bench.sink.reports[-1].state is WorkerState.RELEASED)


async def test_a_retired_worker_finishes_a_job_longer_than_the_stop_timeout_and_is_never_told_to_hurry() -> None:
    work = Work(takes_s=3600.0)
    async with working(work, FakeWorkQueue(visibility_s=60)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.sink.told = RETIRE
        await released(bench)
        assert work.finished == [sent] == bench.queue.deleted
        assert work.told == []
        assert states(bench) == [
            WorkerState.RUNNING,
            WorkerState.RETIRING,
            WorkerState.DRAINING,
            WorkerState.RELEASED,
        ]
        assert bench.sink.reports[-1].reason == Why.SCALE_IN


async def test_it_sends_no_poll_once_it_is_retired_and_works_what_the_outstanding_one_brings(work: Work) -> None:
    async with working(work) as bench:
        await until(lambda: bench.queue.of("receive"))
        bench.service.retire(Why.REBALANCE)
        await asyncio.sleep(1)
        brought = bench.queue.send()
        await released(bench)
        left = bench.queue.send()
        await asyncio.sleep(600)
        assert work.finished == [brought]
        assert bench.queue.visible() == {left}
        assert len(bench.queue.of("receive")) == 1


async def test_it_stays_alive_after_it_has_drained_since_the_platform_would_replace_it(work: Work) -> None:
    async with working(work) as bench:
        bench.sink.told = RETIRE
        await released(bench)
        await asyncio.sleep(3600)
        assert not bench.serving.done()
        assert now_s() - bench.sink.reports[-1].reported_at_s <= PLAN.heartbeat_s
        await bench.stop("SIGTERM")
        assert bench.sink.reports[-1].state is WorkerState.STOPPED


async def test_a_drained_worker_that_is_taken_back_works_again_within_two_seconds(work: Work) -> None:
    async with working(work) as bench:
        bench.sink.told = RETIRE
        await released(bench)
        await asyncio.sleep(5)
        sent = bench.queue.send()
        bench.sink.told = Directive()
        taken_back_at_s = now_s()
        await until(lambda: work.started == [sent])
        assert now_s() - taken_back_at_s <= 2.1
        await until(lambda: bench.sink.reports[-1].state is WorkerState.RUNNING)


async def test_a_handler_that_never_ends_keeps_a_retired_worker_for_no_longer_than_a_lease_can_last(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Protected for ever, it would hold up scale-in and deployments until somebody looks."""
    protection, slots, endless = FakeProtection(), Slots(4), asyncio.Event()
    lifecycle, shield = Lifecycle(30.0, lambda: None, now_s), Shield(protection, now_s, lambda: 0.5)
    await shield.hold()
    slots.start()

    async def never_settled() -> None:
        await endless.wait()

    retiring = asyncio.create_task(Retirement(lifecycle, slots, never_settled, shield).run())
    lifecycle.retire(Why.SCALE_IN)
    await asyncio.sleep(LONGEST_LEASE_S - 1)
    assert (lifecycle.state, protection.asked[-1][1]) == (WorkerState.DRAINING, True)
    await asyncio.sleep(2)
    assert (lifecycle.state, protection.asked[-1][1]) == (WorkerState.RELEASED, False)
    assert "1 handlers have not ended within 12 hours" in caplog.text
    retiring.cancel()


async def test_one_that_still_drains_is_taken_back_too() -> None:
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=60)) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        bench.sink.told = RETIRE
        await until(lambda: bench.sink.reports[-1].state is WorkerState.DRAINING)
        bench.sink.told = Directive()
        second = bench.queue.send()
        await until(lambda: second in work.started)
        assert WorkerState.RELEASED not in states(bench)


async def test_a_word_that_cannot_be_read_changes_nothing() -> None:
    work = Work()
    async with working(work) as bench:
        bench.sink.told = RETIRE
        await released(bench)
        bench.sink.error = StateUnreadable("directive of pool orders", "schema 2")
        await asyncio.sleep(100)
        bench.queue.send()
        await asyncio.sleep(100)
        assert work.started == []


async def test_a_retired_worker_that_can_read_nothing_for_minutes_works_again_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The controller takes it for dead by then: it would stand idle until somebody looks."""
    work = Work()
    async with working(work) as bench:
        bench.sink.told = RETIRE
        await released(bench)
        bench.sink.error = Denied("dynamodb:GetItem", "table fleet", "no statement allows it")
        sent = bench.queue.send()
        await asyncio.sleep(DEAF_FOR_S - 5)
        assert work.started == []
        await until(lambda: work.finished == [sent])
        assert "its last word is dropped" in caplog.text


async def test_a_worker_hears_that_its_pool_sheds_and_works_on(work: Work) -> None:
    async with working(work) as bench:
        bench.sink.told = Directive(shed=True)
        await until(lambda: bench.service.directive.shed)
        sent = bench.queue.send()
        await until(lambda: work.finished == [sent])
        bench.sink.told = Directive()
        await until(lambda: not bench.service.directive.shed)


async def test_another_workers_retirement_is_none_of_its_business(work: Work) -> None:
    async with working(work) as bench:
        bench.sink.told = Directive(retire=("w2", "w11"))
        await asyncio.sleep(100)
        sent = bench.queue.send()
        await until(lambda: work.finished == [sent])
        assert states(bench) == [WorkerState.RUNNING]


async def test_two_causes_hold_until_both_are_gone(work: Work) -> None:
    async with working(work) as bench:
        bench.service.retire(Why.REBALANCE)
        bench.sink.told = RETIRE
        await asyncio.sleep(60)
        bench.sink.told = Directive()
        await asyncio.sleep(60)
        sent = bench.queue.send()
        assert bench.sink.reports[-1].reason == Why.REBALANCE
        bench.service.take_back(Why.REBALANCE)
        await until(lambda: work.started == [sent])


async def test_a_retired_worker_that_gets_sigterm_in_mid_work_leaves_within_the_grace_and_releases_the_rest() -> None:
    work = Work(takes_s=3600.0)
    async with working(work, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.sink.told = RETIRE
        await until(lambda: bench.sink.reports[-1].state is WorkerState.DRAINING)
        stopped_at_s = now_s()
        await bench.stop("SIGTERM")
        assert now_s() - stopped_at_s <= PLAN.grace_s + 2
        assert bench.queue.visible() == {sent}
        assert [report.state for report in bench.sink.reports[-3:]][-1] is WorkerState.STOPPED


@pytest.mark.parametrize(
    "tell", [lambda bench: bench.service.retire(Why.REBALANCE), lambda bench: bench.stop("SIGTERM")]
)
async def test_handlers_can_see_that_the_worker_drains(tell: Callable[[Bench], Awaitable[None] | None]) -> None:
    seen: list[bool] = []

    async def look(message: Message) -> None:
        seen.append(bench.service.draining)
        await asyncio.sleep(10)
        seen.append(bench.service.draining)

    async with working(look) as bench:
        bench.queue.send()
        await until(lambda: seen)
        if (leaving := tell(bench)) is not None:
            await leaving
        await until(lambda: len(seen) == 2)
    assert seen == [False, True]


async def test_a_notice_may_give_more_time_than_the_grace_and_a_signal_after_it_less() -> None:
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=60)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.service.leave_within(Why.SPOT, 115.0)
        await bench.serving
        assert work.finished == [sent]
        assert bench.sink.reports[-1].reason == Why.SPOT
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.service.leave_within(Why.SPOT, 115.0)
        await asyncio.sleep(10)
        signalled_at_s = now_s()
        await bench.stop("SIGTERM")
        assert now_s() - signalled_at_s == pytest.approx(PLAN.grace_s, abs=0.1)
        assert bench.queue.visible() == {sent}


async def test_it_is_protected_before_its_first_poll_and_until_it_has_drained() -> None:
    work, protection = Work(takes_s=30.0), FakeProtection()
    async with working(work, FakeWorkQueue(visibility_s=60), protection=protection) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        assert protection.asked[0][1] is True
        assert protection.asked[0][0] <= bench.queue.of("receive")[0].at_s
        assert bench.sink.reports[-1].protected
        bench.sink.told = RETIRE
        await until(lambda: protection.asked[-1][1] is False)
        assert bench.queue.deleted, "dropped before the delete was confirmed"
        await released(bench)
        assert not bench.sink.reports[-1].protected
        polls = len(bench.queue.of("receive"))
        bench.sink.told = Directive()
        await until(lambda: len(bench.queue.of("receive")) > polls)
        assert protection.asked[-1][1] is True


async def test_protection_is_renewed_well_before_it_ends_and_not_often(work: Work) -> None:
    protection = FakeProtection()
    async with working(work, protection=protection):
        for _ in range(360):
            await asyncio.sleep(10)
            assert protection.protected_until_s > now_s()
        assert len(protection.asked) <= 3600 / RENEW_S + 1
    assert RENEW_S < HOLD_S / 2


async def test_a_short_trouble_with_protection_is_waited_out_before_the_first_poll(work: Work) -> None:
    protection = FakeProtection()
    protection.errors.extend([Throttled("ecs:UpdateTaskProtection", "this task", "slow down")] * 2)
    async with working(work, protection=protection) as bench:
        await until(lambda: bench.queue.of("receive"))
        assert protection.protected_until_s > now_s()
        assert bench.queue.of("receive")[0].at_s < 3.0


@pytest.mark.parametrize(
    ("error", "asked_within_an_hour"),
    [
        (Blocked("ecs:UpdateTaskProtection", "this task", "DEPLOYMENT_BLOCKED"), 360),
        (Denied("ecs:UpdateTaskProtection", "this task", "AccessDenied"), 12),
        (Gone("ecs:UpdateTaskProtection", "this task", "TASK_NOT_VALID"), 1),
    ],
    ids=["blocked", "denied", "no task of a service"],
)
async def test_without_protection_it_works_says_so_once_and_asks_again_as_often_as_that_makes_sense(
    work: Work, error: Blocked | Denied | Gone, asked_within_an_hour: int, caplog: pytest.LogCaptureFixture
) -> None:
    protection = FakeProtection()
    protection.errors.extend([error] * 1000)
    async with working(work, protection=protection) as bench:
        sent = bench.queue.send()
        await until(lambda: work.finished == [sent])
        assert not bench.sink.reports[-1].protected
        await asyncio.sleep(3600)
        assert len(protection.asked) == pytest.approx(asked_within_an_hour, rel=0.1)
        assert caplog.text.count("without protection against scale-in") == 1
        await bench.stop()


async def test_what_was_blocked_is_got_once_the_deployment_is_through(work: Work) -> None:
    protection = FakeProtection()
    protection.errors.extend([Blocked("ecs:UpdateTaskProtection", "this task", "DEPLOYMENT_BLOCKED")] * 3)
    async with working(work, protection=protection):
        await asyncio.sleep(40)
        assert protection.protected_until_s > now_s()


async def test_a_protection_call_that_hangs_delays_the_first_poll_by_seconds_only(work: Work) -> None:
    class Hanging(FakeProtection):
        async def set_protected(self, protected: bool, for_s: float) -> None:
            await asyncio.sleep(1e6)

    async with working(work, plan=replace(PLAN, visibility_timeout_s=30), protection=Hanging()) as bench:
        await until(lambda: bench.queue.of("receive"))
        assert bench.queue.of("receive")[0].at_s < 6.0
        await bench.stop()


async def test_without_a_fleet_table_a_busy_worker_lets_its_protection_lapse_and_interrupts_nothing() -> None:
    work, protection = Work(takes_s=20.0), FakeProtection()
    async with working(
        work, FakeWorkQueue(visibility_s=60), replace(PLAN, lapses=True), protection=protection
    ) as bench:
        for _ in range(400):
            bench.queue.send()
        await asyncio.sleep(3000)
        drops = [at_s for at_s, protected in protection.asked if not protected]
        gaps_s = [later - sooner for sooner, later in pairwise([0.0, *drops])]
        assert 5 <= len(drops) <= 3000 / EVERY_S + 1
        assert max(gaps_s) < 2 * EVERY_S
        assert work.told == []
        assert len(work.finished) > 0.85 * 2 * 3000 / 20


async def test_a_worker_of_long_jobs_lapses_seldom_since_draining_leaves_slots_empty() -> None:
    work, protection = Work(takes_s=120.0), FakeProtection()
    async with working(
        work, FakeWorkQueue(visibility_s=60), replace(PLAN, lapses=True), protection=protection
    ) as bench:
        for _ in range(120):
            bench.queue.send()
        await asyncio.sleep(6_000)
        assert work.told == []
        assert len(work.finished) > 0.85 * 2 * 6_000 / 120
