"""The gauge and the tuner: what the law of slots is told, and what a worker makes of its word."""

import asyncio
from dataclasses import replace

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.core.workers.auto_slots import Look
from tidegate.testing import FakeWorkQueue
from tidegate.worker.auto_slots import Gauge
from tidegate.worker.message import Message
from tidegate.worker.settings.slot_rule import auto


def test_a_look_holds_what_happened_since_the_one_before() -> None:
    now_s = 0.0
    gauge = Gauge(lambda: now_s)
    gauge.busy(2)
    now_s = 3.0
    gauge.busy(1)
    gauge.ended(3.0, failed=False)
    now_s = 4.0
    gauge.ended(0.5, failed=True)
    assert gauge.look(head_wait_s=0.7) == Look(4.0, 0.7, busy=7 / 4, ended=2, failed=1, service_time_sum_s=3.5)
    now_s = 6.0
    assert gauge.look(head_wait_s=0.0) == Look(6.0, 0.0, busy=1.0)


def test_two_looks_at_the_same_time_see_what_is_busy_now() -> None:
    gauge = Gauge(lambda: 5.0)
    gauge.busy(3)
    assert gauge.look(0.0).busy == 3.0


PLAN_AUTO = replace(PLAN, slots=2, auto=auto(min=2, max=16, target_wait="2s"))


async def sent(queue: FakeWorkQueue, rate_per_s: float, seconds: float) -> None:
    for _ in range(round(rate_per_s * seconds)):
        queue.send()
        await asyncio.sleep(1 / rate_per_s)


@pytest.mark.looptime
async def test_a_workers_slots_grow_with_the_wait_show_in_its_report_and_go_back_when_it_is_idle() -> None:
    """Jobs of a second, one a second, then eight a second, then one again."""
    async with working(Work(takes_s=1.0), FakeWorkQueue(visibility_s=600), PLAN_AUTO) as bench:
        await sent(bench.queue, 1, 20)
        assert bench.sink.reports[-1].slots == 2
        await sent(bench.queue, 8, 60)
        assert 8 <= bench.sink.reports[-1].slots <= 16
        await sent(bench.queue, 8, 20)
        assert not bench.queue.visible()
        await sent(bench.queue, 1, 120)
        assert bench.sink.reports[-1].slots <= 3


@pytest.mark.looptime
async def test_a_standing_backlog_takes_all_the_slots_and_never_more() -> None:
    work = Work(takes_s=10.0)
    async with working(work, FakeWorkQueue(visibility_s=600), PLAN_AUTO) as bench:
        for _ in range(200):
            bench.queue.send()
        await until(lambda: len(work.finished) == 200)
        assert work.most_at_once == 16


@pytest.mark.looptime
async def test_messages_that_waited_for_other_reasons_add_no_slots() -> None:
    """Delayed by two minutes, they are started as soon as they come due: a slot was free."""
    async with working(Work(takes_s=0.1), FakeWorkQueue(visibility_s=600), PLAN_AUTO) as bench:
        for number in range(20):
            bench.queue.send(delay_s=120 + 5 * number)
        await asyncio.sleep(120 + 120)
        assert len(bench.queue.deleted) == 20
        assert bench.sink.reports[-1].slots == 2


@pytest.mark.looptime
async def test_failures_take_slots_back() -> None:
    failing = False

    async def work(message: Message) -> None:
        await asyncio.sleep(1)
        if failing:
            raise ValueError

    async with working(work, FakeWorkQueue(visibility_s=600), PLAN_AUTO) as bench:
        await sent(bench.queue, 8, 50)
        assert bench.sink.reports[-1].slots >= 8
        failing = True
        await sent(bench.queue, 8, 30)
        assert bench.sink.reports[-1].slots == 2
