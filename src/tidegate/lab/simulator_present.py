"""The exact present of a run, as `lab.policy.Truth` promises it."""

from bisect import bisect_right

import numpy as np

from tidegate.lab.fleet import Platform
from tidegate.lab.scenario import Floats, Scenario
from tidegate.lab.simulator_queue import SimulatedQueue

__all__ = ["Present"]

_RATE_OVER_S = 60.0


class Present:
    """Looks into queue and platform when asked; `now_s` moves on with the run."""

    def __init__(self, scenario: Scenario, queue: SimulatedQueue, platform: Platform) -> None:
        self._scenario = scenario
        self._queue = queue
        self._platform = platform
        self._arrivals_s: list[float] = scenario.arrivals_s.tolist()
        self.now_s = 0.0
        self.mean_service_s = scenario.mean_service_s
        self.start_up_s = scenario.start_up_s

    @property
    def desired(self) -> int:
        return self._platform.desired

    @property
    def running(self) -> int:
        return len(self._platform.running)

    @property
    def starting_ready_in_s(self) -> Floats:
        return np.sort([worker.ready_at_s - self.now_s for worker in self._platform.starting.values()])

    @property
    def slots_free_in_s(self) -> Floats:
        return np.sort([max(0.0, free_s - self.now_s) for free_s, _ in self._queue.slots_free_at()])

    @property
    def waiting_arrivals_s(self) -> Floats:
        return self._scenario.arrivals_s[self._queue.waiting_messages()]

    @property
    def waiting(self) -> int:
        return self._queue.waiting

    @property
    def head_age_s(self) -> float:
        return self.now_s - min(self.waiting_arrivals_s, default=self.now_s)

    @property
    def rate_per_s(self) -> float:
        over_s = min(self.now_s, _RATE_OVER_S)
        if over_s == 0:
            return 0.0
        came = bisect_right(self._arrivals_s, self.now_s) - bisect_right(self._arrivals_s, self.now_s - over_s)
        return came / over_s
