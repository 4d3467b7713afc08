"""CloudWatch as alarms see it: one point a period, some time late, and a state that needs several of them."""

from collections import deque
from collections.abc import Callable, Sequence

from tidegate.core.observation import Observation

__all__ = ["Points", "busy_share", "in_flight", "latest_breach", "visible"]


class Points:
    """The points of one metric, each usable only `lag_s` after its own time. None is a period without data."""

    def __init__(self, lag_s: float, keep: int) -> None:
        self._lag_s = lag_s
        self._late: deque[tuple[float, float | None]] = deque()
        self._arrived: deque[float | None] = deque(maxlen=keep)

    def add(self, at_s: float, value: float | None) -> None:
        self._late.append((at_s, value))

    def arrived(self, now_s: float) -> Sequence[float | None]:
        """The newest points that can be seen by now, oldest first."""
        while self._late and self._late[0][0] + self._lag_s <= now_s + 1e-6:
            self._arrived.append(self._late.popleft()[1])
        return self._arrived


def latest_breach(points: Sequence[float | None], needed: int, breaches: Callable[[float], bool]) -> float | None:
    """The newest point when the last `needed` points all breach (an alarm of N out of N), else None.

    >>> latest_breach([1, 9, 8], 2, lambda value: value > 5), latest_breach([9, None, 8], 2, lambda value: value > 5)
    (8, None)
    """
    if len(points) < needed:
        return None
    newest = points[-1]
    for back in range(1, needed + 1):
        value = points[-back]
        if value is None or not breaches(value):
            return None
    return newest


def visible(seen: Observation) -> float | None:
    """Messages waiting, summed over the queues; None when one of them could not be read."""
    return _sum([queue.visible.value for queue in seen.queues])


def in_flight(seen: Observation) -> float | None:
    """Messages received and not yet deleted, summed over the queues; None when one of them could not be read."""
    return _sum([queue.in_flight.value for queue in seen.queues])


def busy_share(seen: Observation) -> float | None:
    """Busy slots ÷ slots of the workers that report: the CPU use of a service whose handlers only compute."""
    slots = sum(worker.slots for worker in seen.fleet.workers)
    return sum(worker.busy for worker in seen.fleet.workers) / slots if slots else None


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
