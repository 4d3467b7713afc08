"""Small scenarios with exact senses, and policies that do what a script says and note what they saw."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tidegate.core.observation import Observation
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Scenario


def scenario(arrivals_s: Sequence[float], service_s: Sequence[float] | float, **how: Any) -> Scenario:
    """Served in order by one-slot workers that start in 30 s sharp, seen without lag or error, unless `how` differs."""
    service = [service_s] * len(arrivals_s) if isinstance(service_s, int | float) else service_s
    settings: dict[str, Any] = {
        "target_wait_s": 10.0,
        "start_up_s": 30.0,
        "start_up_spread": 0.0,
        "length_s": max([1.0, *arrivals_s]),
        "slots_per_worker": 1,
        "order": "fifo",
        "count_lag_s": 0.0,
        "count_error": 0.0,
        "metric_lag_s": 0.0,
        "billing_minimum_s": 0.0,
    }
    return Scenario("rig", np.array(arrivals_s, float), np.array(service, float), **(settings | how))


class Script:
    """Asks for what `steps` says: (from, workers), the last one that has begun. Keeps all that it saw."""

    name = "script"

    def __init__(self, *steps: tuple[float, int], tick_s: float = 1.0, look: Callable[[Truth], Any] | None = None):
        self.tick_s = tick_s
        self.reads_fleet = True
        self.seen: list[Observation] = []
        self.looks: list[Any] = []
        self._steps = steps
        self._look = look

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self.seen, self.looks = [], []

    def desired(self, seen: Observation, truth: Truth) -> int:
        self.seen.append(seen)
        if self._look is not None:
            self.looks.append(self._look(truth))
        return [workers for from_s, workers in self._steps if from_s <= seen.now_s][-1]

    def at(self, now_s: float) -> Observation:
        """What it saw at that time."""
        return next(seen for seen in self.seen if seen.now_s == now_s)


class Fixed:
    """Always the same count, and blind to the fleet, which is fast."""

    name = "fixed"
    tick_s = 60.0
    reads_fleet = False

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        pass

    def desired(self, seen: Observation, truth: Truth) -> int:
        return self._workers
