"""Retries of a whole fleet within their budget: hidden until their turn, called forward, handed on."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from tests.worker.conftest import PLAN, Bench, until, working
from tidegate.core.workers.retry_budget import BURST
from tidegate.errors import Unreachable
from tidegate.ports import StoredPermits
from tidegate.stores.permits import MemoryPermits
from tidegate.testing import FakeWorkQueue
from tidegate.worker.fleet.retry_budget import RetryLimit
from tidegate.worker.message import Message
from tidegate.worker.outcomes import Retry

pytestmark = pytest.mark.looptime

BUDGET = replace(
    PLAN, slots=4, retries=RetryLimit(ratio=0.1, floor_per_s=1.0), retry_base_s=1.0, retry_cap_s=1.0, prefetch=0
)


def now_s() -> float:
    return asyncio.get_running_loop().time()


def live_workers(bench: Bench) -> int | None:
    permits = bench.service._share.permits
    assert permits is not None
    return permits.live_workers


@dataclass
class Service:
    """What handlers call: while it is down every message fails. When each retry and each completion came."""

    down: bool = True
    takes_s: float = 0.1
    fails: type[Exception] = RuntimeError
    retried_at_s: list[float] = field(default_factory=list)
    done_at_s: list[float] = field(default_factory=list)
    receives: Counter[str] = field(default_factory=Counter)

    async def __call__(self, message: Message) -> None:
        self.receives[message.id] += 1
        if message.receive_count > 1:
            self.retried_at_s.append(now_s())
        await asyncio.sleep(self.takes_s)
        if self.down:
            raise self.fails
        self.done_at_s.append(now_s())

    def retries_within_s(self, begin_s: float, end_s: float) -> int:
        return sum(begin_s <= at_s <= end_s for at_s in self.retried_at_s)


@pytest.mark.parametrize("fails", [RuntimeError, Retry])
async def test_of_two_workers_in_an_outage_no_more_retries_come_than_burst_and_floor(fails: type[Exception]) -> None:
    service, queue, permits = Service(fails=fails), FakeWorkQueue(visibility_s=30), MemoryPermits()
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(working(service, queue, replace(BUDGET, worker_id=name), permits=permits))
            for name in ("w1", "w2")
        ]
        await until(lambda: all(live_workers(bench) == 2 for bench in workers))
        begin_s = now_s()
        for _ in range(200):
            queue.send()
        await until(lambda: len(service.receives) == 200)
        await asyncio.sleep(60)
        elapsed_s = now_s() - begin_s
        assert elapsed_s * 0.9 - 2 <= len(service.retried_at_s) <= 2 * BURST + elapsed_s
        held = sum(bench.sink.reports[-1].total.retries_held for bench in workers)
        assert held == pytest.approx(200 + len(service.retried_at_s) - 2 * BURST, abs=2 * BURST)
        for bench in workers:
            bench.service.stop("test")


async def test_when_the_service_is_back_completions_call_the_waiting_ones_forward() -> None:
    service, queue, permits = Service(), FakeWorkQueue(visibility_s=30), MemoryPermits()
    plan = replace(BUDGET, retries=RetryLimit(ratio=0.5, floor_per_s=0.01))
    async with working(service, queue, plan, permits=permits):
        for _ in range(100):
            queue.send()
        await until(lambda: len(service.receives) == 100)
        await asyncio.sleep(5)
        service.down, up_s = False, now_s()
        for _ in range(400):
            queue.send()
        await until(lambda: len(service.done_at_s) == 500)
        assert now_s() - up_s < 60  # by the floor alone they would take hours
        for begin_s, end_s in ((up_s, up_s + 3), (up_s + 3, up_s + 9)):
            done = sum(begin_s - 1 <= at_s <= end_s for at_s in service.done_at_s)
            assert service.retries_within_s(begin_s, end_s) <= BURST + 0.5 * done + 1
    assert max(service.receives.values()) <= 3


async def test_a_retry_within_the_budget_comes_after_its_backoff_and_costs_nothing_else() -> None:
    service, queue = Service(), FakeWorkQueue(visibility_s=30)
    async with working(service, queue, BUDGET, permits=MemoryPermits()) as bench:
        for _ in range(5):
            queue.send()
        await until(lambda: len(service.receives) == 5)
        service.down = False
        await until(lambda: len(service.done_at_s) == 5, within_s=5)
        assert {timeout for call in queue.of("change") for timeout in call.timeouts_s} == {1}
        await bench.stop()
        assert bench.sink.reports[-1].total.retries_held == 0


async def test_a_turn_is_never_sooner_than_the_backoff() -> None:
    service, queue = Service(), FakeWorkQueue(visibility_s=30)
    plan = replace(BUDGET, retry_base_s=400.0, retry_cap_s=400.0)
    async with working(service, queue, plan, permits=MemoryPermits()):
        for _ in range(30):
            queue.send()
        await until(lambda: len(service.receives) == 30)
        service.down = False
        await asyncio.sleep(190)
        assert service.retried_at_s == []


async def test_without_a_word_from_the_table_the_floor_is_shared_by_many() -> None:
    class Away(MemoryPermits):
        async def permits(self, pool: str) -> StoredPermits:
            raise Unreachable("dynamodb:GetItem", "table fleet", "no answer")

    service, queue = Service(), FakeWorkQueue(visibility_s=30)
    async with working(service, queue, BUDGET, permits=Away()):
        for _ in range(100):
            queue.send()
        await until(lambda: len(service.receives) == 100)
        await asyncio.sleep(300)
        assert BURST + 25 <= len(service.retried_at_s) <= BURST + 0.1 * (now_s() + 1)


async def test_a_worker_that_leaves_has_what_waits_come_at_the_pace_that_it_earned_lately() -> None:
    service, queue, permits = Service(down=False, takes_s=0.5), FakeWorkQueue(visibility_s=30), MemoryPermits()
    plan = replace(BUDGET, retries=RetryLimit(ratio=0.1, floor_per_s=0.001), grace_s=10)
    async with working(service, queue, plan, permits=permits) as bench:
        for _ in range(800):  # eight a second
            queue.send()
        await until(lambda: len(service.done_at_s) == 800)
        service.down = True
        sent = {queue.send() for _ in range(50)}
        await until(lambda: len(service.receives) == 850)
        await asyncio.sleep(1)
        await bench.stop()
    left_at_s = now_s()
    await until(lambda: queue.visible() == sent, within_s=400)  # by the floor alone it would take half a day
    assert now_s() - left_at_s > 40 / (0.1 * 8)


async def test_a_call_that_fails_is_sent_again_and_none_is_forgotten() -> None:
    service, queue, permits = Service(), FakeWorkQueue(visibility_s=30), MemoryPermits()
    plan = replace(BUDGET, retries=RetryLimit(ratio=1.0, floor_per_s=0.001))
    async with working(service, queue, plan, permits=permits):
        for _ in range(40):
            queue.send()
        await until(lambda: len(service.receives) == 40)
        await asyncio.sleep(5)
        service.down = False
        queue.fail("change", *[Unreachable("sqs:ChangeMessageVisibilityBatch", "orders", "no answer")] * 3)
        for _ in range(40):
            queue.send()
        await until(lambda: len(service.done_at_s) == 80, within_s=60)


async def test_turns_come_one_by_one_at_the_floors_pace() -> None:
    service, queue = Service(), FakeWorkQueue(visibility_s=30)
    plan = replace(BUDGET, retries=RetryLimit(ratio=0.0, floor_per_s=0.1))
    async with working(service, queue, plan, permits=MemoryPermits()) as bench:
        await until(lambda: live_workers(bench) == 1)
        for _ in range(30):
            queue.send()
        await until(lambda: len(service.receives) == 30)
        await asyncio.sleep(150)
        later_s = service.retried_at_s[int(BURST) + 1 :]
        assert len(later_s) >= 10
        assert all(9.0 <= after - before <= 12.0 for before, after in pairwise(later_s))


async def test_a_message_that_could_not_be_hidden_is_left_to_whoever_has_it_by_now() -> None:
    """Its receipt handle is an old one: a change under it could end another worker's lease."""
    service, queue = Service(), FakeWorkQueue(visibility_s=10)
    plan = replace(BUDGET, retries=RetryLimit(ratio=1.0, floor_per_s=0.001), retry_base_s=100.0, retry_cap_s=100.0)
    async with working(service, queue, plan, permits=MemoryPermits()):
        for _ in range(int(BURST)):
            queue.send()
        await until(lambda: len(service.receives) == BURST)
        await asyncio.sleep(2)
        queue.fail("change", *[Unreachable("sqs:ChangeMessageVisibilityBatch", "orders", "no answer")] * 15)
        sent = queue.send()
        await until(lambda: service.receives[sent] == 2, within_s=20)
        await asyncio.sleep(10)
        service.down, began_s = False, now_s()
        for _ in range(20):
            queue.send()
        await asyncio.sleep(100)
        changed = [handle for call in queue.of("change") if call.at_s > began_s for handle in call.receipt_handles]
        assert f"{sent}#1" not in changed
        assert f"{sent}#2" in changed


async def test_a_turn_is_12_hours_after_the_receive_at_the_latest() -> None:
    service, queue = Service(), FakeWorkQueue(visibility_s=30)
    plan = replace(BUDGET, retries=RetryLimit(ratio=0.0, floor_per_s=1e-6))
    async with working(service, queue, plan, permits=MemoryPermits()):
        for _ in range(int(BURST) + 2):
            queue.send()
        await until(lambda: len(service.receives) == BURST + 2)
        await asyncio.sleep(5)
        longest_s = max(timeout_s for call in queue.of("change") for timeout_s in call.timeouts_s)
        assert 43_180 < longest_s < 43_200
        assert queue.visible() == set()
