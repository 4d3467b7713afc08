"""What the SDK can't do or gets wrong itself: nothing is stranded, other work is finished, and the worker says so."""

import asyncio
import logging
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.kinds import AsyncHandler
from tidegate.worker.handlers.run_handler import LoopRunner, OnEnd, Run
from tidegate.worker.message import Batch, Message

pytestmark = pytest.mark.looptime


class RunsOut(LoopRunner):
    """Starts so many handlers and no more, as a process without threads to spare."""

    def __init__(self, handler: AsyncHandler, starts: int) -> None:
        super().__init__(handler, asyncio.get_running_loop())
        self._left = starts

    def start(self, message: Message | Batch, on_end: OnEnd | None = None) -> Run:
        if self._left == 0:
            raise RuntimeError("can't start new thread")
        self._left -= 1
        return super().start(message, on_end)


@pytest.mark.parametrize("starts", [0, 1, 4])
async def test_what_cannot_be_started_goes_back_with_the_rest_of_its_batch_and_ends_the_worker(
    work: Work, starts: int
) -> None:
    queue = FakeWorkQueue(visibility_s=600)
    sent = [queue.send() for _ in range(5)]
    async with working(work, queue, replace(PLAN, slots=5), runner=RunsOut(work, starts)) as bench:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await bench.serving
        assert queue.visible() == set(sent[starts:])
        assert sorted(queue.deleted) == sorted(work.finished) == sent[:starts]
        assert len(queue.of("receive")) == 1
        last = bench.sink.reports[-1]
        assert (last.busy, last.total.starts, last.reason) == (0, starts, "tidegate-consumer ended")


async def test_a_message_that_could_not_be_settled_ends_the_worker_and_is_not_kept_for_hours(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """procrastinate's habit: a background task that dies stops the worker, loudly and in order."""

    async def handler(message: Message) -> None:
        await asyncio.sleep(1 if message.body == "bad" else 10)
        if message.body == "bad":
            raise ValueError

    def broken() -> float:
        raise ZeroDivisionError

    queue = FakeWorkQueue(visibility_s=30)
    bad, good = queue.send("bad"), queue.send("good")
    async with working(handler, queue, random=broken) as bench:
        with caplog.at_level(logging.ERROR):
            await until(lambda: bad in queue.visible(), within_s=2)
        with pytest.raises(ZeroDivisionError):
            await bench.serving
        assert queue.visible() == {bad}
        assert queue.deleted == [good]
        assert bench.sink.reports[-1].reason == "tidegate-jobs ended"
        assert f"message {bad} could not be settled (ZeroDivisionError)" in caplog.text
