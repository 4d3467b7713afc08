"""Leases in a running worker: kept while a handler works, in batches, and what happens when one is lost."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.errors import Throttled, Unreachable
from tidegate.ports import EntryFailure
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leases.keeper import lease_is_over
from tidegate.worker.message import Message

pytestmark = pytest.mark.looptime


@pytest.mark.parametrize(("visibility_s", "takes_s"), [(1, 60.0), (5, 300.0), (30, 3600.0), (43_200, 3600.0)])
async def test_a_handler_may_work_longer_than_the_lease(visibility_s: int, takes_s: float) -> None:
    """The mistake of NServiceBus.AmazonSQS #1926: a handler slower than the timeout is retried for ever."""
    work = Work(takes_s=takes_s)
    async with working(work, FakeWorkQueue(visibility_s=visibility_s)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.finished)
        assert work.started == [sent]
        await until(lambda: bench.queue.deleted == [sent])


async def test_all_leases_are_kept_by_one_heartbeat_in_calls_of_ten() -> None:
    work = Work(takes_s=20.0)
    async with working(work, FakeWorkQueue(visibility_s=10), replace(PLAN, slots=25)) as bench:
        for _ in range(25):
            bench.queue.send()
        await until(lambda: len(work.finished) == 25)
        sizes = [len(call.receipt_handles) for call in bench.queue.of("change")]
        assert max(sizes) == 10
        assert len(sizes) <= 4 * 3


async def test_only_leases_near_their_end_are_extended() -> None:
    work = Work(takes_s=50.0)
    async with working(work, FakeWorkQueue(visibility_s=30)) as bench:
        bench.queue.send()
        await until(lambda: work.finished)
        assert [round(call.at_s) for call in bench.queue.of("change")] == [15, 30, 45]


async def test_no_extension_is_sent_after_the_delete() -> None:
    """The mistake of sqs-consumer #303."""
    work = Work(takes_s=3.0)
    async with working(work, FakeWorkQueue(visibility_s=2, latency_s=0.4)) as bench:
        bench.queue.send()
        await until(lambda: bench.queue.deleted)
        await asyncio.sleep(10)
        deleted_at_s = bench.queue.of("delete")[0].at_s
        assert all(call.at_s <= deleted_at_s for call in bench.queue.of("change"))


async def test_a_failed_extension_is_tried_again_within_the_lease() -> None:
    work = Work(takes_s=60.0)
    async with working(work, FakeWorkQueue(visibility_s=30)) as bench:
        bench.queue.fail("change", *[Unreachable("sqs:ChangeMessageVisibilityBatch", "orders", "down")] * 10)
        sent = bench.queue.send()
        await until(lambda: work.finished)
        assert work.started == [sent]
        assert work.told == []


async def test_a_failed_entry_in_a_call_that_succeeded_is_read_and_tried_again() -> None:
    """The mistake of shoryuken #370 and sqs-consumer #315: `Failed` is ignored because the call answered 200."""
    work = Work(takes_s=60.0)
    async with working(work, FakeWorkQueue(visibility_s=30)) as bench:
        bench.queue.fail_entry("change", *[EntryFailure(0, "InternalError", "try again", False)] * 5)
        sent = bench.queue.send()
        await until(lambda: work.finished)
        assert work.started == [sent]


async def test_a_call_that_hangs_leaves_time_for_another_try() -> None:
    class HangsOnce(FakeWorkQueue):
        hung = False

        async def change_visibility(self, changes: object) -> list[EntryFailure]:
            if not self.hung:
                self.hung = True
                await asyncio.Event().wait()
            return await super().change_visibility(changes)  # type: ignore[arg-type]  # handed through as it came

    work = Work(takes_s=25.0)
    async with working(work, HangsOnce(visibility_s=8)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.finished)
        assert work.started == [sent]


async def test_when_the_lease_cannot_be_saved_the_handler_is_told_and_the_loss_is_counted() -> None:
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=10), replace(PLAN, slots=1)) as bench:
        bench.queue.fail("change", *[Throttled("sqs:ChangeMessageVisibilityBatch", "orders", "slow down")] * 6)
        sent = bench.queue.send()
        await until(lambda: work.told)
        assert work.told == [sent]
        assert asyncio.get_running_loop().time() == pytest.approx(10, abs=1.1)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert (total.leases_lost, total.completions, total.failures) == (1, 0, 1)
        assert bench.queue.deleted == []


