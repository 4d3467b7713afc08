"""The one function that everything else serves: `decide(pool, state, observation)`.

Pure and total: the same three values give the same decision on a laptop, in Lambda, in a simulation and in a replay.
The order is fixed: signals, estimate, size, ceiling, ramp and hold, floor; each step leaves its values behind.
"""

import math
from dataclasses import dataclass, field, replace

from tidegate.core import estimate, guardrails
from tidegate.core.ceiling import Ceiling, ceiling
from tidegate.core.explain import sentence, sentence_without_need
from tidegate.core.guardrails import Limit
from tidegate.core.model import Action, Decision, Observation, Override, Pool, PoolState, Reason, Scalar, Step
from tidegate.core.need import Load, need
from tidegate.core.signals import Freshness, Signals, read_signals

__all__ = ["decide"]

_BLIND = {
    Freshness.GONE: Reason.QUEUE_GONE,
    Freshness.DENIED: Reason.QUEUE_DENIED,
    Freshness.STALE: Reason.SIGNAL_STALE,
}


@dataclass(slots=True)
class _Trail:
    """The count on its way through the rules: each step is kept, and the last rule that changed it."""

    pool: Pool
    seen: Observation
    workers: int
    steps: list[Step] = field(default_factory=list)
    reason: Reason | None = None
    note: str = ""

    def apply(self, name: str, limit: Limit) -> None:
        before, self.workers = self.workers, limit.workers
        if limit.reason is not None:
            self.reason, self.note = limit.reason, limit.note
        self.steps.append(Step(name, {"before": before, "after": limit.workers}, limit.note))


def decide(pool: Pool, state: PoolState, observation: Observation) -> tuple[Decision, PoolState]:
    """The workers to ask for now, with every reason, and the state to remember for the next tick.

    `observation.queues` holds at least one queue. Raises nothing for any values of these types that are in range:
    what can't be known ends in a decision that holds and says why.
    """
    signals = read_signals(pool, state, observation)
    state = replace(state, override=_in_force(state.override, observation.now_s))
    limit = ceiling(pool, observation.capacity)
    trail = _Trail(pool, observation, observation.capacity.desired)
    trail.steps.append(_signals_step(signals))
    trail.steps.append(_capacity_step(state, observation))
    if signals.counts is not Freshness.FRESH and signals.in_system == 0:
        return _blind(trail, state, signals, limit)
    return _sighted(trail, state, signals, limit)


def _in_force(hand: Override | None, now_s: float) -> Override | None:
    return hand if hand is None or hand.until_s is None or now_s < hand.until_s else None


def _blind(trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling) -> tuple[Decision, PoolState]:
    """No count to go by: keep what is there (a failure is never an empty queue), within the bounds that are known."""
    trail.reason = _BLIND.get(signals.counts, Reason.SIGNAL_MISSING)
    trail.note = f"the queue's counts are {signals.counts}" + (f" ({signals.errors[0]})" if signals.errors else "")
    current = trail.seen.capacity.desired
    trail.apply("minimum", guardrails.minimum(trail.workers, trail.pool, trail.seen.capacity))
    trail.apply("override", guardrails.override(trail.workers, current, state.override, limit))
    words = sentence_without_need(current, trail.workers, trail.reason, trail.note)
    return _decision(trail, signals, words), _remember(trail, state)


def _sighted(trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling) -> tuple[Decision, PoolState]:
    pool, seen, current = trail.pool, trail.seen, trail.seen.capacity.desired
    state, load = _estimate(pool, state, seen, signals)
    wanted = _unmeasured(trail, signals) if load is None else _sized(trail, load)
    state = replace(state, needs=guardrails.remember_need(state.needs, seen.now_s, wanted, pool.hold_s))
    _limit(trail, state, signals, limit, math.inf if load is None else load.service_time.value)
    reason = trail.reason or (Reason.STEADY if trail.workers == current else Reason.NEED)
    trail.reason = reason
    if load is None:
        words = sentence_without_need(current, trail.workers, reason, trail.note)
    else:
        words = sentence(pool, load, current, wanted, trail.workers, reason, trail.note)
    return _decision(trail, signals, words), _remember(trail, state)


def _sized(trail: _Trail, load: Load) -> int:
    wanted, step = need(trail.pool, load)
    trail.steps.extend((_estimate_step(load), step))
    trail.workers = wanted
    return wanted


