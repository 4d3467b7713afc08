"""Stress: one thing goes wrong at a time. Ours and two rivals as they come, on the same bursty traffic."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tidegate.core.observation import Observation, QueueObservation, Reading
from tidegate.core.reports import WorkerReport
from tidegate.lab.outcome import Outcome
from tidegate.lab.peers.keda import Keda
from tidegate.lab.peers.plain_formula import plain_formula
from tidegate.lab.policy import Policy, Truth
from tidegate.lab.rivals import OURS, Make
from tidegate.lab.scenario import Downstream, Scenario
from tidegate.lab.simulator import simulate
from tidegate.lab.traces import scenario_from_trace, synthetic
from tidegate.lab.tune import LATE_ALLOWED

__all__ = [
    "STRESSES",
    "STRESS_RUNS",
    "Misled",
    "Overseen",
    "Strained",
    "Stress",
    "base_scenario",
    "run_stress",
    "run_stresses",
    "strained",
]

HOUR_S = 3600.0
SETTLED_S = HOUR_S
"""What is asked of a policy that is misled is asked after its first hour."""

SEEN_AFTER_S = 60.0

MAX_WORKERS = 60
"""Twelve times the mean load: with none, a slow dependency lets a policy that ignores it ask for thousands."""

LOAD_SLOTS, TARGET_S, START_UP_S = 20.0, 120.0, 60.0


@dataclass(frozen=True, slots=True)
class Misled:
    """A policy that is told wrong service times or counts, by a factor each."""

    policy: Policy
    service_time: float = 1.0
    counts: float = 1.0

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def tick_s(self) -> float:
        return self.policy.tick_s

    @property
    def reads_fleet(self) -> bool:
        return self.policy.reads_fleet

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self.policy.reset(scenario, rng)

    def desired(self, seen: Observation, truth: Truth) -> int:
        queues = tuple(self._queue(queue) for queue in seen.queues)
        fleet = replace(seen.fleet, workers=tuple(self._report(report) for report in seen.fleet.workers))
        return self.policy.desired(replace(seen, queues=queues, fleet=fleet), truth)

    def _queue(self, queue: QueueObservation) -> QueueObservation:
        return replace(
            queue, visible=_scaled(queue.visible, self.counts), in_flight=_scaled(queue.in_flight, self.counts)
        )

    def _report(self, report: WorkerReport) -> WorkerReport:
        recent = replace(
            report.recent,
            service_time_sum_s=report.recent.service_time_sum_s * self.service_time,
            service_time_square_sum_s2=report.recent.service_time_square_sum_s2 * self.service_time**2,
        )
        return replace(report, recent=recent)


class Overseen:
    """Watches what a policy asks of a dependency that is over its limit: the workers it adds all the same."""

    def __init__(self, policy: Policy, limit_slots: float) -> None:
        self.policy, self.limit_slots = policy, limit_slots
        self.name, self.tick_s, self.reads_fleet = policy.name, policy.tick_s, policy.reads_fleet
        self.added = 0
        """While it had been over its limit for more than a minute: time enough to see it."""
        self._over_since_s: float | None = None
        self._asked = 0

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        self.policy.reset(scenario, rng)
        self.added, self._over_since_s, self._asked = 0, None, scenario.initial_workers

    def desired(self, seen: Observation, truth: Truth) -> int:
        asked = self.policy.desired(seen, truth)
        if int((truth.slots_free_in_s > 0).sum()) <= self.limit_slots:
            self._over_since_s = None
        elif self._over_since_s is None:
            self._over_since_s = truth.now_s
        elif truth.now_s - self._over_since_s > SEEN_AFTER_S:
            self.added += max(0, asked - self._asked)
        self._asked = asked
        return asked


def _scaled(reading: Reading, factor: float) -> Reading:
    return reading if reading.value is None else replace(reading, value=round(reading.value * factor))


@dataclass(frozen=True, slots=True)
class Stress:
    """What goes wrong: a change to the scenario, and what the policy is told."""

    name: str
    change: Callable[[Scenario], Scenario] = lambda scenario: scenario
    service_time: float = 1.0
    counts: float = 1.0


def _service_doubles(scenario: Scenario) -> Scenario:
    later = scenario.arrivals_s > scenario.length_s / 2
    return replace(scenario, service_s=np.where(later, 2.0, 1.0) * scenario.service_s)


def _uneven(scenario: Scenario) -> Scenario:
    """Squared coefficient of variation 4, same mean."""
    draws, spread = np.random.default_rng(7), math.log1p(4.0)
    service_s = draws.lognormal(-spread / 2, math.sqrt(spread), len(scenario.service_s)) * scenario.mean_service_s
    return replace(scenario, service_s=service_s)


STRESSES: tuple[Stress, ...] = (
    Stress("nothing goes wrong"),
    Stress("service time told 30 % low", service_time=0.7),
    Stress("service time told 30 % high", service_time=1.3),
    Stress("counts told 40 % low", counts=0.6),
    Stress("counts told 40 % high", counts=1.4),
    Stress("service time doubles half-way", _service_doubles),
    Stress("service times very uneven (CV² 4)", _uneven),
    Stress("one message in 200 always fails", lambda scenario: replace(scenario, poison_share=0.005)),
    Stress(
        "dependency slows down above 1.5 × the load",
        lambda scenario: replace(scenario, downstream=Downstream(1.5 * LOAD_SLOTS)),
    ),
    Stress(
        "dependency slows down above half the load, but more workers still help",
        lambda scenario: replace(scenario, downstream=Downstream(0.5 * LOAD_SLOTS, strain=0.4)),
    ),
    Stress("three starts in ten fail", lambda scenario: replace(scenario, failed_start_share=0.3)),
    Stress("a spot loss per worker and hour", lambda scenario: replace(scenario, spot_losses_per_hour=1.0)),
    Stress("from zero workers", lambda scenario: replace(scenario, initial_workers=0)),
)

POLICIES: tuple[Make, ...] = (
    OURS.default,
    lambda _: plain_formula(),
    lambda scenario: Keda(float(scenario.slots_per_worker)),
)
"""Under every stress, none tuned; KEDA with as many messages a pod as that has slots."""

STEADY_WORKERS = (1, 5, 50, 500)
"""Mean workers of the steady rows: Poisson arrivals, exponential service times, noisy counts."""


STRESS_RUNS = len(POLICIES) * len(STRESSES) + len(STEADY_WORKERS)


@dataclass(frozen=True, slots=True)
class Strained:
    """One policy under one stress."""

    stress: str
    policy: str
    late_share: float
    late_share_settled: float
    """Of the messages that arrived after the first hour."""
    cost: float
    peak_workers: int
    changes_per_hour_settled: float
    """From the end of the first hour to the end of the traffic: winding down after it is not counted."""
    added_into_strain: int | None = None
    """Workers that were added while a dependency had been over its limit for more than a minute; None without a limit.

    A dependency that only gets slower, so that more workers still complete more, has none.
    """

    @property
    def met(self) -> bool:
        return self.late_share <= LATE_ALLOWED


def run_stresses(hours: float = 4.0, seed: int = 1) -> Iterator[Strained]:
    """Every stress under ours, the plain formula and KEDA; then ours at constant load."""
    return (run_stress(number, hours, seed) for number in range(STRESS_RUNS))


def run_stress(number: int, hours: float = 4.0, seed: int = 1) -> Strained:
    """One of the runs, 0 … STRESS_RUNS - 1, by number so that other processes can be told which."""
    if number >= len(POLICIES) * len(STRESSES):
        workers = STEADY_WORKERS[number - len(POLICIES) * len(STRESSES)]
        scenario = _steady(workers, hours, seed)
        outcome = simulate(scenario, OURS.default(scenario), seed)
        return strained(f"constant load, about {workers} workers", scenario, outcome)
    stress, make = STRESSES[number // len(POLICIES)], POLICIES[number % len(POLICIES)]
    scenario = stress.change(base_scenario(hours, seed))
    told = Misled(make(scenario), stress.service_time, stress.counts)
    if scenario.downstream is None or scenario.downstream.strain < 1.0:  # more still help: none are added in vain
        return strained(stress.name, scenario, simulate(scenario, told, seed))
    overseen = Overseen(told, scenario.downstream.capacity_slots)
    row = strained(stress.name, scenario, simulate(scenario, overseen, seed))
    return replace(row, added_into_strain=overseen.added)


@lru_cache(maxsize=1)
def base_scenario(hours: float, seed: int) -> Scenario:
    """The work that each stress changes one thing of."""
    bins = synthetic("bursty", seed, mean_per_s=5.0, length_s=hours * HOUR_S)
    return scenario_from_trace(
        bins, name="stress", load_slots=LOAD_SLOTS, target_wait_s=TARGET_S, start_up_s=START_UP_S, seed=seed,
        max_workers=MAX_WORKERS,
    )  # fmt: skip


def _steady(workers: int, hours: float, seed: int) -> Scenario:
    """At 80 % utilization; service times long enough to keep the largest row at ten messages a second."""
    load = 0.8 * 4 * workers
    mean_s = min(60.0, max(2.0, load / 10.0))
    bins = synthetic("constant", seed, mean_per_s=load / mean_s, length_s=hours * HOUR_S)
    return scenario_from_trace(
        bins, name=f"steady {workers}", load_slots=load, target_wait_s=TARGET_S, start_up_s=START_UP_S, seed=seed,
        service="exponential", max_messages=1_000_000, initial_workers=workers,
    )  # fmt: skip


def strained(stress: str, scenario: Scenario, outcome: Outcome) -> Strained:
    """The row of one run. A message that never started is late."""
    after = scenario.arrivals_s > SETTLED_S
    late = ~(outcome.waits_s <= scenario.target_wait_s)  # no wait is not a number, and late
    settled_h = max(scenario.length_s - SETTLED_S, 1.0) / HOUR_S
    settled = (outcome.desired_at_s > SETTLED_S) & (outcome.desired_at_s <= scenario.length_s)
    return Strained(
        stress=stress,
        policy=outcome.policy,
        late_share=outcome.late_share,
        late_share_settled=float(late[after].mean()) if after.any() else 0.0,
        cost=outcome.cost,
        peak_workers=int(outcome.desired.max()),
        changes_per_hour_settled=float(settled.sum()) / settled_h,
    )
