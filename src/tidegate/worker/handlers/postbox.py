"""Things brought from any thread to one loop, with one wake-up for all that come before the loop gets to them.

Waking a loop costs a system call, and the other thread's turn: at thousands of messages a second that is what a worker
would do most. So a loop that puts several things one after another wakes the other one when it has put the last: woken
by the first, that would take its turn, and so on, thing by thing.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Postbox"]

T = TypeVar("T")


class Postbox(Generic[T]):
    """`receive` is called on `loop`, once for each thing, in the order in which they were put."""

    def __init__(self, loop: asyncio.AbstractEventLoop, receive: Callable[[T], None]) -> None:
        self._loop = loop
        self._receive = receive
        self._things: deque[T] = deque()
        self._woken = False

    def put(self, thing: T) -> None:
        """From any thread.

        Raises RuntimeError when the loop is closed, for then nobody will ever receive it; put by a callback of another
        loop, that loop's exception handler is told instead.
        """
        self._things.append(thing)
        if not self._woken:  # else `_deliver` has yet to run, and will see what was appended before this look
            self._woken = True
            self._wake()

    def _wake(self) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            self._loop.call_soon_threadsafe(self._deliver)  # from a thread without a loop
            return
        if here is self._loop:
            here.call_soon(self._deliver)
        else:
            here.call_soon(self._loop.call_soon_threadsafe, self._deliver)

    def _deliver(self) -> None:
        self._woken = False
        for _ in range(len(self._things)):
            self._receive(self._things.popleft())
        if self._things and not self._woken:
            self._woken = True
            self._loop.call_soon(self._deliver)
