"""A pool that finds its own size, in real time: python examples/async_pool.py [seconds per phase]

Items of 20 ms arrive at 50 a second, then at 800, then at 50 again. Each line is one second.
"""

import asyncio
import sys
import time

from tidegate import AsyncPool, auto, max_workers_for

ITEM_S = 0.02
PHASES_PER_S = (50, 800, 50)


async def call(item: int) -> int:
    """Stands for a query: the database has 20 connections, hence the cap below."""
    await asyncio.sleep(ITEM_S)
    return item


async def feed(pool: AsyncPool[int, int], rate_per_s: float, seconds: float) -> None:
    """Keeps to its timetable even when the loop is late: what is due is submitted at once."""
    started_s, sent = time.monotonic(), 0
    while (since_s := time.monotonic() - started_s) < seconds:
        for item in range(sent, int(since_s * rate_per_s)):
            pool.submit(item)
        sent = int(since_s * rate_per_s)
        await asyncio.sleep(0.002)


async def show(pool: AsyncPool[int, int]) -> None:
    print(" s  workers  busy  waiting")
    for second in range(10_000):
        print(f"{second:2}  {pool.workers:7}  {pool.busy:4}  {pool.waiting:7}", flush=True)
        await asyncio.sleep(1)


async def main(seconds: float) -> None:
    most = max_workers_for(db_pool_size=20, api_rate=None, item_time_s=ITEM_S)
    async with AsyncPool(call, auto(min=2, max=most, target_wait="50ms")) as pool:
        showing = asyncio.create_task(show(pool))
        for rate_per_s in PHASES_PER_S:
            print(f"-- {rate_per_s} a second")
            await feed(pool, rate_per_s, seconds)
        showing.cancel()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 12.0))
