"""A worker's way out: running → draining → released → stopped, and how much time is left for it.

The first stop starts the grace. Each further one leaves a fifth of it at most; one within a second of the one before is
its echo (Ctrl-C reaches parent and child, and the parent passes it on) and changes nothing.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from tidegate.core.reports import WorkerState

__all__ = ["Lifecycle"]

_ECHO_S: Final = 1.0
_HURRY_SHARE: Final = 0.2
_FINEST_S: Final = 0.001


class Lifecycle:
    """`on_change` hears of each new state. `clock` is a steady clock."""

    def __init__(self, grace_s: float, on_change: Callable[[], None], clock: Callable[[], float]) -> None:
        self.state = WorkerState.RUNNING
        self.reason = ""
        self.stopping = asyncio.Event()
        self._grace_s = grace_s
        self._on_change = on_change
        self._clock = clock
        self._deadline_s: float | None = None
        self._stopped_at_s = 0.0
        self._shortened = asyncio.Event()

    def stop(self, reason: str) -> None:
        """Leave within the grace; asked again, leave sooner. Never loses a message: what is left is released."""
        now_s = self._clock()
        if self._deadline_s is None:
            self.reason = reason
            self._deadline_s = now_s + self._grace_s
            self.advance(WorkerState.DRAINING)
            self.stopping.set()
        elif now_s - self._stopped_at_s >= _ECHO_S:
            self._deadline_s = min(self._deadline_s, now_s + self._grace_s * _HURRY_SHARE)
            self._shortened.set()
        self._stopped_at_s = now_s

    def advance(self, state: WorkerState) -> None:
        """The next state; the service calls this in the order above."""
        self.state = state
        self._on_change()

    def time_left_s(self) -> float:
        """Seconds of grace left; 0 when it is over. Less than a millisecond is over: no timer is finer."""
        if self._deadline_s is None:
            return self._grace_s
        left_s = self._deadline_s - self._clock()
        return left_s if left_s >= _FINEST_S else 0.0

    async def within_grace(self, work: Coroutine[Any, Any, Any] | asyncio.Task[Any]) -> bool:
        """Waits for `work` until the grace is over, even when the grace gets shorter meanwhile. True when it ended.

        Work that did not end is cancelled; what it raised is raised.
        """
        task = work if isinstance(work, asyncio.Task) else asyncio.create_task(work)
        while not task.done() and self.time_left_s() > 0:
            self._shortened.clear()
            shortened = asyncio.create_task(self._shortened.wait())
            await asyncio.wait({task, shortened}, timeout=self.time_left_s(), return_when=asyncio.FIRST_COMPLETED)
            shortened.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
            return False
        await task
        return True
