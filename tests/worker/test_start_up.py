"""A worker's start: what passes is waited for, what does not ends it at once, and a stop is obeyed meanwhile."""

import asyncio
import gc
import logging
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.core.reports import WorkerState
from tidegate.errors import CloudError, ConfigError, Denied, Gone, Invalid, Throttled, Unreachable
from tidegate.ports import Received
from tidegate.testing import FakeProtection, FakeWorkQueue
from tidegate.worker.handlers.run_handler import LoopRunner
from tidegate.worker.health.server import ANY_ADDRESS
from tidegate.worker.jobs.sorting import Sorting
from tidegate.worker.plan import Plan
from tidegate.worker.receive.start_up import PATIENCE_S

pytestmark = pytest.mark.looptime

PASSING = [Throttled, Unreachable]
REFUSING = [Denied, Gone, Invalid]
ASKS = [
    pytest.param("attributes", PLAN, id="lease of the queue"),
    pytest.param("receive", replace(PLAN, visibility_timeout_s=30), id="lease of its own"),
]
"""What the worker asks first, without and with a visibility timeout that is set."""
FOR_EVER = 1000


def failing(operation: str, kind: type[CloudError], times: int) -> FakeWorkQueue:
    queue = FakeWorkQueue()
    queue.fail(operation, *[kind("sqs:GetQueueUrl", "orders", "not now")] * times)
    return queue


@pytest.mark.parametrize("kind", PASSING)
@pytest.mark.parametrize(("operation", "plan"), ASKS)
async def test_what_passes_within_half_a_minute_is_waited_for(
    work: Work, operation: str, plan: object, kind: type[CloudError]
) -> None:
    queue = failing(operation, kind, times=4)
    async with working(work, queue, plan):  # type: ignore[arg-type]  # pytest.param carries no type
        sent = queue.send()
        await until(lambda: work.finished == [sent], within_s=PATIENCE_S)


@pytest.mark.parametrize("kind", PASSING)
async def test_what_does_not_pass_ends_the_worker_after_half_a_minute(work: Work, kind: type[CloudError]) -> None:
    queue = failing("attributes", kind, FOR_EVER)
    async with working(work, queue) as bench:
        with pytest.raises(kind):
            await bench.serving
        assert PATIENCE_S - 5 <= asyncio.get_running_loop().time() <= PATIENCE_S
        assert queue.calls == []


@pytest.mark.parametrize("kind", PASSING)
async def test_with_a_lease_of_its_own_it_is_the_first_poll_that_may_fail_for_half_a_minute(
    work: Work, kind: type[CloudError]
) -> None:
    queue = failing("receive", kind, FOR_EVER)
    async with working(work, queue, replace(PLAN, visibility_timeout_s=30)) as bench:
        with pytest.raises(kind):
            await bench.serving
        assert PATIENCE_S <= asyncio.get_running_loop().time() <= PATIENCE_S + 20


@pytest.mark.parametrize("kind", REFUSING)
@pytest.mark.parametrize(("operation", "plan"), ASKS)
async def test_a_refusal_ends_the_worker_at_once(
    work: Work, operation: str, plan: object, kind: type[CloudError]
) -> None:
    queue = failing(operation, kind, FOR_EVER)
    async with working(work, queue, plan) as bench:  # type: ignore[arg-type]  # pytest.param carries no type
        with pytest.raises(kind):
            await bench.serving
        assert asyncio.get_running_loop().time() < 1


@pytest.mark.parametrize("kind", PASSING)
@pytest.mark.parametrize(("operation", "plan"), ASKS)
async def test_a_stop_ends_the_waiting_at_once_and_without_an_error(
    work: Work, operation: str, plan: object, kind: type[CloudError]
) -> None:
    queue = failing(operation, kind, FOR_EVER)
    async with working(work, queue, plan) as bench:  # type: ignore[arg-type]  # pytest.param carries no type
        await asyncio.sleep(10)
        await bench.stop()
        assert asyncio.get_running_loop().time() < 11
        assert work.started == []


async def test_a_first_poll_that_is_refused_after_the_stop_is_no_failure(work: Work) -> None:
    class RefusesLate(FakeWorkQueue):
        async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
            await asyncio.sleep(3)
            raise Denied("sqs:ReceiveMessage", "orders", "no")

    async with working(work, RefusesLate()) as bench:
        await asyncio.sleep(1)
        await bench.stop()
        assert bench.sink.reports[-1].state is WorkerState.STOPPED


