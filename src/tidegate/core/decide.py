"""The one function that everything else serves: `decide(pool, state, observation)`.

Pure and total: the same three values give the same decision on a laptop, in Lambda, in a simulation and in a replay.
The order is fixed: signals, estimate, size, ceiling, ramp and hold, floor; each step leaves its values behind.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidegate.core import guardrails, times
from tidegate.core.adapt import blind_s, learn_lean, learn_surge
from tidegate.core.arrivals import arrivals_per_s, extend_samples, steady_per_s
from tidegate.core.ceiling import Ceiling, ceiling, learn_quick
from tidegate.core.committed import commit
from tidegate.core.explain import sentence, sentence_without_need
from tidegate.core.guardrails import Limit
from tidegate.core.model import Action, Decision, Pool, PoolState, Reason, Scalar, Step
from tidegate.core.need import Load, need
from tidegate.core.observation import Observation
from tidegate.core.overrides import describe, in_force
from tidegate.core.signals import Freshness, Signals, read_signals
from tidegate.core.steps import capacity_step, estimate_step, signals_step
from tidegate.core.wait import hold_the_wait
from tidegate.core.waiting import head_age_s, waiting

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

    def apply(self, name: str, limit: Limit, values: Mapping[str, Scalar] | None = None) -> None:
        before, self.workers = self.workers, limit.workers
        if limit.reason is not None:
            self.reason, self.note = limit.reason, limit.note
        self.steps.append(Step(name, {"before": before, "after": limit.workers, **(values or {})}, limit.note))


def decide(pool: Pool, state: PoolState, observation: Observation) -> tuple[Decision, PoolState]:
    """The workers to ask for now, with every reason, and the state to remember for the next tick.

    `observation.queues` holds at least one queue. Raises nothing for any values of these types that are in range:
    what can't be known ends in a decision that holds and says why.
    """
    signals = read_signals(pool, state, observation)
    state = _watch(pool, state, observation)
    slots_per_worker = signals.fleet.slots_per_worker if signals.fleet else pool.slots_per_worker
    limit = ceiling(pool, observation.capacity, slots_per_worker, state.quick_s)
    trail = _Trail(pool, observation, observation.capacity.desired)
    trail.steps.append(signals_step(pool, state, signals, observation.now_s))
    trail.steps.append(capacity_step(state, observation, slots_per_worker))
    load = None
    if signals.counts is not Freshness.FRESH and signals.in_hand == 0:
        _blind(trail, signals)
    else:
        state, load = _estimate(pool, state, observation, signals, slots_per_worker)
        wanted = _unmeasured(trail, signals) if load is None else _size(trail, load, limit)
        trail.workers = wanted
    return _limited(trail, state, signals, limit, load)


def _watch(pool: Pool, state: PoolState, seen: Observation) -> PoolState:
    """Let overrides run out, notice a gap in the ticks, and remember that workers report."""
    gap = state.ticked_at_s is None or seen.now_s - state.ticked_at_s > max(3 * pool.tick_s, times.hold_s(pool, state))
    heard = [worker.reported_at_s for worker in seen.fleet.workers]
    return replace(
        state,
        override=in_force(state.override, seen.now_s),
        watched_since_s=seen.now_s if gap or state.watched_since_s is None else state.watched_since_s,
        reported_at_s=max([*heard, state.reported_at_s or 0.0]) if heard else state.reported_at_s,
    )


def _limited(
    trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling, load: Load | None
) -> tuple[Decision, PoolState]:
    """From the need (or from what is there, where none can be reckoned) to the count to ask for."""
    seen, current, wanted = trail.seen, trail.seen.capacity.desired, trail.workers
    needs = guardrails.remember_need(state.needs, seen.now_s, wanted, guardrails.PATIENCE_AT_MOST_S)
    state = replace(state, needs=needs, ticked_at_s=seen.now_s)
    _limit(trail, state, signals, limit, load)
    reason = trail.reason or (Reason.STEADY if trail.workers == current else Reason.NEED)
    if load is None:
        said = sentence_without_need(current, trail.workers, reason, trail.note)
    else:
        said = sentence(trail.pool, load, current, wanted, trail.workers, reason, trail.note)
    state = replace(
        times.record_change(state, seen.now_s, trail.workers - current),
        desired=trail.workers,
    )
    return _decision(trail, signals, reason, said), state


def _limit(trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling, load: Load | None) -> None:
    """Ceiling, ramp, minimum, hold, floor: in this order, each one seeing what the one before left.

    An override comes after those that it need not respect, and before what no operator can mean to break:
    missing signals and running handlers. Its words stay whatever comes after it.
    """
    pool, seen, current = trail.pool, trail.seen, trail.seen.capacity.desired
    override, hold_s = state.override, times.hold_s(pool, state)
    watched_s = seen.now_s - (seen.now_s if state.watched_since_s is None else state.watched_since_s)
    trail.apply("ceiling", guardrails.under_ceiling(trail.workers, limit), limit.every)
    trail.apply("ramp", guardrails.ramp(trail.workers, current, pool))
    trail.apply("minimum", guardrails.minimum(trail.workers, pool, limit, seen.capacity))
    trail.apply(
        "hold", guardrails.hold(trail.workers, current, state.needs, watched_s, limit, hold_s, patient=not pool.plain)
    )
    trail.apply("override", guardrails.overridden(trail.workers, current, override, limit, seen.capacity))
    trail.apply("freshness", guardrails.trusted(trail.workers, current, signals, seen.capacity))
    mean_s, variation = (load.service_time.value, load.variation) if load else (math.inf, 1.0)
    trail.apply("busy", guardrails.busy_floor(trail.workers, current, signals, mean_s, variation, pool))
    if override is not None and trail.reason not in (Reason.FROZEN, Reason.PINNED):
        trail.note = f"{describe(override)}; {trail.note}"


def _blind(trail: _Trail, signals: Signals) -> None:
    """No count to go by: keep what is there. A failure is never an empty queue."""
    trail.reason = _BLIND.get(signals.counts, Reason.SIGNAL_MISSING)
    trail.note = f"the queue's counts are {signals.counts}" + (f" ({signals.errors[0]})" if signals.errors else "")


def _size(trail: _Trail, load: Load, limit: Ceiling) -> int:
    plain = trail.pool.plain
    wanted, step = need(trail.pool, load, limit.workers) if plain else hold_the_wait(trail.pool, load, limit.workers)
    trail.steps.extend((estimate_step(trail.pool, load), step))
    return wanted


def _unmeasured(trail: _Trail, signals: Signals) -> int:
    """No service time and no hint: one worker to measure with where there is work, else what is there."""
    trail.reason = Reason.UNMEASURED
    trail.note = "no handler has finished yet and there is no service_time_hint, so nothing can be sized"
    return max(trail.workers, 1) if signals.in_hand > 0 else trail.workers


def _estimate(
    pool: Pool, state: PoolState, seen: Observation, signals: Signals, slots_per_worker: int
) -> tuple[PoolState, Load | None]:
    elapsed_s = seen.now_s - state.ticked_at_s if state.ticked_at_s is not None else 0.0
    known = times.learn_service_time(state.service_time, signals.fleet, elapsed_s)
    state = times.learn_start_up(state, seen.capacity, seen.fleet)
    measured = times.service_time(pool, known, signals)
    mean_s = measured[0].value if measured else 0.0
    samples = extend_samples(pool, state.samples, seen.now_s, signals, mean_s)
    start_up = times.start_up_s(pool, state)
    state = replace(
        state,
        service_time=known,
        quick_s=learn_quick(state, known, elapsed_s),
        samples=samples,
        lean=learn_lean(pool, state.lean, signals, elapsed_s),
        surge=learn_surge(state.surge, samples, blind_s(pool, start_up.value), elapsed_s),
    )
    if measured is None:
        return state, None
    arrivals = arrivals_per_s(pool, samples, signals, mean_s)
    return state, Load(
        arrivals=arrivals,
        waiting=waiting(samples, arrivals, signals, pool),
        head_age=head_age_s(samples, signals),
        service_time=measured[0],
        variation=measured[1],
        start_up=start_up,
        slots_per_worker=slots_per_worker,
        steady_per_s=steady_per_s(samples, pool, arrivals),
        committed=commit(state, seen, signals, start_up.value),
        lean=state.lean,
        surge=state.surge,
        fifo=all(queue.queue.endswith(".fifo") for queue in seen.queues),
    )


def _decision(trail: _Trail, signals: Signals, reason: Reason, words: str) -> Decision:
    current = trail.seen.capacity.desired
    action = Action.OUT if trail.workers > current else Action.IN if trail.workers < current else Action.HOLD
    return Decision(
        pool=trail.pool.name,
        at_s=trail.seen.now_s,
        current=current,
        desired=trail.workers,
        action=action,
        reason=reason,
        sentence=words,
        steps=tuple(trail.steps),
        errors=signals.errors,
    )
