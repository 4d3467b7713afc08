"""The worker's slots: reserved before a poll, so that nothing is received for which no handler is free.

Pausing is how a worker takes no more work for a while: no slot is reserved, hence no poll sent.
"""

import asyncio

__all__ = ["Slots"]


class Slots:
    """`total` slots; each is free, reserved for what a poll may bring, or busy with a handler."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.busy = 0
        self._free = total
        self._closed = False
        self._paused = False
        self._changed = asyncio.Event()

    async def reserve(self, at_most: int) -> int:
        """Waits for a free slot, and out a pause, then reserves up to `at_most`; 0 once `close` was called."""
        while not self._closed and (self._paused or self._free == 0):
            self._changed.clear()
            await self._changed.wait()
        if self._closed:
            return 0
        reserved = min(at_most, self._free)
        self._free -= reserved
        return reserved

    def give_back(self, reserved: int) -> None:
        """Reserved slots for which no message came."""
        self._free += reserved
        self._changed.set()

    def start(self) -> None:
        """A handler takes one reserved slot."""
        self.busy += 1

    def finish(self) -> None:
        """A handler is done: its slot is free."""
        self.busy -= 1
        self.give_back(1)

    def pause(self) -> None:
        """No more reservations until `resume`; those that were made stand."""
        self._paused = True

    def resume(self) -> None:
        """Reservations as before."""
        self._paused = False
        self._changed.set()

    @property
    def reserved(self) -> int:
        """Slots that polls still hold, hence messages that may still come."""
        return self.total - self._free - self.busy

    def close(self) -> None:
        """No more reservations: whoever waits for one gets 0."""
        self._closed = True
        self._changed.set()
