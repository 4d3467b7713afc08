"""Waiting with an end: for an event or an answer so many seconds at most, for work not longer than until an event."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from tidegate.errors import Unreachable

__all__ = ["answered_within", "happens_within", "unless"]

T = TypeVar("T")


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """True as soon as `event` is set, false when `seconds` have passed without it."""
    if event.is_set():
        return True
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


@asynccontextmanager
async def answered_within(seconds: float, operation: str, resource: str) -> AsyncIterator[None]:
    """A call that must not hang: raises Unreachable when the block takes longer, and whatever the call raises."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Unreachable(operation, resource, f"none within {seconds:.3g} s") from None


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
