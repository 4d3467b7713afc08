"""Waiting for an event, but not longer than so many seconds; and for work, but not longer than until an event."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["happens_within", "unless"]

T = TypeVar("T")


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """True as soon as `event` is set, false when `seconds` have passed without it."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


async def unless(event: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """What `work` gives or raises; None as soon as `event` is set, and `work` is cancelled then."""
    task, told = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait({task, told}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in (task, told):
            each.cancel()
        await asyncio.wait({task, told})
    if event.is_set():
        if not task.cancelled():
            task.exception()  # looked at, or asyncio would say that nobody did
        return None
    return task.result()
