"""How a handler says what becomes of its message: it returns, or raises or returns Retry, Reject, or anything else."""

import asyncio
import logging
import pickle
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, until, working
from tidegate.errors import Gone, Unreachable
from tidegate.testing import FakeWorkQueue
from tidegate.worker.message import Message
from tidegate.worker.outcomes import PartialFailure, Reject, Retry, outcome_in

pytestmark = pytest.mark.looptime

LONG = FakeWorkQueue


async def test_retry_after_is_the_least_wait_and_the_jittered_backoff_comes_on_top() -> None:
    starts: list[float] = []

    async def handler(message: Message) -> None:
        starts.append(asyncio.get_running_loop().time())
        if message.receive_count < 3:
            raise Retry(after="1m")

    plan = replace(PLAN, retry_base_s=10.0)
    async with working(handler, FakeWorkQueue(visibility_s=600), plan, random=lambda: 0.5) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert starts == pytest.approx([0, 65, 65 + 70], abs=0.2)


async def test_retry_without_a_time_is_the_backoff_alone() -> None:
    starts: list[float] = []

    async def handler(message: Message) -> Retry | None:
        starts.append(asyncio.get_running_loop().time())
        return Retry() if message.receive_count == 1 else None

    async with working(handler, FakeWorkQueue(visibility_s=600), replace(PLAN, retry_base_s=10.0)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert starts == pytest.approx([0, 5], abs=0.2)


async def test_a_retry_is_no_error_in_the_log_but_a_failed_run_in_the_figures(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(message: Message) -> None:
        if message.receive_count == 1:
            raise Retry

    with caplog.at_level(logging.INFO):
        async with working(handler, FakeWorkQueue(visibility_s=600)) as bench:
            sent = bench.queue.send()
            await until(lambda: bench.queue.deleted == [sent])
            await bench.stop()
    assert (bench.sink.reports[-1].total.completions, bench.sink.reports[-1].total.failures) == (1, 1)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "returned"])
async def test_a_rejected_message_is_in_the_dead_letter_queue_with_its_reason_and_then_deleted(
    raised: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(message: Message) -> Reject:
        rejection = Reject("no such customer: 4711")
        if raised:
            raise rejection
        return rejection

    async with working(handler, FakeWorkQueue(visibility_s=600)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert bench.queue.dead_letters == [(sent, "no such customer: 4711")]
        order = [call.operation for call in bench.queue.calls if call.operation != "receive"]
        assert order == ["dead_letter", "delete"]
    assert "4711" not in caplog.text


async def test_the_lease_is_kept_while_a_slow_dead_letter_queue_answers_and_a_drain_waits_for_it() -> None:
    async def handler(message: Message) -> None:
        raise Reject("never")

    async with working(handler, FakeWorkQueue(visibility_s=2)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.of("receive"))
        bench.queue.latency_s = 0.4
        await until(lambda: bench.queue.of("dead_letter"))
        await bench.stop()
        assert bench.queue.dead_letters == [(sent, "never")]
        assert bench.queue.deleted == [sent]


@pytest.mark.parametrize(
    "error",
    [
        Gone("sqs:GetQueueAttributes", "orders", "it has no dead-letter queue", "give it one"),
        Unreachable("sqs:SendMessage", "orders-dead", "down"),
    ],
)
async def test_what_cannot_be_dead_lettered_comes_back_and_the_log_says_why(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(message: Message) -> None:
        raise Reject("never")

    async with working(handler, FakeWorkQueue(visibility_s=600)) as bench:
        bench.queue.fail("dead_letter", error)  # type: ignore[arg-type]  # both are CloudErrors
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert len(bench.queue.of("dead_letter")) == 2
    assert f"was rejected but not dead-lettered, visible again in 1 s: {error}" in caplog.text


async def test_a_reject_after_the_lease_was_lost_sends_nothing() -> None:
    """The message is another worker's by now, who will see for itself."""

    async def handler(message: Message) -> None:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            raise Reject("too late") from None

    async with working(handler, FakeWorkQueue(visibility_s=5), replace(PLAN, slots=1)) as bench:
        bench.queue.fail("change", *[Unreachable("sqs:ChangeMessageVisibilityBatch", "orders", "down")] * 20)
        bench.queue.send()
        await until(lambda: bench.queue.of("receive")[1:])
        assert bench.queue.of("dead_letter") == []


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (-1, "negative"),
        (float("inf"), "endless"),
        (float("nan"), "not a duration"),
        ("soon", "not a duration"),
        (True, "not a duration"),
        (None, "not a duration"),
    ],
)
def test_a_retry_after_no_duration_is_refused(after: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Retry(after)  # type: ignore[arg-type]  # the mistake


def test_a_reason_that_is_no_text_is_read_as_one() -> None:
    assert Reject(ValueError("no such customer")).reason == "no such customer"


@pytest.mark.parametrize("outcome", [Retry(3.0), Reject("why"), PartialFailure([None, Retry(1.0)])])
def test_outcomes_travel_between_processes(outcome: Exception) -> None:
    copy = pickle.loads(pickle.dumps(outcome))  # noqa: S301  our own
    assert (type(copy), str(copy)) == (type(outcome), str(outcome))
    assert getattr(copy, "reason", None) == getattr(outcome, "reason", None)


@pytest.mark.parametrize("result", [None, 0, "Retry", ValueError(), ValueError])
def test_only_outcomes_are_outcomes(result: object) -> None:
    assert outcome_in(result) is None


def test_the_class_reject_returned_lacks_its_reason_as_when_it_is_raised() -> None:
    with pytest.raises(TypeError, match="Reject needs a reason"):
        outcome_in(Reject)


def test_the_class_retry_returned_counts_as_a_retry() -> None:
    assert isinstance(outcome_in(Retry), Retry)
