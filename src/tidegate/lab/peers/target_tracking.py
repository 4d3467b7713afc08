"""Target tracking of Application Auto Scaling and EC2 Auto Scaling, on backlog per instance.

Sources, all under docs.aws.amazon.com/autoscaling: ec2/userguide/as-using-sqs-queue.html (the metric, and its target:
acceptable latency ÷ processing time), application/userguide/target-tracking-scaling-policy-overview.html (cooldowns of
300 s; while one runs, out only where that asks for more than the last step did). That the alarms need 3 of 3 one-minute
points out and 15 of 15 in, the latter about 10 % under the target, is what users see.
"""

import math
import random

from tidegate.core.observation import Observation
from tidegate.lab.peers.minutes import Points, latest_breach, visible
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["BacklogPerInstance", "TargetTracker"]

IN_BELOW = 0.9
COOLDOWN_S = 300.0


class TargetTracker:
    """The policy itself, for any metric that falls as workers are added: what it proposes, None when no alarm is on."""

    def __init__(self, target: float, out_points: int, in_points: int) -> None:
        self._target, self._out, self._in = target, out_points, in_points
        self._out_until_s = self._in_until_s = -math.inf
        self._before_out = 0

    def propose(self, points: list[float | None], current: int, now_s: float) -> int | None:
        """`points` oldest first; `current` is the desired count."""
        high = latest_breach(points, self._out, lambda value: value > self._target)
        if high is not None:
            return self._scale_out(high, current, now_s)
        low = latest_breach(points, self._in, lambda value: value < IN_BELOW * self._target)
        if low is not None and now_s >= max(self._in_until_s, self._out_until_s):
            wanted = math.ceil(current * low / self._target)
            if wanted < current:
                self._in_until_s = now_s + COOLDOWN_S
                return wanted
        return None

    def _scale_out(self, metric: float, current: int, now_s: float) -> int | None:
        cooling = now_s < self._out_until_s
        base = self._before_out if cooling else current
        wanted = math.ceil(base * metric / self._target)
        if wanted <= current:
            return None
        self._before_out, self._out_until_s = base, now_s + COOLDOWN_S
        return wanted


class BacklogPerInstance:
    """`target` messages waiting for each running worker; AWS's own advice for it is T ÷ S, here times the slots.

    Points are one minute apart and a metric lag late. At zero workers the metric does not exist, so the minimum is at
    least one. With `out_points` 1 it stands for the faster alarms since November 2024, whose rule is not published.
    """

    reads_fleet = False

    def __init__(self, target: float, out_points: int = 3, in_points: int = 15, period_s: float = 60.0) -> None:
        self.target, self._out, self._in, self.tick_s = target, out_points, in_points, period_s
        self.name = f"target tracking {target:g}" + (" fast" if out_points < 3 else "")

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum, self._maximum = max(1, scenario.min_workers), scenario.max_workers
        self._points = Points(scenario.metric_lag_s, keep=self._in)
        self._tracker = TargetTracker(self.target, self._out, self._in)

    def desired(self, seen: Observation, truth: Truth) -> int:
        waiting, running = visible(seen), seen.capacity.running
        self._points.add(seen.now_s, waiting / running if waiting is not None and running else None)
        current = seen.capacity.desired
        wanted = self._tracker.propose(list(self._points.arrived(seen.now_s)), current, seen.now_s)
        return min(max(current if wanted is None else wanted, self._minimum), self._maximum)
