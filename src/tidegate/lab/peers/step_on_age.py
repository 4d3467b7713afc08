"""Step scaling on ApproximateAgeOfOldestMessage.

Source: docs.aws.amazon.com/autoscaling/application/userguide/step-scaling-policy-overview.html (percent steps, the
least magnitude, cooldowns). AWS publishes no steps for the age: the ones here are larger, and the cooldown out shorter
(60 s, not 300 s), than in its examples.
"""

import math
import random

from tidegate.core.observation import Observation
from tidegate.lab.peers.minutes import latest_breach
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["StepOnAge"]

OUT_STEPS = ((4.0, 1.0), (2.0, 0.5), (1.0, 0.2))
"""From this many thresholds on: the share of the desired count to add, one worker at least."""

IN_BELOW = 0.25
IN_POINTS = 15
IN_SHARE = 0.1
OUT_COOLDOWN_S = 60.0
IN_COOLDOWN_S = 300.0


class StepOnAge:
    """`threshold_s`: the age whose one-minute maximum sets off the alarm, at 1 of 1 points; half the target by default.

    +20 % from the threshold on, +50 % from twice, +100 % from four times; −10 % after 15 minutes under a quarter of it.
    """

    tick_s = 60.0
    reads_fleet = False

    def __init__(self, threshold_s: float) -> None:
        self.threshold_s = threshold_s
        self.name = f"step scaling on age {threshold_s:g} s"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum, self._maximum = max(1, scenario.min_workers), scenario.max_workers
        self._points: list[float | None] = []
        self._read_at_s = self._out_until_s = self._in_until_s = -math.inf

    def desired(self, seen: Observation, truth: Truth) -> int:
        self._read(seen)
        wanted = self._step(seen.capacity.desired, seen.now_s)
        return min(max(wanted, self._minimum), self._maximum)

    def _read(self, seen: Observation) -> None:
        ages = [queue.age_s for queue in seen.queues]
        newest_s = max(age.taken_at_s for age in ages)
        if newest_s <= self._read_at_s:
            return
        self._read_at_s = newest_s
        self._points.append(max((age.value for age in ages if age.value is not None), default=None))
        del self._points[:-IN_POINTS]

    def _step(self, current: int, now_s: float) -> int:
        age_s = self._points[-1] if self._points else None
        if age_s is None:
            return current
        share = next((share for factor, share in OUT_STEPS if age_s >= factor * self.threshold_s), 0.0)
        if share > 0:
            return self._out(current, share, now_s)
        low = latest_breach(self._points, IN_POINTS, lambda value: value < IN_BELOW * self.threshold_s)
        if low is None or now_s < max(self._in_until_s, self._out_until_s):
            return current
        self._in_until_s = now_s + IN_COOLDOWN_S
        return current - max(1, math.floor(current * IN_SHARE))

    def _out(self, current: int, share: float, now_s: float) -> int:
        if now_s < self._out_until_s:
            return current
        self._out_until_s = now_s + OUT_COOLDOWN_S
        return current + max(1, math.floor(current * share))
