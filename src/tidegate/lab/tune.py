"""Scores over several windows, and the one knob of a policy set by hindsight: the least cost that is on time.

Hindsight is more than any user has: it favours the rival.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from tidegate.core.observation import Observation
from tidegate.lab.outcome import Outcome
from tidegate.lab.policy import Policy, Truth
from tidegate.lab.rivals import Make, Rival
from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator import simulate

__all__ = ["LATE_ALLOWED", "Miss", "Score", "attempt", "score", "tune"]

LATE_ALLOWED = 0.01
REFINEMENTS = 2
COST_GIVEN_UP = 30.0
"""A setting that pays more than so many times the work is no answer."""

BEYOND = 2
"""Rungs looked at on the safe side of the first one that holds: cost does not always rise from rung to rung."""


@dataclass(frozen=True, slots=True)
class Score:
    """A policy over all windows of a cell: shares of all messages, sums of worker-seconds, the worst hour of any."""

    policy: str
    knob: float | None
    late_share: float
    worst_hour_late_share: float
    wait_p50_s: float
    wait_p99_s: float
    wait_max_s: float
    worker_hours: float
    cost: float
    """Worker-seconds paid ÷ worker-seconds of a fleet that is always busy."""
    starts_per_hour: float
    reversals_per_hour: float
    changes_per_hour: float

    @property
    def met(self) -> bool:
        """Whether at most one message in a hundred was late."""
        return self.late_share <= LATE_ALLOWED


class Miss(Enum):
    """Why a setting was given up before its end."""

    LATE = "late"
    DEAR = "dear"


def score(make: Make, windows: Sequence[Scenario]) -> Score:
    """The policy's score, window n with seed n."""
    return _pooled([simulate(window, make(window), seed) for seed, window in enumerate(windows)], None)


def attempt(
    make: Make, windows: Sequence[Scenario], knob: float, late_allowed: float, cost_allowed: float
) -> Score | Miss:
    """The score, unless it becomes clear on the way that more than `late_allowed` are late or it costs too much.

    `cost_allowed` is in units of the work of all windows.
    """
    late_left = late_allowed * sum(len(window.arrivals_s) for window in windows)
    paid_left_s = cost_allowed * sum(window.service_s.sum() / window.slots_per_worker for window in windows)
    outcomes = []
    for seed, window in enumerate(windows):
        try:
            outcome = simulate(window, _Watched(make(window), window.target_wait_s, late_left, paid_left_s), seed)
        except _GivenUpError as stop:
            return stop.miss
        late_left -= outcome.late_share * outcome.messages
        paid_left_s -= outcome.worker_seconds
        if late_left < -0.5:
            return Miss.LATE
        outcomes.append(outcome)
    return _pooled(outcomes, knob)


class _GivenUpError(Exception):
    """The rest of the run can't mend it."""

    def __init__(self, miss: Miss) -> None:
        super().__init__(miss.value)
        self.miss = miss


class _Watched:
    """A policy that is stopped once too much is late or asked for: what goes astray is the slowest to simulate."""

    def __init__(self, policy: Policy, target_s: float, late_left: float, paid_left_s: float) -> None:
        self._policy, self._target_s, self._late_left, self._left_s = policy, target_s, late_left, paid_left_s
        self.name, self.tick_s, self.reads_fleet = policy.name, policy.tick_s, policy.reads_fleet
        self.reset = policy.reset

    def desired(self, seen: Observation, truth: Truth) -> int:
        workers = self._policy.desired(seen, truth)
        self._left_s -= workers * self.tick_s
        if self._left_s < 0:
            raise _GivenUpError(Miss.DEAR)
        if truth.waiting > self._late_left and truth.head_age_s > self._target_s:
            late = np.searchsorted(truth.waiting_arrivals_s, truth.now_s - self._target_s)
            if late > self._late_left + 0.5:
                raise _GivenUpError(Miss.LATE)
        return workers


def _pooled(outcomes: Sequence[Outcome], knob: float | None) -> Score:
    messages = sum(each.messages for each in outcomes)
    hours = sum(each.end_s for each in outcomes) / 3600.0
    waits = np.concatenate([each.waits_s for each in outcomes])
    waits = waits[np.isfinite(waits)]
    p50, p99, most = np.quantile(waits, [0.5, 0.99, 1.0]) if len(waits) else (0.0, 0.0, 0.0)
    paid_s, work_s = sum(each.worker_seconds for each in outcomes), sum(each.work_seconds for each in outcomes)
    return Score(
        policy=outcomes[-1].policy,
        knob=knob,
        late_share=sum(each.late_share * each.messages for each in outcomes) / max(messages, 1),
        worst_hour_late_share=max(each.worst_hour_late_share for each in outcomes),
        wait_p50_s=float(p50),
        wait_p99_s=float(p99),
        wait_max_s=float(most),
        worker_hours=paid_s / 3600.0,
        cost=paid_s / work_s if work_s else 0.0,
        starts_per_hour=sum(each.starts for each in outcomes) / hours,
        reversals_per_hour=sum(each.reversals for each in outcomes) / hours,
        changes_per_hour=sum(each.changes for each in outcomes) / hours,
    )


def tune(rival: Rival, windows: Sequence[Scenario], late_allowed: float = LATE_ALLOWED) -> Score | None:
    """The cheapest score with at most `late_allowed` late over the rival's ladder; None when no rung holds.

    Bisects for the leanest rung that holds, looks at some safer ones, then between that rung and the one before. Where
    bisection meets no rung that holds, every rung is tried: lateness need not fall from rung to rung.
    """
    search = _Search(rival, windows, late_allowed)
    ladder = rival.ladder
    low, high = -1, len(ladder)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if search.is_late(ladder[middle]) else (low, middle)
    if not search.held:
        for rung in ladder:
            search.is_late(rung)
    for rung in ladder[high + 1 : high + 1 + BEYOND]:
        search.is_late(rung)
    if 0 < high < len(ladder):
        _refine(search, ladder[high - 1], ladder[high])
    return min(search.held, key=lambda each: each.cost, default=None)


def _refine(search: "_Search", late: float, holds: float) -> None:
    for _ in range(REFINEMENTS):
        between = _between(late, holds)
        late, holds = (between, holds) if search.is_late(between) else (late, between)


def _between(one: float, other: float) -> float:
    return math.sqrt(one * other) if min(one, other) > 0 else (one + other) / 2


class _Search:
    """Each knob value is tried once, and only as far as it could still be the cheapest that holds."""

    def __init__(self, rival: Rival, windows: Sequence[Scenario], late_allowed: float) -> None:
        self._rival, self._windows, self._late_allowed = rival, windows, late_allowed
        self._known: dict[float, Score | Miss] = {}

    def is_late(self, knob: float) -> bool:
        if knob not in self._known:
            dearest = min((each.cost for each in self.held), default=COST_GIVEN_UP)
            self._known[knob] = attempt(self._rival.make(knob), self._windows, knob, self._late_allowed, dearest)
        return self._known[knob] is Miss.LATE

    @property
    def held(self) -> list[Score]:
        return [each for each in self._known.values() if isinstance(each, Score)]
