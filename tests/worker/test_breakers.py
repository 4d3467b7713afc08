"""What somebody who wants to break a worker would try."""

import asyncio
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate import Reject, Retry
from tidegate.core.stored.codec import to_json
from tidegate.core.workers.leases import LONGEST_LEASE_S
from tidegate.errors import Throttled
from tidegate.ports import EntryFailure, Received, VisibilityChange
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.binding import bind
from tidegate.worker.handlers.run_handler import LoopRunner
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.message import Message

pytestmark = pytest.mark.looptime

MARKER = "card-4111-1111"


def now_s() -> float:
    return asyncio.get_running_loop().time()


class ThrottledForAMinute(FakeWorkQueue):
    """Whatever is asked of it from `since_s` on."""

    since_s = 1.0

    def _or_throttle(self, operation: str) -> None:
        if self.since_s <= now_s() < self.since_s + 60:
            raise Throttled(f"sqs:{operation}", "orders", "slow down")

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        self._or_throttle("ReceiveMessage")
        return await super().receive(limit, wait_s, visibility_s)

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
        self._or_throttle("DeleteMessageBatch")
        return await super().delete(receipt_handles)

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]:
        self._or_throttle("ChangeMessageVisibilityBatch")
        return await super().change_visibility(changes)

    async def backlog(self) -> int:
        self._or_throttle("GetQueueAttributes")
        return await super().backlog()


@pytest.mark.parametrize(
    ("lease_s", "runs"), [(150, 1), (30, 2)], ids=["lease that outlasts it", "lease that does not"]
)
async def test_a_minute_in_which_every_call_is_throttled_loses_nothing(lease_s: int, runs: int) -> None:
    work, queue = Work(takes_s=10.0), ThrottledForAMinute(visibility_s=lease_s)
    async with working(work, queue, replace(PLAN, slots=1)) as bench:
        first, second = queue.send(), queue.send()
        await queue.all_deleted()
        assert work.started.count(first) == runs
        assert work.started.count(second) == 1
        assert not bench.serving.done()
        assert now_s() < 61 + 3 * lease_s


@pytest.mark.parametrize(
    ("after", "hidden_s"), [(-1, (1,)), (float("inf"), (1,)), ("soon", (1,)), ("13h", (LONGEST_LEASE_S - 5,))]
)
async def test_a_retry_after_nonsense_is_a_failure_and_one_after_too_long_is_as_long_as_sqs_can(
    after: object, hidden_s: tuple[int, ...]
) -> None:
    async def handler(message: Message) -> None:
        raise Retry(after)  # type: ignore[arg-type]  # the mistake

    queue = FakeWorkQueue()
    async with working(handler, queue):
        sent = queue.send()
        await until(lambda: queue.of("change"))
        assert queue.of("change")[0].timeouts_s == hidden_s
        assert queue.in_flight() == {sent}


async def test_a_handle_that_expired_while_its_delete_waited_is_uncertain_and_the_message_runs_again() -> None:
    queue, work = FakeWorkQueue(visibility_s=30), Work(takes_s=1.0)
    queue.fail_entry("delete", EntryFailure(0, "ReceiptHandleIsInvalid", "The receipt handle has expired", True))
    async with working(work, queue) as bench:
        sent = queue.send()
        await queue.all_deleted()
        assert work.finished == [sent, sent]
        await bench.stop()
        assert bench.sink.reports[-1].total.uncertain_deletes == 1


async def fails(message: Message) -> None:
    raise ValueError(f"no such card: {message.body}")


async def rejects(message: Message) -> None:
    raise Reject(f"no such card: {message.body}")


async def answers_junk(messages: list[Message]) -> object:
    return {message.body: message for message in messages}


async def takes_too_long(message: Message) -> None:
    await asyncio.sleep(600)


def raises_too(message: Message) -> str:
    raise KeyError(message.body)


@pytest.mark.parametrize("handler", [fails, rejects, answers_junk, takes_too_long])
async def test_what_a_body_holds_is_in_no_log_line_and_in_no_report(
    handler: object, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    queue, bound = FakeWorkQueue(visibility_s=30), bind(handler)  # type: ignore[arg-type]  # any kind of handler
    plan = replace(PLAN, sorting=Sorting(raises_too, batch=2 if bound.is_batch else None), grace_s=1.0)
    runner = LoopRunner(bound.call, asyncio.get_running_loop())
    async with working(Work(), queue, plan, runner=runner) as bench:
        queue.send(json.dumps({"card": MARKER}), group=MARKER)
        await until(lambda: bench.queue.of("receive"))
        await asyncio.sleep(60)
        queue.fail("change", *[Throttled("sqs:ChangeMessageVisibilityBatch", "orders", "slow down")] * 100)
        await asyncio.sleep(60)
        await bench.stop()
    assert len(caplog.records) > 3
    said = "\n".join([caplog.text, *(str(record.__dict__) for record in caplog.records if not record.exc_info)])
    assert MARKER not in said
    assert MARKER not in "".join(to_json(report) for report in bench.sink.reports)
    assert MARKER not in repr([asdict(report) for report in bench.sink.reports])
