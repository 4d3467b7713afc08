"""Queue-latency stepping, as Judoscale does it.

Source: judoscale.com/guides/autoscaling-behavior (metrics aggregated every 10 s; up when a recent one exceeds the range
and there was no upscale for three minutes; down when all were below the range for ten minutes; one at a time).
"""

import math
import random

from tidegate.core.observation import Observation
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["LatencyStepping"]

UP_EVERY_S = 180.0
DOWN_AFTER_S = 600.0
RANGE_BOTTOM = 0.25


class LatencyStepping:
    """`range_top_s`: the queue latency above which a worker is added; the range begins at a quarter of it.

    It reads the age of its queue's head straight from the broker every 10 s, so here it is given the exact age, without
    CloudWatch's lag: better than it could have on SQS. Never below one worker: it does not scale from zero.
    """

    tick_s = 10.0
    reads_fleet = False

    def __init__(self, range_top_s: float) -> None:
        self.range_top_s = range_top_s
        self.name = f"queue-latency stepping {range_top_s:g} s"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum, self._maximum = max(1, scenario.min_workers), scenario.max_workers
        self._up_at_s = -math.inf
        self._quiet_since_s: float | None = None

    def desired(self, seen: Observation, truth: Truth) -> int:
        wanted = self.step(seen.capacity.desired, truth.head_age_s, seen.now_s)
        return min(max(wanted, self._minimum), self._maximum)

    def step(self, current: int, latency_s: float, now_s: float) -> int:
        """The rule alone: one more above the range, one fewer after ten minutes below it."""
        if latency_s >= RANGE_BOTTOM * self.range_top_s:
            self._quiet_since_s = None
            if latency_s <= self.range_top_s or now_s - self._up_at_s < UP_EVERY_S:
                return current
            self._up_at_s = now_s
            return current + 1
        if self._quiet_since_s is None:
            self._quiet_since_s = now_s
        if now_s - self._quiet_since_s < DOWN_AFTER_S:
            return current
        self._quiet_since_s = now_s  # the next one needs ten quiet minutes of its own
        return current - 1
