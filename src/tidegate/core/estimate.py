"""From signals to rates and times: arrivals, service time, start-up time, head age. Each names its source."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidegate.core.model import Capacity, Fleet, Pool, PoolState, Sample, ServiceTime
from tidegate.core.signals import FleetSignals, Freshness, Signals

__all__ = [
    "Estimate",
    "arrivals_per_s",
    "extend_samples",
    "head_age_s",
    "learn_service_time",
    "learn_start_up",
    "service_time",
    "start_up_s",
]

HISTORY_S = 300.0
"""Arrivals remembered, or ten ticks where that is longer: what the head age can be read off."""

LONG_WINDOW_S = 60.0
SIGMAS = 3.0
HINT_RUNS = 10.0
"""A service-time hint weighs as much as ten handler runs, so the measured mean takes over without a jump."""

SERVICE_TIME_MEMORY_S = 300.0
START_UPS_KEPT = 20
RAISE_FORGOTTEN_S = 900.0
"""A raise whose workers have not shown up after a quarter of an hour measures a fault, not a start-up."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and where it came from."""

    value: float
    source: str


def extend_samples(pool: Pool, samples: Sequence[Sample], now_s: float, signals: Signals) -> tuple[Sample, ...]:
    """Append this tick's cumulative arrivals, by conservation: what came = what is there now − what was + what left.

    What left is reckoned from the workers' completions, or from CloudWatch's deletions where no worker reports. Single
    steps may be negative (counts are approximate and late); the sum evens out, so nothing is clamped here.
    """
    if not samples:
        return (Sample(now_s, signals.in_system, signals.waiting, signals.in_system),)
    last = samples[-1]
    elapsed_s = now_s - last.at_s
    if elapsed_s <= 0 or signals.counts is not Freshness.FRESH:
        return tuple(samples)  # a queue that could not be read would look like a fall now and a burst later
    arrived = last.arrived + signals.in_system - last.in_system + _departures_per_s(signals) * elapsed_s
    keep_from_s = now_s - max(HISTORY_S, 10 * pool.tick_s)
    kept = tuple(sample for sample in samples if sample.at_s >= keep_from_s)
    return (*kept, Sample(now_s, arrived, signals.waiting, signals.in_system))


def _departures_per_s(signals: Signals) -> float:
    if signals.fleet is not None:
        return signals.fleet.completions_per_s
    return signals.deleted_per_s or 0.0


def arrivals_per_s(pool: Pool, samples: Sequence[Sample], signals: Signals) -> Estimate:
    """The arrival rate: over the long window, or over the last ticks when those differ by more than chance allows.

    Poisson counts spread by their square root, so a short window of w seconds that is off the long one's rate by more
    than 3·√(rate/w) is a jump and not noise. Without workers' reports and without CloudWatch's deletions the counts
    only show what was added on balance; then CloudWatch's Sent stands in when it is the larger.
    """
    long = _rate(samples, max(LONG_WINDOW_S, 6 * pool.tick_s))
    short_window_s = 2 * pool.tick_s
    short = _rate(samples, short_window_s)
    noise = SIGMAS * math.sqrt(max(long, 1 / short_window_s) / short_window_s)
    rate = Estimate(short, "counts, jump") if abs(short - long) > noise else Estimate(long, "counts")
    if signals.fleet is None and signals.sent_per_s is not None and signals.sent_per_s > rate.value:
        return Estimate(signals.sent_per_s, "cloudwatch")
    return rate


def _rate(samples: Sequence[Sample], window_s: float) -> float:
    """Mean arrivals a second over the samples that reach back `window_s`, never below zero."""
    last = samples[-1]
    reach = [sample for sample in samples if sample.at_s >= last.at_s - window_s - 1e-6]
    first = reach[0]
    span_s = last.at_s - first.at_s
    return max(0.0, (last.arrived - first.arrived) / span_s) if span_s > 0 else 0.0


