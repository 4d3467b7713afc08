"""Virtual time: what is to happen, in order."""

import heapq
import itertools
from collections.abc import Callable

__all__ = ["Events"]


class Events:
    """`now_s` is the time of the event that is being played; events of one time are played as they were put in."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._order = itertools.count()

    @property
    def next_s(self) -> float:
        """When the next one is due."""
        return self._heap[0][0]

    def at(self, at_s: float, call: Callable[..., None], *args: object) -> None:
        """`call(*args)` at that time."""
        heapq.heappush(self._heap, (at_s, next(self._order), call, args))

    def after(self, delay_s: float, call: Callable[..., None], *args: object) -> None:
        """`call(*args)` so much later than now."""
        self.at(self.now_s + delay_s, call, *args)

    def play(self) -> None:
        """The next event."""
        self.now_s, _, call, args = heapq.heappop(self._heap)
        call(*args)
