"""One trace, every policy: what would have been late, and what it would have cost. No tuning, no windows: all of it."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tidegate.core.model import Pool
from tidegate.lab.clairvoyant import PlannedFleet
from tidegate.lab.optimum import solve
from tidegate.lab.outcome import Outcome
from tidegate.lab.peers.fixed import workers_for_peak
from tidegate.lab.policy import Policy, Tidegate
from tidegate.lab.rivals import OURS, PERFECT_SIGHT, RIVALS
from tidegate.lab.scenario import Floats, Scenario
from tidegate.lab.simulator import simulate
from tidegate.lab.traces import Bin, ServiceShape, service_times
from tidegate.lab.tune import LATE_ALLOWED

__all__ = ["REFERENCES", "RUNS", "Backtest", "Question", "Result", "backtest", "scenario_of"]

REFERENCES = ("perfect_sight", "clairvoyant")
"""Not to be had: they see what no program can."""

RUNS = len(RIVALS) + 1 + len(REFERENCES)
PLAN_REACH = 0.3
PLAN_RAISES = (1.0, 1.06, 1.15, 1.3, 1.6, 2.0)
SHOWN_POINTS = 480
"""Points of each curve kept for the charts: more than a screen has room for."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the lab. Times in seconds; `variation` is the squared coefficient of variation of the work."""

    target_s: float
    start_up_s: float
    service_s: float
    variation: float = 1.0
    slots_per_worker: int = 4
    min_workers: int = 0
    max_workers: int | None = None
    max_messages: int = 1_000_000
    fifo: bool = False
    seed: int = 0
    pool: Pool | None = None
    """A pool whose other settings (policy, ramp, hold, …) hold for tidegate; None: as it comes."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """One policy's run. Curves have a point per span of time, `SHOWN_POINTS` at most; `workers` is the mean desired."""

    key: str
    title: str
    outcome: Outcome
    worker_hours: float
    workers: Floats
    waits_s: Floats
    """The longest wait of the messages that arrived in each span; not a number where none did."""


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """All runs, ours first, and the traffic they saw."""

    name: str
    question: Question
    thinned: float
    """Messages simulated ÷ messages of the trace. Workers and what they cost are given for the whole trace."""
    length_s: float
    arrivals_per_s: Floats
    results: tuple[Result, ...]
    notes: tuple[str, ...] = ()
    """Where the traffic and the times come from, for people."""


def scenario_of(bins: Sequence[Bin], name: str, question: Question) -> tuple[Scenario, float]:
    """The whole trace, thinned out where it has too many messages; and the share that is kept.

    Thinned, it is a smaller pool with the same work per message: what it pays, divided by the share, is a little more
    than the whole one would pay. Raises ValueError for a trace without a message.
    """
    total = sum(each.count for each in bins)
    if total == 0:
        raise ValueError(f"trace {name} holds no messages")
    draws = np.random.default_rng([question.seed, 2])
    kept = min(1.0, question.max_messages / total)
    edges_s = np.array([each.begin_s for each in bins] + [bins[-1].end_s]) - bins[0].begin_s
    counts = draws.binomial(np.array([each.count for each in bins], np.int64), kept)
    bin_of = np.repeat(np.arange(len(counts)), counts)
    arrivals_s = np.sort(edges_s[bin_of] + np.diff(edges_s)[bin_of] * draws.random(len(bin_of)))
    shape: ServiceShape = "lognormal" if question.variation > 0 else "deterministic"
    scenario = Scenario(
        name=name,
        arrivals_s=arrivals_s,
        service_s=service_times(shape, question.service_s, question.variation, len(arrivals_s), draws),
        target_wait_s=question.target_s,
        start_up_s=question.start_up_s,
        length_s=float(edges_s[-1]),
        slots_per_worker=question.slots_per_worker,
        order="fifo" if question.fifo else "sharded",
        min_workers=question.min_workers,
        initial_workers=question.min_workers,
    )
    most = question.max_workers or max(2 * workers_for_peak(scenario, quantile=1.0), question.min_workers, 10)
    return replace(scenario, max_workers=most), kept


