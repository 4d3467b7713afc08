"""What every contender is told, and the handler that all of them run."""

import asyncio
import itertools
import os
import time

QUEUE = os.environ.get("BENCH_QUEUE", "")
CONCURRENCY = int(os.environ.get("BENCH_CONCURRENCY", "10"))
TAKES_S = float(os.environ.get("BENCH_TAKES_S", "0"))
STRAGGLER_EVERY = int(os.environ.get("BENCH_STRAGGLER_EVERY", "0"))
STRAGGLER_S = 2.0

_numbers = itertools.count(1)


def takes_s() -> float:
    if STRAGGLER_EVERY and next(_numbers) % STRAGGLER_EVERY == 0:
        return STRAGGLER_S
    return TAKES_S


def handle() -> None:
    if seconds := takes_s():
        time.sleep(seconds)


async def handle_async() -> None:
    if seconds := takes_s():
        await asyncio.sleep(seconds)
