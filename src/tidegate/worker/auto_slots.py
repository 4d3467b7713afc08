"""What the law of slots looks at, measured: `auto(…)` makes the rule, `Gauge` the looks."""

from collections.abc import Callable

from tidegate.core.auto_slots import AutoSlots, Look
from tidegate.core.durations import parse_duration
from tidegate.errors import ConfigError, Fault

__all__ = ["Gauge", "auto"]


def auto(*, min: int = 1, max: int, target_wait: float | str) -> AutoSlots:  # noqa: A002  the words people would guess
    """A number of slots that follows the work: between `min` and `max`, so that nothing waits longer than the target.

    `target_wait` is in seconds (0.05) or a text ("50ms"). For `Worker(slots=…)` and `AsyncPool`. Raises ConfigError.

    >>> auto(min=2, max=32, target_wait="50ms")
    AutoSlots(least=2, most=32, target_wait_s=0.05)
    """
    faults = []
    if min < 1:
        faults.append(Fault("min", min, "nothing would ever be done", "write 1 or more"))
    if max < min:
        faults.append(Fault("max", max, f"less than min = {min}", "raise it, or lower min"))
    try:
        target_wait_s = _some_time(target_wait)
    except ValueError as error:
        problem, _, fix = str(error).partition("; ")
        raise ConfigError([*faults, Fault("target_wait", target_wait, problem, fix or "write 50ms")]) from error
    if faults:
        raise ConfigError(faults)
    return AutoSlots(min, max, target_wait_s)


def _some_time(value: float | str) -> float:
    seconds = parse_duration(value)
    if seconds == 0:
        raise ValueError("nothing can wait for no time at all; write a time such as 50ms")
    return seconds


class Gauge:
    """Counts between two looks: the mean of what is busy, and what has ended. `clock` is a steady clock."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._busy = 0
        self._changed_at_s = self._looked_at_s = clock()
        self._busy_s = 0.0
        self._ended = self._failed = 0
        self._service_time_sum_s = 0.0

    def busy(self, now_busy: int) -> None:
        """From now on so many slots are busy."""
        now_s = self._clock()
        self._busy_s += self._busy * (now_s - self._changed_at_s)
        self._busy, self._changed_at_s = now_busy, now_s

    def ended(self, service_time_s: float, *, failed: bool) -> None:
        """One has ended, well or not."""
        self._ended += 1
        self._failed += failed
        self._service_time_sum_s += service_time_s

    def look(self, head_wait_s: float) -> Look:
        """What happened since the last call."""
        self.busy(self._busy)
        now_s = self._changed_at_s
        elapsed_s = now_s - self._looked_at_s
        busy = self._busy_s / elapsed_s if elapsed_s > 0 else float(self._busy)
        look = Look(now_s, head_wait_s, busy, self._ended, self._failed, self._service_time_sum_s)
        self._looked_at_s = now_s
        self._busy_s, self._service_time_sum_s = 0.0, 0.0
        self._ended = self._failed = 0
        return look