def backtest(
    bins: Sequence[Bin],
    name: str,
    question: Question,
    done: Callable[[str], None] = lambda title: None,
    notes: Sequence[str] = (),
) -> Backtest:
    """Run every policy as it comes; `done` hears of each. Raises ValueError for a trace without a message."""
    scenario, kept = scenario_of(bins, name, question)
    results = []
    for key, title, policy in _line_up(scenario, question.pool):
        outcome = simulate(scenario, policy, question.seed)
        results.append(_result(key, title, scenario, outcome, kept))
        done(title)
    results.append(_result("clairvoyant", "clairvoyant", scenario, _foreseen(scenario, question.seed), kept))
    done("clairvoyant")
    counted, _ = np.histogram(scenario.arrivals_s, bins=_spans(scenario))
    rates = counted / kept / np.diff(_spans(scenario))
    return Backtest(name, question, kept, scenario.length_s, rates, tuple(results), tuple(notes))


def _line_up(scenario: Scenario, pool: Pool | None) -> list[tuple[str, str, Policy]]:
    ours = OURS.default(scenario) if pool is None else Tidegate("as its settings say", pool.tick_s, **_own(pool))
    others = [(each.key, each.title, each.default(scenario)) for each in (*RIVALS, PERFECT_SIGHT)]
    return [(OURS.key, OURS.title, ours), *others]


def _own(pool: Pool) -> dict[str, Any]:
    """Settings that a scenario does not have itself; the lab's workers are never cut off, whatever the stop timeout."""
    return {each.name: getattr(pool, each.name) for each in fields(pool) if each.name not in _OF_SCENARIO}


_OF_SCENARIO = (
    *("name", "target_wait_s", "min_workers", "max_workers", "slots_per_worker"),
    *("stop_timeout_s", "tick_s", "limits_from"),
)


def _foreseen(scenario: Scenario, seed: int) -> Outcome:
    """The clairvoyant: its plan raised, in a few coarse steps, until at most 1 % are late."""
    plan = solve(scenario, target_s=PLAN_REACH * scenario.target_wait_s)
    outcomes = (simulate(scenario, PlannedFleet(plan, raised), seed) for raised in PLAN_RAISES)
    tried = []
    for outcome in outcomes:
        tried.append(outcome)
        if outcome.late_share <= LATE_ALLOWED:
            break
    return tried[-1]


def _spans(scenario: Scenario) -> Floats:
    count = min(SHOWN_POINTS, max(10, math.floor(scenario.length_s / 10.0)))
    return np.linspace(0.0, scenario.length_s, count + 1)


def _result(key: str, title: str, scenario: Scenario, outcome: Outcome, kept: float) -> Result:
    edges_s = _spans(scenario)
    workers = _mean_of_steps(outcome.desired_at_s, outcome.desired.astype(np.float64), edges_s)
    span_of = np.minimum(np.searchsorted(edges_s, scenario.arrivals_s, side="right") - 1, len(edges_s) - 2)
    longest = np.full(len(edges_s) - 1, np.nan)
    waits_s = np.nan_to_num(outcome.waits_s.astype(np.float64), nan=outcome.end_s)
    np.fmax.at(longest, span_of, waits_s)
    return Result(key, title, outcome, outcome.worker_seconds / kept / 3600.0, workers / kept, longest)


def _mean_of_steps(at_s: Floats, values: Floats, edges_s: Floats) -> Floats:
    """The mean over each span of a value that holds from each of its times to the next.

    >>> _mean_of_steps(np.array([0.0, 5.0]), np.array([2.0, 4.0]), np.array([0.0, 10.0, 20.0])).tolist()
    [3.0, 4.0]
    """
    area = np.concatenate([[0.0], np.cumsum(np.diff(at_s) * values[:-1])])
    at = np.clip(np.searchsorted(at_s, edges_s, side="right") - 1, 0, len(at_s) - 1)
    return np.asarray(np.diff(area[at] + (edges_s - at_s[at]) * values[at]) / np.diff(edges_s))
