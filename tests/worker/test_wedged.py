"""A worker whose handlers do not end any more drains like any other, gives back what it holds, and makes room."""

import asyncio
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Bench, Work, until, working
from tidegate.core.reports import WorkerState
from tidegate.errors import Wedged
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leases.book import LeaseLimits
from tidegate.worker.leaving.lifecycle import Why
from tidegate.worker.message import Message
from tidegate.worker.settings.worker_settings import worker_settings

WEDGES = replace(PLAN, slots=1, stuck_after_s=300.0, leaves_when_stuck=True, poll_wait_s=20)


def seen(bench: Bench) -> list[tuple[WorkerState, str]]:
    return list(dict.fromkeys((report.state, report.reason) for report in bench.sink.reports))


def now_s() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.looptime
async def test_a_wedged_worker_drains_releases_what_it_holds_and_says_why() -> None:
    queue = FakeWorkQueue(visibility_s=600)
    async with working(Work(takes_s=40_000), queue, WEDGES) as bench:
        held, waits = queue.send(), queue.send()
        with pytest.raises(Wedged, match="stuck: 1 of 1 slots busy, 0 of them live; messages wait and for 30"):
            await bench.serving
        assert 300 <= now_s() <= 300 + PLAN.grace_s + 20
        assert queue.visible() == {held, waits}
        assert seen(bench) == [
            (WorkerState.RUNNING, ""),
            (WorkerState.RETIRING, Why.WEDGED),
            (WorkerState.DRAINING, Why.WEDGED),
            (WorkerState.RELEASED, Why.WEDGED),
            (WorkerState.STOPPED, Why.WEDGED),
        ]


@pytest.mark.looptime
async def test_a_handler_that_comes_to_its_end_in_the_grace_has_done_its_work() -> None:
    queue, work = FakeWorkQueue(visibility_s=600), Work(takes_s=310.0)
    async with working(work, queue, WEDGES) as bench:
        done, waits = queue.send(), queue.send()
        with pytest.raises(Wedged):
            await bench.serving
        assert queue.deleted == [done] == work.finished
        assert queue.visible() == {waits}


@pytest.mark.looptime
async def test_a_stuck_worker_that_is_not_to_leave_stays_and_is_unhealthy_only() -> None:
    queue = FakeWorkQueue(visibility_s=600)
    async with working(Work(takes_s=4_000), queue, replace(WEDGES, leaves_when_stuck=False)) as bench:
        queue.send()
        queue.send()
        await asyncio.sleep(3_600)
        assert not bench.serving.done()
        assert len(queue.in_flight()) == 1


@pytest.mark.looptime
async def test_a_long_job_is_not_wedged_while_nothing_waits() -> None:
    queue, work = FakeWorkQueue(visibility_s=600), Work(takes_s=1_800)
    async with working(work, queue, WEDGES):
        sent = queue.send()
        await queue.all_deleted()
        assert work.finished == [sent]


@pytest.mark.looptime
async def test_a_worker_that_takes_no_work_any_more_is_left_to_finish_a_long_job() -> None:
    """What waits then waits for others; scale-in gives jobs the time that they take."""
    queue, work = FakeWorkQueue(visibility_s=600), Work(takes_s=1_800)
    async with working(work, queue, WEDGES) as bench:
        sent = queue.send()
        await until(lambda: work.started)
        bench.service.retire(Why.REBALANCE)
        queue.send()
        await until(lambda: bench.sink.reports[-1].state is WorkerState.RELEASED)
        assert work.finished == [sent]
        assert not bench.serving.done()


@pytest.mark.looptime
async def test_more_handlers_that_hang_than_slots_are_a_wedged_worker_too() -> None:
    """Leases are kept for progress only: a handler that hangs loses its lease, and its slot goes to another."""

    async def ignores_everything(message: Message) -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:  # as code that catches everything does
                continue

    plan = replace(PLAN, slots=1, leases=LeaseLimits(progress_timeout_s=20.0))
    async with working(ignores_everything, FakeWorkQueue(visibility_s=30), plan) as bench:
        bench.queue.send()
        with pytest.raises(Wedged, match="2 handlers did not end when told to, and it has 1 slots"):
            await bench.serving
        assert bench.sink.reports[-1].reason == Why.WEDGED
        for task in asyncio.all_tasks():
            if task.get_name().startswith("tidegate-handler"):
                task.get_coro().close()  # it would never end


@pytest.mark.parametrize(
    ("given", "leaves"),
    [
        ({}, False),
        ({"stuck_after": "5m"}, True),
        ({"stuck_after": "5m", "leave_when_stuck": False}, False),
        ({"leave_when_stuck": True}, True),
    ],
)
def test_a_stuck_worker_leaves_when_its_author_has_said_what_stuck_is(given: dict[str, object], leaves: bool) -> None:
    assert worker_settings({"queue": "orders", **given}).leaves_when_stuck is leaves
