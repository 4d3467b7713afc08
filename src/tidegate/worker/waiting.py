"""Waiting for an event, but not longer than so many seconds."""

import asyncio

__all__ = ["happens_within"]


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """True as soon as `event` is set, false when `seconds` have passed without it."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
