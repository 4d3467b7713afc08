"""Polling: slots are reserved first, refilled as they free up, and nothing ends the polling but a stop."""

import asyncio
import itertools
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.errors import CloudError, Denied, Gone, Invalid, Throttled, Unreachable
from tidegate.ports import Received
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leases.lane import QueuePlan
from tidegate.worker.message import Message

pytestmark = pytest.mark.looptime


def refusal(kind: type[CloudError]) -> CloudError:
    return kind("sqs:ReceiveMessage", "orders", "refused")


async def test_a_slow_message_does_not_hold_up_the_other_slots() -> None:
    """The mistake of sqs-consumer #86, #61 and spring-cloud-aws #1187: the next poll waits for the slowest of ten."""
    done: list[str] = []

    async def one_slow(message: Message) -> None:
        await asyncio.sleep(1000 if message.body == "slow" else 1)
        done.append(message.id)

    async with working(one_slow, FakeWorkQueue(visibility_s=600), replace(PLAN, slots=2, grace_s=5)) as bench:
        bench.queue.send("slow")
        quick = [bench.queue.send("quick") for _ in range(20)]
        await until(lambda: len(done) == 20)
        assert done == quick
        assert asyncio.get_running_loop().time() < 25


async def test_never_more_is_received_than_slots_are_free() -> None:
    work = Work(takes_s=3.0)
    async with working(work, plan=replace(PLAN, slots=4)) as bench:
        for _ in range(40):
            bench.queue.send()
        while len(work.finished) < 40:
            assert len(work.started) - len(work.finished) <= 4
            await asyncio.sleep(0.1)
        assert work.most_at_once == 4


@pytest.mark.parametrize(("slots", "asked"), [(1, 1), (4, 4), (25, 10)])
async def test_a_poll_asks_for_as_many_as_slots_are_free_and_ten_at_most(work: Work, slots: int, asked: int) -> None:
    async with working(work, plan=replace(PLAN, slots=slots)) as bench:
        await until(lambda: bench.queue.calls)
        assert bench.queue.calls[0].limit == asked


async def test_a_worker_without_a_free_slot_does_not_poll() -> None:
    """A limit that is applied after the receive burns receive counts (spring-cloud-aws #516)."""
    work = Work(takes_s=50.0)
    async with working(work, plan=replace(PLAN, slots=2, grace_s=100)) as bench:
        for _ in range(3):
            bench.queue.send()
        await until(lambda: len(work.started) == 2)
        await asyncio.sleep(40)
        assert len(bench.queue.of("receive")) == 1


async def test_on_a_fifo_queue_a_poll_asks_for_one_message_so_that_no_group_runs_side_by_side(work: Work) -> None:
    async with working(work, plan=replace(PLAN, slots=4, queues=(QueuePlan("orders.fifo", fifo=True),))) as bench:
        await until(lambda: bench.queue.calls)
        assert bench.queue.calls[0].limit == 1


@pytest.mark.parametrize("kind", [Unreachable, Throttled, Denied, Gone, Invalid])
async def test_polling_goes_on_after_any_error_once_it_has_worked(work: Work, kind: type[CloudError]) -> None:
    """The mistakes of aws-sdk-js #367, sqs-consumer #130, kombu #1937 and #2031: polling ends silently."""
    async with working(work) as bench:
        await until(lambda: len(bench.queue.of("receive")) == 2)
        bench.queue.fail("receive", *[refusal(kind) for _ in range(50)])
        await asyncio.sleep(3600)
        sent = bench.queue.send()
        await until(lambda: work.finished == [sent])


async def test_failed_polls_are_spaced_out_up_to_a_limit(work: Work) -> None:
    async with working(work, random=lambda: 0.999) as bench:
        bench.queue.fail("receive", *[refusal(Throttled) for _ in range(10)])
        await until(lambda: len(bench.queue.of("receive")) == 11)
        times = [call.at_s for call in bench.queue.of("receive")]
        gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
        assert gaps == pytest.approx([0.5, 1, 2, 4, 8, 16, 20, 20, 20, 20], rel=0.01)


async def test_after_a_poll_that_worked_the_spacing_starts_anew(work: Work) -> None:
    async with working(work, random=lambda: 0.999) as bench:
        bench.queue.fail("receive", *[refusal(Throttled) for _ in range(6)])
        await until(lambda: len(bench.queue.of("receive")) == 8)
        failed_again_at_s = bench.queue.of("receive")[-1].at_s + PLAN.poll_wait_s
        bench.queue.fail("receive", refusal(Throttled))
        await until(lambda: len(bench.queue.of("receive")) == 10)
        assert bench.queue.of("receive")[-1].at_s == pytest.approx(failed_again_at_s + 0.5, abs=0.01)


@pytest.mark.parametrize("kind", [Denied, Gone, Invalid])
async def test_a_worker_whose_first_poll_is_refused_says_so_and_ends(work: Work, kind: type[CloudError]) -> None:
    queue = FakeWorkQueue()
    queue.fail("receive", refusal(kind))
    async with working(work, queue) as bench:
        with pytest.raises(kind):
            await bench.serving


async def test_an_empty_answer_that_comes_too_soon_is_not_asked_for_again_at_once(work: Work) -> None:
    """Something that answers "none" without waiting would be asked hundreds of times a second."""

    class Hasty(FakeWorkQueue):
        async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
            return await super().receive(limit, 0, visibility_s)

    async with working(work, Hasty()) as bench:
        await asyncio.sleep(60)
        assert len(bench.queue.of("receive")) == pytest.approx(60, abs=2)
        sent = bench.queue.send()
        await until(lambda: work.finished == [sent], within_s=3)


async def test_a_stop_ends_the_wait_after_a_failed_poll(work: Work) -> None:
    async with working(work, random=lambda: 0.999) as bench:
        await until(lambda: len(bench.queue.of("receive")) == 2)
        bench.queue.fail("receive", *[refusal(Throttled) for _ in range(20)])
        await asyncio.sleep(120)
        asked_at_s = asyncio.get_running_loop().time()
        await bench.stop()
        assert asyncio.get_running_loop().time() - asked_at_s < 0.1
