"""AsyncPool in virtual time: how it sizes itself, what it refuses, and how it ends."""

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator

import pytest

from tidegate.core.bottlenecks import max_workers_for
from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.errors import ConfigError, Saturated
from tidegate.worker.pool import AsyncPool

pytestmark = pytest.mark.looptime

SIZE = AutoSlots(least=2, most=max_workers_for(20, None, 0.02), target_wait_s=0.05)


def now() -> float:
    return asyncio.get_running_loop().time()


async def twenty_milliseconds(item: int) -> int:
    await asyncio.sleep(0.02)
    return item


def pool_of(
    work: Callable[[int], Awaitable[int]] = twenty_milliseconds,
    size: AutoSlots = SIZE,
    most_waiting: int | None = None,
    timeout_s: float | None = None,
) -> AsyncPool[int, int]:
    clock = asyncio.get_running_loop().time
    return AsyncPool(work, size, most_waiting=most_waiting, timeout_s=timeout_s, clock=clock)


async def feed(pool: AsyncPool[int, int], gaps_s: Iterator[float], seconds: float) -> list[int]:
    """Submits for so long; the number of workers after each submission."""
    seen, at_s = [], now()
    end_s = at_s + seconds
    while (at_s := at_s + next(gaps_s)) < end_s:
        await asyncio.sleep(at_s - now())
        pool.submit(0)
        seen.append(pool.workers)
    return seen


def even(rate_per_s: float) -> Iterator[float]:
    return itertools.repeat(1 / rate_per_s)


def poisson(rate_per_s: float, seed: int = 7) -> Iterator[float]:
    draws = random.Random(seed)
    return (draws.expovariate(rate_per_s) for _ in itertools.count())


def changes(workers: list[int]) -> int:
    return sum(before != after for before, after in itertools.pairwise(workers))


@pytest.mark.parametrize("arrivals", [even, poisson])
async def test_2_workers_at_50_a_second_16_to_20_at_800_and_back_to_2_without_oscillation(
    arrivals: Callable[[float], Iterator[float]],
) -> None:
    async with pool_of() as pool:
        assert set(await feed(pool, arrivals(50), 2)) == {2}
        rising = await feed(pool, arrivals(800), 2)
        assert changes(rising) <= 8
        steady = await feed(pool, arrivals(800), 2)
        assert 16 <= min(steady) <= max(steady) <= 20
        assert changes(steady) <= 2
        assert pool.waiting * 0.02 / pool.workers < 0.05
        falling = await feed(pool, arrivals(50), 11)
        assert falling == sorted(falling, reverse=True)
        assert set(await feed(pool, arrivals(50), 2)) == {2}


async def test_it_backs_off_when_the_dependency_slows_and_comes_back_when_it_has_recovered() -> None:
    """A dependency that answers in 20 ms, then not within the timeout, then in 20 ms again."""
    answers_in_s = 0.02

    async def call(item: int) -> int:
        await asyncio.sleep(answers_in_s)
        return item

    async with pool_of(call, timeout_s=0.1, most_waiting=100_000) as pool:
        futures = []

        async def traffic(seconds: float) -> None:
            for _ in range(round(seconds * 300)):
                futures.append(pool.submit(0))
                await asyncio.sleep(1 / 300)

        await traffic(1.5)
        assert pool.workers >= 6
        answers_in_s = 0.5
        await traffic(1.5)
        assert pool.workers == 2
        answers_in_s = 0.02
        await traffic(8)
        assert pool.workers >= 6
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} == {int, TimeoutError}


async def test_a_few_errors_are_their_submitters_and_change_nothing() -> None:
    async def one_in_twenty_fails(item: int) -> int:
        await asyncio.sleep(0.02)
        if item % 20 == 0:
            raise ValueError("bad item")
        return item

    async with pool_of(one_in_twenty_fails) as pool:
        futures = [pool.submit(item) for item in range(1, 200)]
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        assert pool.workers >= 6
    failed = [item for item, outcome in enumerate(outcomes, 1) if isinstance(outcome, ValueError)]
    assert failed == list(range(20, 200, 20))


async def test_what_would_wait_beyond_the_cap_is_refused_and_what_was_taken_is_done() -> None:
    async with pool_of(most_waiting=3) as pool:
        futures = [pool.submit(item) for item in range(5)]
        with pytest.raises(Saturated, match="3 items wait already, as many as may, and 2 are worked on"):
            pool.submit(5)
        assert await asyncio.gather(*futures) == [0, 1, 2, 3, 4]


async def test_leaving_the_block_waits_for_all_that_was_submitted() -> None:
    async with pool_of() as pool:
        futures = [pool.submit(item) for item in range(50)]
    assert all(future.done() for future in futures)
    assert pool.busy == pool.waiting == 0


async def test_leaving_the_block_by_an_error_cancels_what_is_left() -> None:
    ended: list[str] = []

    async def for_ever(item: int) -> int:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")
        return item

    futures: list[asyncio.Future[int]] = []

    async def failing_block() -> None:
        async with pool_of(for_ever) as pool:
            futures.extend(pool.submit(item) for item in range(5))
            await asyncio.sleep(0)
            raise KeyError("the program's own")

    with pytest.raises(KeyError, match="the program's own"):
        await failing_block()
    assert ended == ["cancelled"] * 2
    assert all(future.cancelled() for future in futures)


async def test_nothing_is_taken_outside_the_block() -> None:
    pool = pool_of()
    with pytest.raises(RuntimeError, match="the pool is not open"):
        pool.submit(1)
    async with pool:
        pass
    with pytest.raises(RuntimeError, match="the pool is not open"):
        pool.submit(1)


async def test_an_item_whose_submitter_has_given_up_is_not_worked_on() -> None:
    done = []

    async def note(item: int) -> int:
        await asyncio.sleep(1)
        done.append(item)
        return item

    async with pool_of(note) as pool:
        futures = [pool.submit(item) for item in range(3)]
        futures[2].cancel()
    assert done == [0, 1]


async def test_a_worker_that_is_retired_ends_what_it_does() -> None:
    release = asyncio.Event()

    async def long_or_short(item: int) -> int:
        await (release.wait() if item == 0 else asyncio.sleep(0.02))
        return item

    async with pool_of(long_or_short) as pool:
        long = pool.submit(0)
        for item in range(1, 100):
            pool.submit(item)
        await asyncio.sleep(20)
        assert (pool.workers, pool.busy, long.done()) == (2, 1, False)
        release.set()
        assert await long == 0


async def test_an_idle_pool_sleeps() -> None:
    """In virtual time an hour of looks would be 144,000 steps of the loop; here there are none."""
    async with pool_of() as pool:
        await pool.submit(1)
        await asyncio.sleep(3600)
        assert pool.workers == 2


async def test_a_pool_that_could_do_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"most_waiting = 0: nothing could be submitted.*\n.*timeout_s = 0\.0"):
        pool_of(most_waiting=0, timeout_s=0.0)
