"""Deletes and retries: batches, failed entries, backoff, and what is logged when a handler fails."""

import asyncio
import logging
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.errors import Unreachable
from tidegate.ports import EntryFailure
from tidegate.testing import FakeWorkQueue
from tidegate.worker.jobs.settle import RetryDelay
from tidegate.worker.message import Message

pytestmark = pytest.mark.looptime


async def test_nothing_is_deleted_before_its_handler_has_returned() -> None:
    work = Work(takes_s=5.0)
    async with working(work) as bench:
        bench.queue.send()
        await until(lambda: work.started)
        await asyncio.sleep(4.9)
        assert bench.queue.of("delete") == []


async def test_messages_that_finish_together_are_deleted_together_ten_at_most() -> None:
    work = Work(takes_s=1.0)
    async with working(work, plan=replace(PLAN, slots=25)) as bench:
        for _ in range(25):
            bench.queue.send()
        await until(lambda: len(bench.queue.deleted) == 25)
        sizes = [len(call.receipt_handles) for call in bench.queue.of("delete")]
        assert sorted(sizes) == [5, 10, 10]


async def test_a_single_delete_waits_a_moment_only() -> None:
    work = Work(takes_s=1.0)
    async with working(work) as bench:
        bench.queue.send()
        await until(lambda: bench.queue.deleted, step_s=0.001)
        assert bench.queue.of("delete")[0].at_s == pytest.approx(1.05, abs=0.01)


async def test_a_failed_delete_entry_is_tried_again_and_the_others_are_not() -> None:
    work = Work(takes_s=1.0)
    async with working(work, plan=replace(PLAN, slots=3)) as bench:
        sent = [bench.queue.send() for _ in range(3)]
        bench.queue.fail_entry("delete", EntryFailure(1, "InternalError", "try again", False))
        await until(lambda: len(bench.queue.deleted) == 3)
        first, second = bench.queue.of("delete")
        assert len(first.receipt_handles) == 3
        assert second.receipt_handles == (first.receipt_handles[1],)
        assert set(bench.queue.deleted) == set(sent)


async def test_a_delete_goes_on_being_tried_and_its_lease_kept_while_the_endpoint_is_down() -> None:
    work = Work(takes_s=1.0)
    async with working(work, FakeWorkQueue(visibility_s=5)) as bench:
        sent = bench.queue.send()
        bench.queue.fail("delete", *[Unreachable("sqs:DeleteMessageBatch", "orders", "down")] * 50)
        await until(lambda: bench.queue.deleted == [sent])
        assert work.started == [sent]
        await bench.stop()
        assert bench.sink.reports[-1].total.uncertain_deletes == 0


async def test_a_delete_with_a_handle_that_sqs_refuses_is_given_up_as_uncertain() -> None:
    work = Work(takes_s=1.0)
    async with working(work) as bench:
        bench.queue.send()
        bench.queue.fail_entry("delete", EntryFailure(0, "ReceiptHandleIsInvalid", "expired", True))
        await until(lambda: bench.queue.of("delete"))
        await asyncio.sleep(0)
        await bench.stop()
        assert bench.sink.reports[-1].total.uncertain_deletes == 1


async def test_both_copies_of_a_message_delivered_twice_are_deleted_by_their_own_handles() -> None:
    """The mistakes of JustSaying #1584 (the duplicate is left) and broadway_sqs #49 (one id twice in a batch)."""
    work = Work(takes_s=10.0)
    async with working(work, FakeWorkQueue(visibility_s=30)) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        bench.queue.show_again(sent)
        await until(lambda: len(work.finished) == 2)
        await until(lambda: bench.queue.deleted)
        handles = [handle for call in bench.queue.of("delete") for handle in call.receipt_handles]
        assert sorted(handles) == [f"{sent}#1", f"{sent}#2"]


async def test_a_message_whose_handler_raised_comes_back_after_its_backoff_and_is_tried_again() -> None:
    tries: list[float] = []

    async def fails_twice(message: Message) -> None:
        tries.append(asyncio.get_running_loop().time())
        if len(tries) < 3:
            raise RuntimeError

    plan = replace(PLAN, retry_base_s=10.0)
    async with working(fails_twice, FakeWorkQueue(visibility_s=600), plan, random=lambda: 0.9) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert tries == pytest.approx([0, 9, 9 + 18], abs=0.1)
        await bench.stop()
        total = bench.sink.reports[-1].total
        assert (total.starts, total.completions, total.failures, total.redeliveries) == (3, 1, 2, 2)


async def test_failing_messages_free_their_slots() -> None:
    async def fails(message: Message) -> None:
        raise RuntimeError

    async with working(fails, FakeWorkQueue(visibility_s=600), replace(PLAN, slots=1)) as bench:
        for _ in range(5):
            bench.queue.send()
        await until(lambda: len({handle.partition("#")[0] for handle in all_handles(bench.queue)}) == 5)


async def test_a_handler_that_cancels_itself_has_failed_and_is_retried() -> None:
    tries = []

    async def cancels_itself(message: Message) -> None:
        tries.append(message.receive_count)
        if len(tries) == 1:
            raise asyncio.CancelledError

    async with working(cancels_itself) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert tries == [1, 2]


async def test_a_failed_return_is_tried_again() -> None:
    async def fails(message: Message) -> None:
        raise RuntimeError

    async with working(fails, FakeWorkQueue(visibility_s=600), replace(PLAN, retry_base_s=100.0)) as bench:
        bench.queue.fail_entry("change", *[EntryFailure(0, "InternalError", "try again", False)] * 3)
        sent = bench.queue.send()
        await asyncio.sleep(20)
        assert [call.timeouts_s for call in bench.queue.of("change")] == [(50,)] * 4
        await until(lambda: f"{sent}#2" in all_handles(bench.queue))


async def test_a_failure_is_logged_with_the_id_and_the_place_but_never_with_the_body(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def quotes_the_body(message: Message) -> None:
        raise ValueError(f"bad order: {message.body}")

    async with working(quotes_the_body) as bench:
        with caplog.at_level(logging.DEBUG):
            sent = bench.queue.send("card 4111-1111")
            await until(lambda: "handler failed" in caplog.text)
        assert f"message {sent}" in caplog.text
        assert "ValueError" in caplog.text
        assert "quotes_the_body" in caplog.text
        assert "4111" not in caplog.text


@pytest.mark.parametrize(
    ("receive_count", "draw", "seconds"),
    [(1, 0.999, 1), (2, 0.999, 2), (3, 0.5, 2), (1, 0.001, 1), (9, 0.0, 0), (50, 0.999, 300)],
)
async def test_the_backoff_doubles_at_each_receive_up_to_its_cap(receive_count: int, draw: float, seconds: int) -> None:
    assert RetryDelay(1.0, 300.0, lambda: draw).after(receive_count) == seconds


def all_handles(queue: FakeWorkQueue) -> list[str]:
    return [handle for call in queue.of("change") for handle in call.receipt_handles]
