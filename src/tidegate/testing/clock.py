"""A clock that moves only when it is told to, or when somebody waits on it."""

import heapq
import itertools
import threading
from collections.abc import Callable

__all__ = ["FakeClock"]


class FakeClock:
    """Implements `ports.Clock` in virtual time: `wait` moves the clock instead of waiting.

    What shall happen meanwhile is put down with `at`, so a test of a loop reads as a timetable:

    >>> clock, stop = FakeClock(0.0), threading.Event()
    >>> clock.at(25.0, stop.set)
    >>> clock.wait(stop, 10.0), clock.wait(stop, 10.0), clock.wait(stop, 10.0), clock.now()
    (False, False, True, 25.0)
    """

    def __init__(self, now_s: float = 1_700_000_000.0) -> None:
        self._now_s = now_s
        self._order = itertools.count()
        self._events: list[tuple[float, int, Callable[[], object]]] = []
        self._lock = threading.RLock()
        self.waits_s: list[float] = []
        """Every wait that was asked for, in seconds, oldest first."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return self._now_s

    def at(self, at_s: float, action: Callable[[], object]) -> None:
        """Call `action` when the clock gets to `at_s`: in order of time, then in the order they were put down."""
        with self._lock:
            heapq.heappush(self._events, (at_s, next(self._order), action))

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`, running what was put down with `at`."""
        self.wait(threading.Event(), seconds, record=False)

    def wait(self, stop: threading.Event, seconds: float, *, record: bool = True) -> bool:
        """Move on by `seconds`, or to the event that sets `stop`; true when it is set."""
        with self._lock:
            if record:
                self.waits_s.append(seconds)
            end_s = self._now_s + max(0.0, seconds)
            while not stop.is_set() and self._events and self._events[0][0] <= end_s:
                at_s, _, action = heapq.heappop(self._events)
                self._now_s = max(self._now_s, at_s)
                action()
            if not stop.is_set():
                self._now_s = max(self._now_s, end_s)
            return stop.is_set()