@pytest.mark.parametrize("fails", [False, True])
async def test_a_stop_does_not_wait_for_a_question_that_hangs(
    work: Work, fails: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Hangs(FakeWorkQueue):
        async def visibility_timeout_s(self) -> int:
            try:
                await asyncio.sleep(100)
            finally:
                if fails:
                    raise Unreachable("sqs:GetQueueAttributes", "orders", "cut off")
            return 30

    async with working(work, Hangs()) as bench:
        await asyncio.sleep(1)
        await bench.stop()
        assert asyncio.get_running_loop().time() < 2
        assert bench.queue.calls == []
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_the_waiting_is_said_in_words_that_fit_a_worker(work: Work, caplog: pytest.LogCaptureFixture) -> None:
    queue = failing("attributes", Throttled, times=1)
    with caplog.at_level(logging.WARNING):
        async with working(work, queue):
            await until(lambda: queue.calls)
    assert "the queue can't be reached yet, trying for another 30 s: sqs:GetQueueUrl on orders was thr" in caplog.text
    assert "tick" not in caplog.text


async def test_a_queue_without_a_lease_is_refused_with_setting_and_fix(work: Work) -> None:
    async with working(work, FakeWorkQueue(visibility_s=0)) as bench:
        with pytest.raises(ConfigError, match=r"visibility_timeout = None: .* queue's own is 0 s.*; set it \("):
            await bench.serving
        assert bench.queue.calls == []


async def test_a_lease_that_is_set_makes_up_for_a_queue_without_one(work: Work) -> None:
    async with working(work, FakeWorkQueue(visibility_s=0), replace(PLAN, visibility_timeout_s=30)) as bench:
        sent = bench.queue.send()
        await until(lambda: bench.queue.deleted == [sent])
        assert work.started == [sent]


class ClosedRunner(LoopRunner):
    """Knows whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True


async def test_a_start_that_fails_closes_the_runner(work: Work) -> None:
    runner = ClosedRunner(work, asyncio.get_running_loop())
    async with working(work, failing("attributes", Denied, times=1), runner=runner) as bench:
        with pytest.raises(Denied):
            await bench.serving
    assert runner.closed


async def test_a_worker_whose_health_port_is_taken_leaves_no_protection_behind(work: Work) -> None:
    protection, runner = FakeProtection(), ClosedRunner(work, asyncio.get_running_loop())
    taken = await asyncio.start_server(lambda reader, writer: None, ANY_ADDRESS, 0)
    plan = replace(PLAN, health_port=taken.sockets[0].getsockname()[1])
    async with working(work, plan=plan, protection=protection, runner=runner) as bench:
        with pytest.raises(ConfigError, match="health_port"):
            await bench.serving
    taken.close()
    assert protection.protected_until_s == 0.0
    assert runner.closed


class Slow(FakeProtection):
    """Does at once what it is asked, and answers late."""

    async def set_protected(self, protected: bool, for_s: float) -> None:
        await super().set_protected(protected, for_s)
        await asyncio.sleep(1.5 if protected else 0.0)


@pytest.mark.parametrize("after_s", [1.0, 10.0], ids=["while protection is asked for", "before the first poll"])
async def test_a_start_that_is_cut_off_leaves_nothing_behind(work: Work, after_s: float) -> None:
    protection, runner = Slow(), ClosedRunner(work, asyncio.get_running_loop())
    plan = replace(PLAN, start_delay_s=3600.0)
    async with working(work, plan=plan, protection=protection, runner=runner) as bench:
        await asyncio.sleep(after_s)
        assert protection.protected_until_s > 0
        bench.serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await bench.serving
        left = asyncio.all_tasks() - {asyncio.current_task()}
    assert protection.protected_until_s == 0.0
    assert runner.closed
    assert left == set()


async def test_protection_whose_answer_never_came_is_dropped_all_the_same(work: Work) -> None:
    class Mute(FakeProtection):
        async def set_protected(self, protected: bool, for_s: float) -> None:
            await super().set_protected(protected, for_s)
            await asyncio.sleep(1e6 if protected else 0.0)

    protection = Mute()
    async with working(work, protection=protection) as bench:
        await until(lambda: bench.queue.of("receive"))
        assert protection.protected_until_s > 0
        await bench.stop()
    assert protection.protected_until_s == 0.0


CLASSES = replace(PLAN, sorting=Sorting(lambda message: message.body, {"bulk": 1}))


async def test_job_classes_on_a_queue_that_gives_each_message_one_receive_are_refused(work: Work) -> None:
    async with working(work, FakeWorkQueue(max_receive_count=1), CLASSES) as bench:
        with pytest.raises(ConfigError) as refused:
            await bench.serving
        assert str(refused.value) == (
            "class_slots = {'bulk': 1}: the redrive policy of the queue has maxReceiveCount = 1, so a message that goes"
            " back to wait for its class would be a dead letter that never ran; raise maxReceiveCount to 2 or more, or"
            " leave class_of out"
        )
        assert bench.queue.calls == []


@pytest.mark.parametrize(
    ("most", "plan"), [(2, CLASSES), (None, CLASSES), (1, PLAN)], ids=["two receives", "no policy", "no classes"]
)
async def test_elsewhere_a_redrive_policy_is_no_matter(work: Work, most: int | None, plan: Plan) -> None:
    async with working(work, FakeWorkQueue(max_receive_count=most), plan) as bench:
        sent = bench.queue.send("bulk")
        await until(lambda: work.finished == [sent])


async def test_a_redrive_policy_that_cannot_be_read_is_said_and_the_worker_starts(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    queue = failing("attributes", Denied, times=1)
    async with working(work, queue, replace(CLASSES, visibility_timeout_s=30)):
        sent = queue.send("bulk")
        await until(lambda: work.finished == [sent])
    assert "whether messages may go back to wait for their class can't be known" in caplog.text
