"""The QueueProcessing service of the AWS CDK (aws-ecs-patterns), as it comes.

Source: docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_ecs_patterns.QueueProcessingFargateService.html
(scalingSteps and the CPU target of 50 %). Where nothing is said a CDK metric's period is five minutes and a step
policy's cooldown 300 s.
"""

import math
import random

from tidegate.core.observation import Observation
from tidegate.lab.peers.minutes import Points, busy_share, visible
from tidegate.lab.peers.target_tracking import TargetTracker
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["CdkQueueProcessing"]

STEPS = ((500.0, 5), (100.0, 1))
PERIOD_S = 300.0
COOLDOWN_S = 300.0
CPU_TARGET = 0.5


class CdkQueueProcessing:
    """Messages visible, at most in five minutes: 0 → −1 worker, from 100 → +1, from 500 → +5; and CPU held at 50 %.

    `scale` multiplies 100 and 500. Handlers count as computing all the time, so CPU use is the share of busy slots.
    Where both policies want a change, the larger count is taken, as Application Auto Scaling does. Minimum one task,
    and the scenario's maximum in place of twice the desired count.
    """

    tick_s = 60.0
    reads_fleet = True

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.name = f"CDK QueueProcessing ×{scale:g}"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum, self._maximum = max(1, scenario.min_workers), scenario.max_workers
        self._cpu, self._cpu_tracker = Points(scenario.metric_lag_s, keep=15), TargetTracker(CPU_TARGET, 3, 15)
        self._depth = Points(scenario.metric_lag_s, keep=1)
        self._period: list[float] = []
        self._period_ends_s = PERIOD_S
        self._cooling_until_s = -math.inf

    def desired(self, seen: Observation, truth: Truth) -> int:
        now_s, current = seen.now_s, seen.capacity.desired
        self._cpu.add(now_s, busy_share(seen))
        self._gather(visible(seen), now_s)
        proposals = (
            self._cpu_tracker.propose(list(self._cpu.arrived(now_s)), current, now_s),
            self._step(current, now_s),
        )
        wanted = max((each for each in proposals if each is not None), default=current)
        return min(max(wanted, self._minimum), self._maximum)

    def _gather(self, waiting: float | None, now_s: float) -> None:
        if waiting is not None:
            self._period.append(waiting)
        if now_s >= self._period_ends_s:
            self._depth.add(now_s, max(self._period, default=None))
            self._period, self._period_ends_s = [], now_s + PERIOD_S

    def _step(self, current: int, now_s: float) -> int | None:
        depth = next(iter(self._depth.arrived(now_s)), None)
        if depth is None or now_s < self._cooling_until_s:
            return None
        change = next((change for least, change in STEPS if depth >= least * self.scale), -1 if depth <= 0 else 0)
        if change == 0:
            return None
        self._cooling_until_s = now_s + COOLDOWN_S
        return current + change