async def test_a_lease_that_sqs_calls_over_is_lost_at_once() -> None:
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=30)) as bench:
        bench.queue.fail_entry("change", EntryFailure(0, "MessageNotInflight", "not in flight", True))
        bench.queue.send()
        await until(lambda: work.told)
        assert asyncio.get_running_loop().time() == pytest.approx(15, abs=1.1)


async def test_a_handler_that_returns_after_its_lease_was_lost_is_no_success_and_its_delete_is_uncertain() -> None:
    """The mistake of wolverine #4023: a delete with a stale handle "succeeds" without deleting."""
    seen: list[bool] = []

    async def stubborn(message: Message) -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(5)
            seen.append(message.lease_lost.is_set())

    async with working(stubborn, FakeWorkQueue(visibility_s=30), replace(PLAN, slots=1)) as bench:
        bench.queue.fail_entry("change", EntryFailure(0, "MessageNotInflight", "not in flight", True))
        bench.queue.send()
        await until(lambda: seen)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert seen == [True]
        assert (total.completions, total.failures, total.leases_lost, total.uncertain_deletes) == (0, 1, 1, 1)


async def test_a_delete_later_than_the_lease_is_uncertain_and_no_handler_has_lost_anything() -> None:
    """Neither the delete nor the extension of the lease gets an answer for longer than the lease of 10 s."""
    work = Work(takes_s=1.0)
    async with working(work, FakeWorkQueue(visibility_s=10), replace(PLAN, slots=1)) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        bench.queue.latency_s = 1000.0
        await asyncio.sleep(14)
        bench.queue.latency_s = 0.0
        await until(lambda: bench.queue.deleted)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert (total.completions, total.uncertain_deletes, total.leases_lost) == (2, 1, 0)


@pytest.mark.parametrize("visibility_s", [2, 4, 30])
@pytest.mark.parametrize("carried_out", [False, True], ids=["lost on the way", "its answer is lost"])
async def test_a_delete_that_hangs_is_given_up_while_its_lease_can_be_kept_and_the_message_runs_once(
    visibility_s: int, carried_out: bool
) -> None:
    class Hangs(FakeWorkQueue):
        left = 5

        async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
            if not self.left:
                return await super().delete(receipt_handles)
            self.left -= 1
            if carried_out:
                await super().delete(receipt_handles)
            await asyncio.Event().wait()
            raise AssertionError

    work = Work(takes_s=1.0)
    async with working(work, Hangs(visibility_s=visibility_s), random=lambda: 0.999) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        await asyncio.sleep(100)
        await bench.stop()
        assert work.started == [sent]
        total = bench.sink.reports[-1].total
        assert (total.completions, total.leases_lost) == (1, 0)
        if not carried_out:
            assert total.uncertain_deletes == 0


async def test_a_lease_is_extended_at_once_when_its_delete_has_failed_late() -> None:
    """Not at the keeper's next look, up to a second later: the delete has used up what there was to spare."""

    class HangsOnce(FakeWorkQueue):
        async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
            if not self.of("delete"):
                await super().delete([])
                await asyncio.Event().wait()
            return await super().delete(receipt_handles)

    work = Work(takes_s=14.3)
    async with working(work, HangsOnce(visibility_s=30)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        (extended,) = bench.queue.of("change")
        assert extended.at_s == pytest.approx(14.3 + 0.05 + 5.0, abs=0.02)


async def test_a_lease_is_asked_for_with_each_receive_so_that_the_queues_own_may_change() -> None:
    """Lowered by SetQueueAttributes, the queue's own would lapse long before the book thinks of extending it."""
    work = Work(takes_s=100.0)
    async with working(work, FakeWorkQueue(visibility_s=60), replace(PLAN, slots=3, grace_s=200)) as bench:
        await until(lambda: bench.queue.calls)
        bench.queue.visibility_s = 2
        sent = bench.queue.send()
        await until(lambda: work.finished)
        assert work.started == [sent]


@pytest.mark.parametrize(
    ("code", "message", "over"),
    [
        ("MessageNotInflight", "", True),
        ("AWS.SimpleQueueService.MessageNotInflight", "", True),
        ("ReceiptHandleIsInvalid", "", True),
        ("InvalidParameterValue", "Value … for parameter ReceiptHandle is invalid", True),
        ("InvalidParameterValue", "Total VisibilityTimeout for the message is beyond the limit", False),
        ("InternalError", "", False),
        ("RequestThrottled", "", False),
    ],
)
async def test_only_sqs_saying_that_the_message_is_not_held_ends_a_lease(code: str, message: str, over: bool) -> None:
    assert lease_is_over(EntryFailure(0, code, message, True)) is over
