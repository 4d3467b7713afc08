"""A worker's way out: running → retiring → draining → released → stopped, and how much time is left for it.

===========  ==========================================================================================================
retiring     no new poll is sent; the one that is out is waited for, as SQS may have handed messages out to it already
draining     no poll is out; handlers go on, their leases are kept
released     nothing is held any more, and the platform may take the worker
stopped      the last report
===========  ==========================================================================================================

Two ways lead there. *Retiring* (scale-in, a deployment, a rebalance recommendation) has no deadline and can be taken
back: the worker waits in `released` until the platform stops it, or until it may work again. *Leaving* (a signal, a
spot notice, the end of a lifecycle hook, a fault, being wedged) has a deadline and can't.

The first signal starts the grace. Each further one leaves a fifth of it at most; one within a second of the one before
is its echo (Ctrl-C reaches parent and child, and the parent passes it on) and changes nothing. A notice sets a deadline
of its own: whichever is first holds.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine
from enum import StrEnum
from typing import Any, Final

from tidegate.core.reports import WorkerState

__all__ = ["Lifecycle", "Why"]

_ECHO_S: Final = 1.0
_HURRY_SHARE: Final = 0.2
_FINEST_S: Final = 0.001


_ORDER: Final = list(WorkerState)


class Why(StrEnum):
    """Why a worker retires or leaves, as its reports say it; a signal or its program's own words also stand there."""

    SCALE_IN = "scale-in"
    SPOT = "spot interruption"
    REBALANCE = "rebalance recommendation"
    LIFECYCLE_HOOK = "lifecycle hook"
    LAPSE = "letting its protection lapse"
    WEDGED = "wedged"


class Lifecycle:
    """`on_change` hears of each new state. `clock` is a steady clock."""

    def __init__(self, grace_s: float, on_change: Callable[[], None], clock: Callable[[], float]) -> None:
        self.state = WorkerState.RUNNING
        self.reason = ""
        self.stopping = asyncio.Event()
        """Set for good once the worker must leave."""
        self.retired, self.working = asyncio.Event(), asyncio.Event()
        """One of the two is set: the worker is to take no more work, or it is to."""
        self.working.set()
        self.released = asyncio.Event()
        """Set while the worker holds nothing and may be taken."""
        self._grace_s = grace_s
        self._on_change = on_change
        self._clock = clock
        self._causes: list[str] = []
        self._deadline_s = math.inf
        self._signalled_at_s: float | None = None
        self._shortened = asyncio.Event()

    @property
    def draining(self) -> bool:
        """Whether the worker has been told to take no more work, for a while or for good."""
        return self.stopping.is_set() or self.retired.is_set()

    def retire(self, cause: str) -> None:
        """Take no more work, for as long as any cause holds. What runs may take its time."""
        if cause not in self._causes:
            self._causes.append(cause)
            self._weigh()

    def take_back(self, cause: str) -> None:
        """This cause holds no longer."""
        if cause in self._causes:
            self._causes.remove(cause)
            self._weigh()

    def _weigh(self) -> None:
        if self.stopping.is_set():
            return
        self.reason = self._causes[0] if self._causes else ""
        now_set, now_clear = (self.retired, self.working) if self._causes else (self.working, self.retired)
        now_clear.clear()
        now_set.set()

    def stop(self, reason: str) -> bool:
        """Leave within the grace; asked again, leave sooner. Never loses a message: what is left is released.

        False: it was an echo, and changed nothing.
        """
        now_s, before_s = self._clock(), self._signalled_at_s
        self._signalled_at_s = now_s
        if before_s is None:
            self._leave(reason, now_s + self._grace_s)
        elif now_s - before_s >= _ECHO_S:
            self._leave(reason, now_s + self._grace_s * _HURRY_SHARE)
        else:
            return False
        return True

    def leave_within(self, reason: str, seconds: float) -> None:
        """Leave before a time that somebody else has set, however long the grace is."""
        self._leave(reason, self._clock() + max(0.0, seconds))

    def _leave(self, reason: str, deadline_s: float) -> None:
        self._deadline_s = min(self._deadline_s, deadline_s)
        self._shortened.set()
        if not self.stopping.is_set():
            self.reason = self.reason or reason
            self.stopping.set()

    def advance(self, state: WorkerState) -> None:
        """The next state, if it is one: from `released` a worker that leaves does not begin again."""
        if state is WorkerState.RUNNING or _ORDER.index(state) > _ORDER.index(self.state):
            self.state = state
            (self.released.set if state is WorkerState.RELEASED else self.released.clear)()
            self._on_change()

    def time_left_s(self) -> float:
        """Seconds left; 0 when time is over. Less than a millisecond is over: no timer is finer."""
        if math.isinf(self._deadline_s):
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
