"""Practo's worker pod autoscaler.

Source: github.com/practo/k8s-worker-pod-autoscaler (README, pkg/controller/controller.go: the formula, the floor from
the arrival rate, tolerance 0.1, scale-down-delay-after-last-scale-activity 600 s).
"""

import math
import random

from tidegate.core.observation import Observation
from tidegate.lab.peers.minutes import in_flight, visible
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["PractoWpa"]

TOLERANCE = 0.1
DOWN_DELAY_S = 600.0


class PractoWpa:
    """`target` messages (visible + in flight) a worker, and never fewer workers than the arrivals keep busy.

    The floor is ceil(messages sent a minute × seconds a job ÷ 60), for which it is told the true mean service time,
    shared among the worker's slots. Down only ten minutes after the last change.
    """

    tick_s = 20.0
    reads_fleet = False

    def __init__(self, target: float) -> None:
        self.target = target
        self.name = f"practo WPA {target:g}"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._minimum, self._maximum = scenario.min_workers, scenario.max_workers
        self._worker_s_per_job = scenario.mean_service_s / scenario.slots_per_worker
        self._changed_at_s = -math.inf

    def desired(self, seen: Observation, truth: Truth) -> int:
        current = seen.capacity.desired
        waiting, running = visible(seen), in_flight(seen)
        if waiting is None or running is None:
            return current
        wanted = self.wanted(current, waiting + running, _sent_per_minute(seen))
        if wanted < current and seen.now_s - self._changed_at_s < DOWN_DELAY_S:
            return current
        if wanted != current:
            self._changed_at_s = seen.now_s
        return wanted

    def wanted(self, current: int, messages: float, sent_per_minute: float) -> int:
        """The formula alone: within 10 % of the target per worker nothing changes, but for the floor."""
        floor = max(self._minimum, math.ceil(sent_per_minute * self._worker_s_per_job / 60.0))
        near = current > 0 and abs(messages / (self.target * current) - 1.0) <= TOLERANCE
        wanted = current if near else math.ceil(messages / self.target)
        return min(max(wanted, floor), self._maximum)


def _sent_per_minute(seen: Observation) -> float:
    return 60.0 * sum(queue.sent_per_s.value or 0.0 for queue in seen.queues)
