"""A fleet that never changes: what a team has before it scales. Both sizes know the whole traffic beforehand."""

import math
import random

import numpy as np

from tidegate.core.observation import Observation
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario

__all__ = ["FixedFleet", "workers_for_mean", "workers_for_peak"]

UTILIZATION = 0.7


class FixedFleet:
    """`workers` from the first moment to the last."""

    tick_s = 60.0
    reads_fleet = False

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.name = f"fixed {workers}"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        """Nothing to forget."""

    def desired(self, seen: Observation, truth: Truth) -> int:
        return self.workers


def workers_for_mean(scenario: Scenario) -> int:
    """The mean offered load at 70 % utilization."""
    return max(1, math.ceil(scenario.load_slots / UTILIZATION / scenario.slots_per_worker))


def workers_for_peak(scenario: Scenario, quantile: float = 0.999) -> int:
    """The load that is exceeded for 0.1 % of the time, were every message started on arrival."""
    starts = np.sort(scenario.arrivals_s)
    ends = np.sort(scenario.arrivals_s + scenario.service_s)
    at_s = np.arange(0.0, scenario.length_s, 1.0)
    busy = np.searchsorted(starts, at_s, side="right") - np.searchsorted(ends, at_s, side="right")
    return max(1, math.ceil(float(np.quantile(busy, quantile)) / scenario.slots_per_worker))
