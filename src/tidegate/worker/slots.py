"""The worker's slots: reserved before a poll, so that nothing is received for which no handler is free."""

import asyncio

__all__ = ["Slots"]


class Slots:
    """`total` slots; each is free, reserved for what a poll may bring, or busy with a handler."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.busy = 0
        self._free = total
        self._closed = False
        self._changed = asyncio.Event()

    async def reserve(self, at_most: int) -> int:
        """Waits for a free slot, then reserves up to `at_most`; 0 once `close` was called."""
        while not self._closed and self._free == 0:
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

    def close(self) -> None:
        """No more reservations: whoever waits for one gets 0."""
        self._closed = True
        self._changed.set()
