"""What every contender is told, and the handler that all of them run."""

import asyncio
import os
import time

QUEUE = os.environ.get("BENCH_QUEUE", "")
CONCURRENCY = int(os.environ.get("BENCH_CONCURRENCY", "10"))
TAKES_S = float(os.environ.get("BENCH_TAKES_S", "0"))


def handle() -> None:
    if TAKES_S:
        time.sleep(TAKES_S)


async def handle_async() -> None:
    if TAKES_S:
        await asyncio.sleep(TAKES_S)
