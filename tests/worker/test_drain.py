"""A worker that is told to leave: what it finishes, what it releases, in which order, and when it is gone."""

import asyncio
import logging
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.core.reports import WorkerState
from tidegate.errors import Unreachable
from tidegate.testing import FakeWorkQueue
from tidegate.worker.message import Message

pytestmark = pytest.mark.looptime


def now_s() -> float:
    return asyncio.get_running_loop().time()


async def test_an_idle_worker_leaves_when_its_outstanding_poll_is_back(work: Work) -> None:
    async with working(work) as bench:
        await until(lambda: bench.queue.calls)
        polled_at_s = bench.queue.calls[0].at_s
        await asyncio.sleep(1)
        await bench.stop()
        assert now_s() - polled_at_s == pytest.approx(PLAN.poll_wait_s, abs=0.1)
        assert len(bench.queue.of("receive")) == 1


async def test_a_handler_in_mid_work_finishes_and_its_message_is_deleted_before_the_worker_is_gone(work: Work) -> None:
    work.takes_s = 15.0
    async with working(work) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        await bench.stop()
        assert work.finished == [sent]
        assert bench.queue.deleted == [sent]
        assert work.told == []


async def test_messages_that_the_last_poll_brings_are_released_at_once_and_never_started(work: Work) -> None:
    async with working(work) as bench:
        await until(lambda: bench.queue.calls)
        bench.service.stop("test")
        await asyncio.sleep(1)
        late = bench.queue.send()
        await asyncio.sleep(0.1)
        assert bench.queue.visible() == {late}
        await bench.serving
        assert work.started == []


async def test_no_poll_is_sent_after_the_stop_even_when_slots_free_up(work: Work) -> None:
    work.takes_s = 2.0
    async with working(work, plan=replace(PLAN, slots=1)) as bench:
        first, second = bench.queue.send(), bench.queue.send()
        await until(lambda: work.started)
        await bench.stop()
        assert bench.queue.deleted == [first]
        assert bench.queue.visible() == {second}
        assert len(bench.queue.of("receive")) == 1


async def test_what_does_not_end_within_the_grace_is_told_and_released(work: Work) -> None:
    work.takes_s = 1000.0
    async with working(work, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        stopped_at_s = now_s()
        await bench.stop()
        assert work.told == [sent]
        assert bench.queue.visible() == {sent}
        assert bench.queue.of("change")[-1].timeouts_s == (0,)
        assert PLAN.grace_s <= now_s() - stopped_at_s <= PLAN.grace_s + 2


async def test_leases_are_kept_alive_through_the_drain() -> None:
    """The mistake of procrastinate #1585, solid_queue #568, Hangfire #2233, db-scheduler #368, shoryuken #636."""
    work = Work(takes_s=15.0)
    async with working(work, FakeWorkQueue(visibility_s=2)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.service.stop("test")
        while not bench.serving.done():
            assert bench.queue.visible() == set()
            await asyncio.sleep(0.1)
        assert bench.queue.deleted == [sent]


async def test_leases_are_kept_alive_until_the_queued_deletes_are_confirmed(work: Work) -> None:
    async with working(work, FakeWorkQueue(visibility_s=2)) as bench:
        sent = bench.queue.send()
        bench.queue.fail("delete", *[Unreachable("sqs:DeleteMessageBatch", "orders", "down")] * 5)
        await until(lambda: work.finished)
        await bench.stop()
        assert bench.queue.deleted == [sent]
        assert len(bench.queue.of("delete")) == 6
        assert bench.sink.reports[-1].total.uncertain_deletes == 0


async def test_deletes_below_a_full_batch_are_flushed_at_the_end(work: Work) -> None:
    """The mistake of spring-cloud-aws #1661."""
    async with working(work) as bench:
        sent = {bench.queue.send() for _ in range(2)}
        await until(lambda: len(work.started) == 2)
        await bench.stop()
        assert set(bench.queue.deleted) == sent


async def test_a_released_message_is_not_taken_back_by_a_late_poll_of_the_same_worker() -> None:
    """The mistake of kombu #1835: here the last poll is back, or given up, before anything is released."""
    work = Work(takes_s=1000.0)
    async with working(work, FakeWorkQueue(visibility_s=600), replace(PLAN, poll_wait_s=20, grace_s=10)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started and len(bench.queue.of("receive")) == 2)
        await bench.stop()
        assert bench.queue.visible() == {sent}
        assert work.started == [sent]
        assert {handle for call in bench.queue.of("change") for handle in call.receipt_handles} == {f"{sent}#1"}


async def test_the_worker_is_not_gone_before_its_releases_are_confirmed() -> None:
    work = Work(takes_s=1000.0)
    async with working(work, FakeWorkQueue(visibility_s=600, latency_s=1.0)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        await bench.stop()
        assert bench.queue.visible() == {sent}


async def test_a_handler_that_returns_when_told_has_done_its_work_and_is_not_released() -> None:
    ended = []

    async def quick_finish(message: Message) -> None:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            await asyncio.sleep(0.2)
            ended.append(message.id)

    async with working(quick_finish, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(bench.queue.in_flight)
        await bench.stop()
        assert ended == [sent]
        assert bench.queue.deleted == [sent]
        assert bench.sink.reports[-1].total.completions == 1


async def test_a_second_stop_shortens_the_grace_and_loses_nothing() -> None:
    work = Work(takes_s=1000.0)
    async with working(work, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.service.stop("first")
        await asyncio.sleep(6)
        asked_again_at_s = now_s()
        await bench.stop("second")
        assert now_s() - asked_again_at_s == pytest.approx(PLAN.grace_s / 5, abs=0.1)
        assert bench.queue.visible() == {sent}
        assert bench.sink.reports[-1].reason == "first"


async def test_a_second_stop_within_a_second_is_an_echo_that_shortens_nothing_and_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ctrl-C reaches a whole process group, and the parent passes it on: that is one wish, not two."""
    caplog.set_level(logging.INFO)
    work = Work(takes_s=18.0)
    async with working(work) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.service.stop("first")
        await asyncio.sleep(0.5)
        await bench.stop("echo")
        assert work.finished == [sent]
    leaves = [record.getMessage() for record in caplog.records if "worker leaves" in record.getMessage()]
    assert leaves == ["worker leaves (first) within 20.0 s, 1 busy"]


async def test_the_states_are_reported_in_order_and_the_last_is_stopped() -> None:
    work = Work(takes_s=1000.0)
    async with working(work, FakeWorkQueue(visibility_s=600)) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        await bench.stop("scale-in")
        states = list(dict.fromkeys(report.state for report in bench.sink.reports))
        assert states == list(WorkerState)
        assert {report.reason for report in bench.sink.reports if report.state is not WorkerState.RUNNING} == {
            "scale-in"
        }


async def test_a_dead_delete_endpoint_does_not_hold_the_worker_for_ever(work: Work) -> None:
    async with working(work) as bench:
        bench.queue.send()
        bench.queue.fail("delete", *[Unreachable("sqs:DeleteMessageBatch", "orders", "down")] * 1000)
        await until(lambda: work.finished)
        stopped_at_s = now_s()
        await bench.stop()
        assert now_s() - stopped_at_s < PLAN.grace_s
        assert bench.sink.reports[-1].total.uncertain_deletes == 1