def head_age_s(samples: Sequence[Sample], signals: Signals) -> Estimate:
    """How long the oldest waiting message has waited.

    Served in order, the oldest one arrived when the cumulative arrivals passed the cumulative starts, that is
    arrivals so far less what waits now. A fresh ApproximateAgeOfOldestMessage outranks a lower estimate (standard
    queues are not served in order), unless the queue was seen empty since: then that message is gone.
    """
    last = samples[-1]
    if last.waiting <= 0:
        return Estimate(0.0, "empty")
    started = last.arrived - last.waiting
    before = [sample for sample in samples if sample.arrived <= started]
    arrived_at_s = before[-1].at_s if before else samples[0].at_s
    reckoned = last.at_s - arrived_at_s
    if signals.age_s is None or signals.age_at_s is None or signals.age_s <= reckoned:
        return Estimate(reckoned, "counts")
    emptied = any(sample.waiting <= 0 for sample in samples if sample.at_s >= signals.age_at_s)
    return Estimate(reckoned, "counts") if emptied else Estimate(signals.age_s, "cloudwatch")


def learn_service_time(known: ServiceTime | None, fleet: FleetSignals | None, elapsed_s: float) -> ServiceTime | None:
    """Add the fleet's latest handler runs; older ones fade over five minutes, but only as newer ones replace them."""
    if fleet is None or fleet.runs == 0:
        return known
    fade = math.exp(-max(0.0, elapsed_s) / SERVICE_TIME_MEMORY_S)
    old = known or ServiceTime(0.0, 0.0, 0.0)
    return ServiceTime(
        runs=old.runs * fade + fleet.runs,
        sum_s=old.sum_s * fade + fleet.service_time_sum_s,
        square_sum_s2=old.square_sum_s2 * fade + fleet.service_time_square_sum_s2,
    )


def service_time(pool: Pool, known: ServiceTime | None, signals: Signals) -> tuple[Estimate, float] | None:
    """Mean service time in seconds and its squared coefficient of variation; None when nothing is known.

    Measured by the workers, with the hint weighing as ten runs; else the hint; else, where no worker reports, Little's
    law on CloudWatch: in flight ÷ deletions a second. Unmeasured spread counts as exponential (1).
    """
    hint = pool.service_time_hint_s
    if known is not None:
        weight = max(0.0, HINT_RUNS - known.runs) if hint is not None else 0.0
        mean = (known.sum_s + weight * (hint or 0.0)) / (known.runs + weight)
        return Estimate(mean, "workers"), _variation(known)
    if hint is not None:
        return Estimate(hint, "hint"), 1.0
    if signals.fleet is None and signals.deleted_per_s and signals.in_flight > 0:
        return Estimate(signals.in_flight / signals.deleted_per_s, "cloudwatch"), 1.0
    return None


def _variation(known: ServiceTime) -> float:
    mean = known.sum_s / known.runs
    if known.runs < HINT_RUNS or mean <= 0:
        return 1.0
    return max(0.0, known.square_sum_s2 / known.runs / mean**2 - 1.0)


def learn_start_up(state: PoolState, capacity: Capacity, fleet: Fleet) -> PoolState:
    """Match workers seen for the first time with the raise of the desired count that asked for them, oldest first.

    Start-up time runs from the raise to the first receive call, so it holds the platform's placement, the image pull
    and the process's own start.
    """
    asked = [(at_s, n) for at_s, n in state.raises if capacity.taken_at_s - at_s <= RAISE_FORGOTTEN_S]
    ready = sorted(
        worker.first_receive_at_s
        for worker in fleet.workers
        if worker.first_receive_at_s is not None and worker.first_receive_at_s > state.ready_until_s
    )
    measured: list[float] = []
    for ready_at_s in ready:
        if asked and asked[0][0] <= ready_at_s:
            at_s, missing = asked[0]
            measured.append(ready_at_s - at_s)
            asked = [(at_s, missing - 1), *asked[1:]] if missing > 1 else asked[1:]
    return replace(
        state,
        raises=tuple(asked),
        ready_until_s=max([state.ready_until_s, *ready]),
        start_ups_s=(*state.start_ups_s, *measured)[-START_UPS_KEPT:],
    )


def start_up_s(pool: Pool, state: PoolState) -> Estimate:
    """The 90 % quantile of the measured start-up times; until there is one, the hint, or zero."""
    if state.start_ups_s:
        ordered = sorted(state.start_ups_s)
        return Estimate(ordered[min(len(ordered) - 1, int(0.9 * len(ordered)))], "measured")
    if pool.start_up_hint_s is not None:
        return Estimate(pool.start_up_hint_s, "hint")
    return Estimate(0.0, "unmeasured")
