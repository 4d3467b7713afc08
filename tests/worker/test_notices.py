"""What a worker does on each notice to its instance, in virtual time."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from tests.worker.conftest import Work, until, working
from tidegate.core.reports import WorkerState
from tidegate.errors import CloudError, Denied, Gone, Unreachable
from tidegate.ports import InstanceNotices
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leaving.lifecycle import Why
from tidegate.worker.leaving.notices import LOOK_S, RECONSIDER_S

pytestmark = pytest.mark.looptime

FORBIDDEN = Denied("imds:Get", "http://169.254.169.254/", "no token comes")
SILENT = Unreachable("imds:Get", "spot/instance-action", "timed out")


@dataclass
class Instance:
    """An instance whose notices a test sets."""

    notices: InstanceNotices = field(default_factory=InstanceNotices)
    errors: deque[CloudError] = field(default_factory=deque)
    looks: int = 0

    async def instance_id(self) -> str:
        return "i-1"

    async def look(self) -> InstanceNotices:
        self.looks += 1
        if self.errors:
            raise self.errors.popleft()
        return self.notices


def now_s() -> float:
    return asyncio.get_running_loop().time()


async def test_a_spot_notice_gives_handlers_its_two_minutes_less_a_margin_and_releases_what_is_left() -> None:
    work, instance = Work(takes_s=1000.0), Instance()
    async with working(work, FakeWorkQueue(visibility_s=600), instance=instance) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        terminates_at_s = now_s() + 120
        instance.notices = InstanceNotices(stops_at_s=terminates_at_s)
        await bench.serving
        assert terminates_at_s - 10 <= now_s() < terminates_at_s
        assert bench.queue.visible() == {sent}
        assert bench.sink.reports[-1].reason == Why.SPOT


async def test_a_notice_is_heeded_within_five_seconds_and_no_poll_is_sent_after_it(work: Work) -> None:
    instance = Instance()
    async with working(work, instance=instance) as bench:
        await until(lambda: bench.queue.of("receive"))
        instance.notices = InstanceNotices(stops_at_s=now_s() + 120)
        await asyncio.sleep(LOOK_S + 0.1)
        polls = len(bench.queue.of("receive"))
        await bench.serving
        assert len(bench.queue.of("receive")) == polls


async def test_a_rebalance_recommendation_retires_and_a_quarter_of_an_hour_without_more_ends_that(work: Work) -> None:
    instance = Instance()
    async with working(work, instance=instance) as bench:
        instance.notices = InstanceNotices(rebalance_at_s=now_s())
        await until(lambda: bench.service.draining)
        await until(lambda: bench.sink.reports and bench.sink.reports[-1].state is WorkerState.RELEASED)
        assert bench.sink.reports[-1].reason == Why.REBALANCE
        sent = bench.queue.send()
        retired_at_s = now_s()
        await until(lambda: work.started == [sent])
        assert now_s() - retired_at_s == pytest.approx(RECONSIDER_S, abs=60)
        await asyncio.sleep(RECONSIDER_S)
        assert not bench.service.draining, "the same recommendation counts once"


async def test_an_instance_that_auto_scaling_terminates_makes_its_worker_leave(work: Work) -> None:
    instance = Instance()
    async with working(work, instance=instance) as bench:
        await until(lambda: bench.queue.of("receive"))
        instance.notices = InstanceNotices(terminating=True)
        await bench.serving
        assert bench.sink.reports[-1].reason == Why.LIFECYCLE_HOOK


async def test_the_report_says_what_the_platform_calls_the_worker(work: Work) -> None:
    async with working(work, instance=Instance()) as bench:
        await until(lambda: bench.sink.reports and bench.sink.reports[-1].host == "i-1")


async def test_where_there_is_no_imds_nothing_is_said_and_nothing_asked_again(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    instance = Instance(errors=deque([Gone("imds:Get", "http://169.254.169.254/", "refused")] * 99))
    async with working(work, instance=instance) as bench:
        await asyncio.sleep(3600)
        assert instance.looks == 1
        assert "notices" not in caplog.text
        assert not bench.service.draining


async def test_an_imds_that_can_not_be_read_is_said_once_and_asked_on(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    instance = Instance(errors=deque([SILENT] * 5 + [FORBIDDEN] * 5))
    async with working(work, instance=instance) as bench:
        await asyncio.sleep(600)
        assert caplog.text.count("can't be read") == 2
        instance.notices = InstanceNotices(stops_at_s=now_s() + 120)
        await bench.serving
        assert bench.sink.reports[-1].reason == Why.SPOT


@dataclass
class Hook:
    """A lifecycle hook that remembers when it was kept and completed."""

    kept_at_s: list[float] = field(default_factory=list)
    completed_at_s: list[float] = field(default_factory=list)
    error: CloudError | None = None

    async def keep(self) -> None:
        self.kept_at_s.append(now_s())

    async def complete(self) -> None:
        if self.error is not None:
            raise self.error
        self.completed_at_s.append(now_s())


async def test_a_lifecycle_hook_is_kept_while_handlers_finish_and_completed_when_nothing_is_held() -> None:
    """aws-node-termination-handler #493: a hook without heartbeats ends under long jobs."""
    work, instance, hook = Work(takes_s=5000.0), Instance(), Hook()
    async with working(work, FakeWorkQueue(visibility_s=60), instance=instance, hook=hook) as bench:
        sent = bench.queue.send()
        await until(lambda: work.started)
        assert hook.kept_at_s == []
        instance.notices = InstanceNotices(terminating=True)
        await bench.serving
        assert (work.finished, work.told) == ([sent], [])
        gaps_s = [later - sooner for sooner, later in pairwise(hook.kept_at_s)]
        assert max(gaps_s) < 30.0, "the shortest heartbeat timeout of a hook"
        assert hook.completed_at_s == [pytest.approx(now_s(), abs=2)]


async def test_a_worker_that_leaves_for_another_reason_completes_no_hook(work: Work) -> None:
    hook = Hook()
    async with working(work, instance=Instance(), hook=hook) as bench:
        await until(lambda: bench.queue.of("receive"))
        await bench.stop("SIGTERM")
    assert (hook.kept_at_s, hook.completed_at_s) == ([], [])


async def test_a_hook_that_can_not_be_completed_is_said_and_ends_no_worker(
    work: Work, caplog: pytest.LogCaptureFixture
) -> None:
    instance, hook = Instance(), Hook(error=SILENT)
    async with working(work, instance=instance, hook=hook) as bench:
        await until(lambda: bench.queue.of("receive"))
        instance.notices = InstanceNotices(terminating=True)
        await bench.serving
    assert "lifecycle hook could not be completed" in caplog.text
