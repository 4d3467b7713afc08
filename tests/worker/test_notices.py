"""What a worker does on each notice to its instance, in virtual time."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

import pytest

from tests.worker.conftest import Work, until, working
from tidegate.core.reports import WorkerState
from tidegate.errors import CloudError, Denied, Gone, Unreachable
from tidegate.ports import InstanceNotices
from tidegate.testing import FakeWorkQueue
from tidegate.worker.lifecycle import Why
from tidegate.worker.notices import LOOK_S, RECONSIDER_S

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
