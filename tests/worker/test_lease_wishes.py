"""What a handler may ask of its lease, and how far leases are kept: extend, progress, extensions, SQS's 12 hours."""

import asyncio
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, until, working
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leases.book import LeaseBook, LeaseLimits
from tidegate.worker.message import LeaseLost, Message

pytestmark = pytest.mark.looptime

GATED = replace(PLAN, slots=1, leases=LeaseLimits(progress_timeout_s=20.0))


async def test_extend_makes_the_lease_last_that_long_at_once() -> None:
    async def handler(message: Message) -> None:
        message.extend(500)
        await asyncio.sleep(100)

    async with working(handler, FakeWorkQueue(visibility_s=30), replace(PLAN, grace_s=200)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.of("change"))
        assert bench.queue.of("change")[0].at_s < 1
        assert bench.queue.of("change")[0].timeouts_s == (500,)
        await until(lambda: bench.queue.deleted == [sent])
        assert len(bench.queue.of("change")) == 1


@pytest.mark.parametrize("for_s", [0, -1, float("nan")])
async def test_an_extension_for_no_time_is_refused(for_s: float) -> None:
    seen: list[str] = []

    async def handler(message: Message) -> None:
        with pytest.raises(ValueError, match="give seconds above 0"):
            message.extend(for_s)
        seen.append(message.id)

    async with working(handler) as bench:
        bench.queue.send()
        await until(lambda: seen)


def test_no_wish_goes_beyond_sqs_s_twelve_hours() -> None:
    book = LeaseBook(30)
    key = book.take("r1", handed_out_s=0.0)
    book.want(key, for_s=100_000.0, now_s=10.0)
    (change,) = book.changes_due(10.0)
    assert change.timeout_s + 10 <= LONGEST_LEASE_S
    book.changed(change, 10.0)
    assert book.changes_due(11.0) == []


async def test_a_handler_that_hangs_loses_its_lease_where_leases_are_kept_for_progress_only() -> None:
    """20 s of silence, then the lease of 30 s is left to run out."""
    told: list[float] = []

    async def hangs(message: Message) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            told.append(asyncio.get_running_loop().time())

    async with working(hangs, FakeWorkQueue(visibility_s=30), GATED) as bench:
        bench.queue.send()
        await until(lambda: told)
        assert told == [pytest.approx(45, abs=16)]
        await until(lambda: len(bench.queue.of("receive")) > 2)
        await bench.stop()
        assert bench.sink.reports[-1].total.leases_lost >= 1


async def test_a_handler_that_reports_progress_keeps_its_lease_for_hours() -> None:
    async def works(message: Message) -> None:
        for _ in range(360):
            await asyncio.sleep(10)
            message.progress()

    async with working(works, FakeWorkQueue(visibility_s=30), GATED) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        await bench.stop()
        assert bench.sink.reports[-1].total.leases_lost == 0


async def test_a_step_that_is_announced_may_be_silent_for_longer() -> None:
    async def one_long_step(message: Message) -> None:
        message.extend(300)
        await asyncio.sleep(280)

    async with working(one_long_step, FakeWorkQueue(visibility_s=30), GATED) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        await bench.stop()
        assert bench.sink.reports[-1].total.leases_lost == 0


async def test_the_slot_of_a_handler_that_hangs_is_given_to_another() -> None:
    done: list[str] = []

    async def handler(message: Message) -> None:
        if message.body != "bad":
            done.append(message.id)
            return
        while True:
            try:
                await asyncio.sleep(100_000)
            except asyncio.CancelledError:  # as code that catches everything does
                continue

    async with working(handler, FakeWorkQueue(visibility_s=30), GATED) as bench:
        bench.queue.send("bad")
        await until(lambda: bench.queue.of("receive"))
        good = bench.queue.send("good")
        await until(lambda: done == [good], within_s=200)
        for task in asyncio.all_tasks():
            if task.get_name().startswith("tidegate-handler"):
                task.get_coro().close()  # it would never end


@pytest.mark.parametrize(("most", "lasts_s"), [(0, 30), (2, 60)])
async def test_a_lease_is_extended_so_often_and_then_left_to_run_out(most: int, lasts_s: float) -> None:
    told: list[float] = []

    async def long(message: Message) -> None:
        try:
            await asyncio.sleep(10_000)
        finally:
            told.append(asyncio.get_running_loop().time())

    plan = replace(PLAN, slots=1, leases=LeaseLimits(max_extensions=most))
    async with working(long, FakeWorkQueue(visibility_s=30), plan) as bench:
        bench.queue.send()
        await until(lambda: told)
        assert told == [pytest.approx(lasts_s, abs=1.1)]


async def test_a_message_knows_its_age_its_queue_and_its_deadline() -> None:
    seen: list[Message] = []

    async def handler(message: Message) -> None:
        seen.append(message)

    queue = FakeWorkQueue(visibility_s=30)
    queue.send()
    await asyncio.sleep(100)
    async with working(handler, queue):
        await until(lambda: seen)
    assert seen[0].age_s == pytest.approx(100, abs=0.1)
    assert seen[0].deadline_s == pytest.approx(100 + LONGEST_LEASE_S, abs=10)
    assert seen[0].queue == "the queue"


async def test_the_loss_of_a_lease_can_be_waited_for_on_a_loop() -> None:
    lost = LeaseLost()
    waiting = [asyncio.create_task(lost.wait_async()) for _ in range(2)]
    await asyncio.sleep(1)
    assert not any(task.done() for task in waiting)
    lost.set()
    await asyncio.wait_for(asyncio.gather(*waiting), 1)
    await asyncio.wait_for(lost.wait_async(), 1)
