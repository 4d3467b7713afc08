"""What keeps a worker fast: one wake-up for many, several polls and deletes at once, and no more polls than deletes."""

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.worker.conftest import PLAN, Work, until, working
from tidegate.ports import EntryFailure, Received
from tidegate.testing import FakeWorkQueue
from tidegate.worker.handlers.postbox import Postbox
from tidegate.worker.jobs.prefetch import room_for


class Counting(asyncio.SelectorEventLoop):
    """Counts how often another thread has woken it."""

    woken = 0

    def call_soon_threadsafe(self, *given: Any, **more: Any) -> Any:  # type: ignore[override]  # counts, and hands on
        self.woken += 1
        return super().call_soon_threadsafe(*given, **more)


def test_what_is_put_before_the_loop_gets_to_it_wakes_it_once_and_comes_in_order() -> None:
    loop, got = Counting(), list[int]()
    box = Postbox(loop, got.append)
    threads = [threading.Thread(target=box.put, args=(n,)) for n in range(100)]
    for thread in threads:
        thread.start()
        thread.join()
    loop.run_until_complete(asyncio.sleep(0))
    assert got == list(range(100))
    assert loop.woken == 1
    loop.close()


async def test_a_loop_that_puts_several_things_wakes_the_other_once_and_when_it_has_put_the_last() -> None:
    """Woken by the first, the other thread would take its turn, and the next thing would wake it again."""
    other, got = Counting(), list[int]()
    box = Postbox(other, got.append)
    for n in range(10):
        box.put(n)
    assert other.woken == 0
    await asyncio.sleep(0)
    assert other.woken == 1
    await asyncio.to_thread(lambda: other.run_until_complete(asyncio.sleep(0)))
    assert got == list(range(10))
    other.close()


async def test_a_loop_that_puts_things_for_itself_has_no_need_to_be_woken() -> None:
    got = list[int]()
    box = Postbox(asyncio.get_running_loop(), got.append)
    for n in range(3):
        box.put(n)
    await asyncio.sleep(0)
    assert got == [0, 1, 2]


def test_many_threads_lose_nothing() -> None:
    loop, got = asyncio.new_event_loop(), list[int]()
    done = asyncio.Event()

    def receive(thing: int) -> None:
        got.append(thing)
        if len(got) == 8_000:
            done.set()

    box = Postbox(loop, receive)

    def put(first: int) -> None:
        for thing in range(first, first + 1_000):
            box.put(thing)

    threads = [threading.Thread(target=put, args=(first,)) for first in range(0, 8_000, 1_000)]
    for thread in threads:
        thread.start()
    loop.run_until_complete(asyncio.wait_for(done.wait(), 30))
    assert sorted(got) == list(range(8_000))
    loop.close()


def test_a_closed_loop_says_so() -> None:
    loop = asyncio.new_event_loop()
    loop.close()
    with pytest.raises(RuntimeError, match="closed"):
        Postbox(loop, print).put(1)


@pytest.mark.looptime
async def test_no_more_is_received_while_deletes_are_far_behind_and_it_goes_on_when_they_have_caught_up() -> None:
    goes_on = asyncio.Event()

    class Slow(FakeWorkQueue):
        async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
            await goes_on.wait()
            return await super().delete(receipt_handles)

    queue = Slow(visibility_s=600)
    for _ in range(1_000):
        queue.send()
    work = Work(takes_s=0.001)
    async with working(work, queue, replace(PLAN, slots=10)) as bench:
        await until(lambda: len(work.finished) >= 200)
        await asyncio.sleep(2)
        held = len(work.finished)
        assert held < 200 + 10 * 10 + 20
        goes_on.set()
        await until(lambda: len(bench.queue.deleted) == 1_000)
        assert held < len(work.finished) == 1_000


@pytest.mark.looptime
async def test_an_idle_queue_has_one_poll_and_a_full_one_several() -> None:
    class Watched(FakeWorkQueue):
        polls = most = 0

        async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
            self.polls += 1
            self.most = max(self.most, self.polls)
            try:
                await asyncio.sleep(0.05)
                return await super().receive(limit, wait_s, visibility_s)
            finally:
                self.polls -= 1

    queue = Watched(visibility_s=600)
    async with working(Work(takes_s=0.01), queue, replace(PLAN, slots=40)) as bench:
        await asyncio.sleep(60)
        assert queue.most == 1
        for _ in range(2_000):
            queue.send()
        await until(lambda: len(bench.queue.deleted) == 2_000)
        assert 3 <= queue.most <= 5
        await asyncio.sleep(60)
        assert queue.polls == 1


@pytest.mark.parametrize(
    ("service_time_s", "slots", "room"),
    [(None, 100, 0), (0.0, 4, 14), (0.02, 4, 14), (0.5, 4, 2), (1.0, 100, 25), (1.01, 1000, 0), (0.9, 1, 0)],
)
def test_prefetched_messages_wait_for_a_quarter_of_a_second_at_most(
    service_time_s: float | None, slots: int, room: int
) -> None:
    assert room_for(service_time_s, slots) == room
    assert room * (service_time_s or 0) / slots <= 0.25