def _unmeasured(trail: _Trail, signals: Signals) -> int:
    """No service time and no hint: one worker to measure with where there is work, else what is there."""
    trail.reason = Reason.UNMEASURED
    trail.note = "no handler has finished yet and there is no service_time_hint, so nothing can be sized"
    trail.workers = max(trail.workers, 1) if signals.in_system > 0 else trail.workers
    return trail.workers


def _limit(trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling, service_time_s: float) -> None:
    """Ceiling, ramp, hold, floor: in this order, each one seeing what the one before left."""
    pool, capacity, current = trail.pool, trail.seen.capacity, trail.seen.capacity.desired
    trail.apply("ceiling", guardrails.under_ceiling(trail.workers, limit))
    trail.apply("ramp", guardrails.ramp(trail.workers, current, pool))
    trail.apply("hold", guardrails.hold(trail.workers, current, state.needs, limit, pool))
    trail.apply("signals", guardrails.trusted(trail.workers, current, signals, capacity))
    trail.apply("minimum", guardrails.minimum(trail.workers, pool, capacity))
    trail.apply("override", guardrails.override(trail.workers, current, state.override, limit))
    trail.apply("busy", guardrails.busy_floor(trail.workers, current, signals.fleet, service_time_s, pool))


def _estimate(pool: Pool, state: PoolState, seen: Observation, signals: Signals) -> tuple[PoolState, Load | None]:
    elapsed_s = seen.now_s - state.samples[-1].at_s if state.samples else 0.0
    state = replace(
        estimate.learn_start_up(state, seen.capacity, seen.fleet),
        samples=estimate.extend_samples(pool, state.samples, seen.now_s, signals),
        service_time=estimate.learn_service_time(state.service_time, signals.fleet, elapsed_s),
    )
    measured = estimate.service_time(pool, state.service_time, signals)
    if measured is None:
        return state, None
    mean, variation = measured
    return state, Load(
        arrivals=estimate.arrivals_per_s(pool, state.samples, signals),
        waiting=signals.waiting,
        head_age=estimate.head_age_s(state.samples, signals),
        service_time=mean,
        variation=variation,
        start_up=estimate.start_up_s(pool, state),
    )


def _remember(trail: _Trail, state: PoolState) -> PoolState:
    added = trail.workers - trail.seen.capacity.desired
    raises = (*state.raises, (trail.seen.now_s, added)) if added > 0 else state.raises
    return replace(state, raises=raises, desired=trail.workers)


def _decision(trail: _Trail, signals: Signals, words: str) -> Decision:
    current = trail.seen.capacity.desired
    action = Action.OUT if trail.workers > current else Action.IN if trail.workers < current else Action.HOLD
    return Decision(
        pool=trail.pool.name,
        at_s=trail.seen.now_s,
        current=current,
        desired=trail.workers,
        action=action,
        reason=trail.reason or Reason.STEADY,
        sentence=words,
        steps=tuple(trail.steps),
        errors=signals.errors,
    )


def _signals_step(signals: Signals) -> Step:
    fleet = signals.fleet
    values: dict[str, Scalar] = {
        "counts": str(signals.counts),
        "waiting": signals.waiting,
        "in_flight": signals.in_flight,
        "delayed": signals.delayed,
        "age_s": signals.age_s,
        "sent_per_s": signals.sent_per_s,
        "deleted_per_s": signals.deleted_per_s,
        "fleet": str(signals.fleet_state),
        "reporting": fleet.workers if fleet else 0,
        "busy_slots": fleet.busy if fleet else None,
        "completions_per_s": round(fleet.completions_per_s, 3) if fleet else None,
    }
    return Step("signals", values, "" if fleet else "no worker reports")


def _capacity_step(state: PoolState, seen: Observation) -> Step:
    capacity = seen.capacity
    foreign = state.desired is not None and state.desired != capacity.desired
    note = f"desired was {state.desired} when tidegate last set it: somebody else sets it too" if foreign else ""
    values = {
        "desired": capacity.desired,
        "running": capacity.running,
        "pending": capacity.pending,
        "deploying": capacity.deploying,
    }
    return Step("capacity", values, note)


def _estimate_step(load: Load) -> Step:
    values: dict[str, Scalar] = {
        "arrivals_per_s": round(load.arrivals.value, 3),
        "arrivals_from": load.arrivals.source,
        "service_time_s": round(load.service_time.value, 4),
        "service_time_from": load.service_time.source,
        "variation": round(load.variation, 3),
        "head_age_s": round(load.head_age.value, 2),
        "head_age_from": load.head_age.source,
        "start_up_s": round(load.start_up.value, 2),
        "start_up_from": load.start_up.source,
    }
    return Step("estimate", values)
