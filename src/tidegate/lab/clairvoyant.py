"""The achievable clairvoyant: the optimum in whole workers, asked for early enough, replayed in the simulator."""

import math
import random

import numpy as np

from tidegate.core.observation import Observation
from tidegate.lab.optimum import Plan, solve
from tidegate.lab.policy import Policy, Truth
from tidegate.lab.rivals import Make, Rival
from tidegate.lab.scenario import Scenario

__all__ = ["REACHES", "PlannedFleet", "clairvoyant"]

REACHES = (0.3, 0.7)
"""Shares of the target to plan with; the cheapest that holds is the clairvoyant."""

RAISES = (0.9, 0.95, 1.0, 1.03, 1.06, 1.1, 1.15, 1.2, 1.3, 1.45, 1.6, 2.0, 3.0)


class PlannedFleet:
    """`plan`, times `raised` and rounded up to whole workers.

    Workers are asked for a start-up time at its longest before they are needed, and kept where they are needed again
    within that time.
    """

    reads_fleet = False

    def __init__(self, plan: Plan, raised: float = 1.0) -> None:
        self._plan, self._raised = plan, raised
        self.name = f"clairvoyant ×{raised:.2f}"
        self.tick_s = min(10.0, plan.bin_s)

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._workers = np.ceil(self._plan.slots * self._raised / scenario.slots_per_worker - 1e-6).astype(int)
        self._lead_s = scenario.start_up_s * (1 + scenario.start_up_spread)

    def desired(self, seen: Observation, truth: Truth) -> int:
        first = math.floor(truth.now_s / self._plan.bin_s)
        last = math.floor((truth.now_s + self._lead_s + self.tick_s) / self._plan.bin_s)
        planned = self._workers[first : last + 1]
        return max(int(planned.max(initial=0)), 1 if truth.waiting else 0)


def clairvoyant(reach: float, late_allowed: float = 0.01) -> Rival:
    """Tuned like a rival, by how far the plan is raised. Each window's plan is worked out once.

    It plans with `reach` of the target, for in random order waits spread about the plan.
    """
    plans: dict[int, tuple[Scenario, Plan]] = {}

    def make(raised: float) -> Make:
        def planned(scenario: Scenario) -> Policy:
            if id(scenario) not in plans:
                plan = solve(scenario, late_allowed, target_s=reach * scenario.target_wait_s)
                plans[id(scenario)] = scenario, plan
            return PlannedFleet(plans[id(scenario)][1], raised)

        return planned

    return Rival("clairvoyant", "achievable clairvoyant", "plan raised by", make(1.0), RAISES, make)
