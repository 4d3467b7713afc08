"""Perfect sight of the present: what sensing alone could buy. It sees all that is, and nothing of what will come."""

import math
import random
from collections import deque

import numpy as np

from tidegate.core.observation import Observation
from tidegate.lab.policy import Truth
from tidegate.lab.scenario import Floats, Scenario

__all__ = ["PerfectSight", "workers_on_time"]

DEADLINES = 32
"""Deadlines looked at, evenly spread over what waits: a longer list changes nothing that whole workers would show."""

REACH = {"fifo": 0.9, "sharded": 0.3}
"""The share of the target that it plans with. A standard queue's random order spreads the waits about the plan: with
0.5 six cells in a hundred more than with 0.3 are late by that alone, with 0.8 forty."""


class PerfectSight:
    """The cheapest count that starts every waiting message on time, and those expected until new workers are there.

    It knows every waiting message's arrival, when each slot will be free and each starting worker ready, the true mean
    service and start-up time and the arrival rate of the last minute. What can't be on time any more is drained within
    the target. A worker is kept for a start-up time after it was last needed.
    """

    tick_s = 10.0
    reads_fleet = False
    name = "perfect sight"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self._reach_s = scenario.target_wait_s * REACH[scenario.order]
        self._slots = scenario.slots_per_worker
        self._needs: deque[tuple[float, int]] = deque()

    def desired(self, seen: Observation, truth: Truth) -> int:
        need = workers_on_time(truth, self._reach_s, self._slots)
        self._needs.append((truth.now_s, need))
        while self._needs[0][0] < truth.now_s - truth.start_up_s:
            self._needs.popleft()
        return max(workers for _, workers in self._needs)


def workers_on_time(truth: Truth, target_s: float, slots_per_worker: int) -> int:
    """The fewest workers that start everything within `target_s`, as far as workers asked for now can still help.

    Counted in whole starts: a slot that is free at r has started ⌊(t − r)/S⌋ + 1 messages by t. Seen from now, the
    j-th message due by t needs the j-th start by t. A shortfall before new workers are there (t < D) can't be mended:
    those messages leave the reckoning until D + T, and are due then.
    """
    due_s, due = _due(truth, target_s)
    if not len(due) or due[-1] <= 0:
        return 0
    ready_s, mean_s = truth.start_up_s, truth.mean_service_s
    free_s = _kept_first(truth, slots_per_worker)
    starts = np.floor((due_s[None, :] - free_s[:, None]) / mean_s + 1e-9) + 1.0
    there = np.vstack([np.zeros(len(due_s)), np.cumsum(np.maximum(starts, 0.0), axis=0)])[::slots_per_worker]
    early = due_s < ready_s
    lost = max(0.0, float((due - there[-1])[early].max(initial=0.0)))
    due = due - np.where(due_s < ready_s + target_s, lost, 0.0)
    short = due[None, :] - there
    enough = np.flatnonzero((short[:, ~early] <= 1e-9).all(axis=1) & _no_later(short[:, early]))
    if len(enough):
        return int(enough[0])
    new = slots_per_worker * (np.floor((due_s - ready_s) / mean_s + 1e-9) + 1.0)[~early]
    return len(there) - 1 + math.ceil(float((short[-1, ~early] / new).max()) - 1e-9)


def _no_later(short: Floats) -> Floats:
    """For each count: whether it makes nothing late, before new workers are there, that all workers would not."""
    return np.asarray((short <= np.maximum(short[-1], 0.0) + 1e-9).all(axis=1))


def _due(truth: Truth, target_s: float) -> tuple[Floats, Floats]:
    """Times from now, and how many messages must have started by each: what waits, then what is expected to come."""
    left_s = np.maximum(truth.waiting_arrivals_s + target_s - truth.now_s, 0.0)
    picked = np.unique(np.linspace(0, len(left_s) - 1, min(DEADLINES, len(left_s))).astype(int))
    ready_s = truth.start_up_s
    ahead_s = target_s + ready_s * np.linspace(0.125, 1.0, 8)
    waiting, expected = picked + 1.0, len(left_s) + truth.rate_per_s * (ahead_s - target_s)
    return np.concatenate([left_s[picked], ahead_s]), np.concatenate([waiting, expected])


def _kept_first(truth: Truth, slots_per_worker: int) -> Floats:
    """When each slot is free, in the order in which workers are kept: the busiest first, those starting last."""
    starting = np.repeat(truth.starting_ready_in_s, slots_per_worker)
    return np.concatenate([truth.slots_free_in_s[::-1], starting])
