"""The one function that everything else serves: `decide(pool, state, observation)`.

Pure and total: the same three values give the same decision on a laptop, in Lambda, in a simulation and in a replay.
The order is fixed: signals, estimate, size, ceiling, ramp and hold, floor; each step leaves its values behind.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tidegate.core import guardrails, times
from tidegate.core.ceiling import Ceiling, ceiling
from tidegate.core.condition import Condition, Pressure, condition_of, pressed
from tidegate.core.downstream.guard import Guarded, guard
from tidegate.core.estimate import Estimate
from tidegate.core.explain import bulk_sentence, sentence, sentence_without_need
from tidegate.core.finish_by import finish_in_time
from tidegate.core.foreign import yielded
from tidegate.core.guardrails import Limit
from tidegate.core.health import crowding, health_of, learn_health
from tidegate.core.learn import learn
from tidegate.core.model import Action, Decision, Health, Pool, PoolState, Reason, Scalar, Step
from tidegate.core.need import Load, need
from tidegate.core.observation import Observation
from tidegate.core.order import groups_bind
from tidegate.core.overrides import describe
from tidegate.core.quiet import sized_for_quiet
from tidegate.core.retire import is_gentle, serving
from tidegate.core.retire_step import retire_step, told
from tidegate.core.signals import Freshness, Signals, read_signals
from tidegate.core.sizing import workers_for
from tidegate.core.starting import started
from tidegate.core.steps import capacity_step, estimate_step, signals_step
from tidegate.core.wait import hold_the_wait
from tidegate.core.watch import Watched, watch

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
    watched: Watched
    workers: int
    steps: list[Step] = field(default_factory=list)
    reason: Reason | None = None
    note: str = ""
    plan: str = ""
    needs: tuple[tuple[float, int], ...] = ()
    lows: tuple[tuple[float, int], ...] = ()
    """`PoolState` has both, without this tick's."""
    notices: list[str] = field(default_factory=list)

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
    watched = watch(pool, state, observation, signals)
    slots_per_worker = signals.fleet.slots_per_worker if signals.fleet else pool.slots_per_worker
    limit = ceiling(pool, observation.capacity, slots_per_worker, state.quick_s)
    current = serving(state.retired, observation.capacity)
    trail = _Trail(pool, observation, watched, current, notices=list(watched.notices))
    trail.steps.append(signals_step(pool, state, signals, observation.now_s))
    trail.steps.append(capacity_step(state, observation, slots_per_worker))
    load = None
    if signals.counts is not Freshness.FRESH and signals.in_hand == 0:
        _blind(trail, signals)
        state = replace(state, moved_in=watched.moved_in)
    else:
        learned = learn(pool, state, observation, signals, watched.moved_in, slots_per_worker)
        state, load = learned.state, learned.load
        trail.notices.extend(learned.notices)
        wanted = _unmeasured(trail, signals) if load is None else _size(trail, signals, load, limit)
        trail.workers = wanted
    return _limited(trail, state, signals, limit, load)


def _limited(
    trail: _Trail, state: PoolState, signals: Signals, limit: Ceiling, load: Load | None
) -> tuple[Decision, PoolState]:
    """From the need (or from what is there, where none can be reckoned) to the count to ask for."""
    pool, seen, current, wanted = trail.pool, trail.seen, trail.seen.capacity.desired, trail.workers
    now_s, watched = seen.now_s, trail.watched
    elapsed_s = now_s - state.ticked_at_s if state.ticked_at_s is not None else 0.0
    trail.needs = guardrails.remember_need(
        state.needs, now_s, wanted + _spread(trail, load), guardrails.PATIENCE_AT_MOST_S
    )
    trail.lows = guardrails.remember_low(state.lows, now_s, wanted)
    start_up = times.start_up_s(pool, state.start_ups_s)
    guarded = guard(pool, state, seen, signals, min(wanted, limit.workers), limit, start_up.value)
    gentle = is_gentle(seen)
    _limit(trail, state, signals, limit, guarded, load, start_up, gentle=gentle)
    pressure = _pressure(trail, state.pressure, limit, guarded, load, wanted)
    condition = condition_of(pressure)
    if shed := condition is not Condition.NORMAL:
        trail.notices.append("late, and no more workers may be had: producers are told to send less")
    retiring, values, retired = retire_step(
        trail.workers, trail.note, watched.override, state.retired, signals, seen, gentle=gentle
    )
    trail.apply("retire", retiring, values)
    reason = trail.reason or (Reason.STEADY if trail.workers == current else Reason.NEED)
    pinned = reason in (Reason.CEILING, Reason.MAXIMUM)
    memory = learn_health(state.health, now_s, current, trail.workers, elapsed_s, pinned=pinned)
    state = replace(
        state,
        needs=trail.needs,
        lows=trail.lows,
        ticked_at_s=now_s,
        guard=guarded.memory,
        pressure=pressure,
        retired=retired,
        directive=told(state.directive, retired, seen, shed=shed, resumed=watched.watched_since_s == now_s),
        raises=times.record_change(state.raises, now_s, trail.workers - current),
        desired=trail.workers,
        health=memory,
        override=watched.override,
        contest=watched.contest,
        presence=watched.presence,
        idle_since_s=watched.idle_since_s,
        oldest_sent=signals.oldest_sent,
        watched_since_s=watched.watched_since_s,
        reported_at_s=watched.reported_at_s,
    )
    crowded = _crowded(trail, state, load) if load is not None and state.classes else ()
    health = health_of(memory, pool, now_s, (*trail.notices, *crowded))
    return _decision(trail, signals.errors, health, reason, condition, _said(trail, load, wanted, reason)), state


def _said(trail: _Trail, load: Load | None, wanted: int, reason: Reason) -> str:
    """The sentence: what was seen and needs, which rule had the last word, what was noticed."""
    current = trail.seen.capacity.desired
    if load is None:
        said = sentence_without_need(current, trail.workers, reason, trail.note)
    elif trail.pool.finish_in_s is not None:
        said = bulk_sentence(current, trail.workers, reason, trail.plan, trail.note)
    else:
        said = sentence(trail.pool, load, current, wanted, trail.workers, reason, trail.note)
    return "; ".join((said, *trail.notices))


def _pressure(
    trail: _Trail, known: Pressure | None, limit: Ceiling, guarded: Guarded, load: Load | None, wanted: int
) -> Pressure | None:
    """Late, and no more workers may be had: after a minute that is a state, and producers are told to send less."""
    cause = None
    if load is not None:
        late = trail.pool.finish_in_s is None and load.head_age.value > trail.pool.target_wait_s
        held = Condition.AT_CEILING if wanted > limit.workers else Condition.DOWNSTREAM
        cause = held if late and wanted > guarded.limit.workers else Condition.NORMAL
    return pressed(known, trail.seen.now_s, cause)


def _crowded(trail: _Trail, state: PoolState, load: Load) -> tuple[str, ...]:
    slots = trail.seen.capacity.desired * load.slots_per_worker
    said = crowding(trail.pool, state.classes, load.arrivals.value, slots, load.service_time.value)
    return (said,) if said else ()


def _limit(
    trail: _Trail,
    state: PoolState,
    signals: Signals,
    limit: Ceiling,
    guarded: Guarded,
    load: Load | None,
    start_up: Estimate,
    *,
    gentle: bool,
) -> None:
    """Ceiling, downstream, ramp, minimum, hold, floor: in this order, each one seeing what the one before left.

    An override comes after those that it need not respect (the downstream guard too), and before what no operator can
    mean to break: missing signals and running handlers. Its words stay whatever comes after it.
    """
    pool, seen = trail.pool, trail.seen
    current = serving(state.retired, seen.capacity)
    override, hold_s = trail.watched.override, times.hold_s(pool, start_up)
    watched_s = seen.now_s - trail.watched.watched_since_s
    trail.apply("ceiling", guardrails.under_ceiling(trail.workers, limit), limit.every)
    trail.apply("downstream", guardrails.under_ceiling(trail.workers, guarded.limit), guarded.values)
    if load is not None and pool.finish_in_s is None and not pool.plain:
        trail.apply("chance", _patient_rise(trail, load, watched_s))
    trail.apply("ramp", guardrails.ramp(trail.workers, seen.capacity.desired, pool))
    present = started(trail.workers, seen.capacity.desired, trail.watched.presence, start_up.value, seen.now_s)
    trail.apply("starting", present)
    trail.apply("minimum", guardrails.minimum(trail.workers, pool, guarded.limit, seen.capacity))
    cap, patient = guarded.limit, not pool.plain
    held = guardrails.hold(trail.workers, current, trail.needs, watched_s, cap, hold_s, patient=patient)
    trail.apply("hold", guardrails.to_the_need(held, trail.workers, current, load.band if load else 0.0))
    trail.apply("contest", yielded(trail.workers, current, trail.watched.contest, seen.now_s))
    trail.apply("override", guardrails.overridden(trail.workers, current, override, limit, seen.capacity))
    trail.apply("freshness", guardrails.trusted(trail.workers, current, signals, seen.capacity))
    mean_s, variation = (load.service_time.value, load.variation) if load else (math.inf, 1.0)
    if not gentle:
        busy = guardrails.busy_floor(trail.workers, current, signals, mean_s, variation, pool, drain=guarded.steps_back)
        trail.apply("busy", busy)
    if override is not None and trail.reason not in (Reason.FROZEN, Reason.PINNED):
        trail.note = f"{describe(override)}; {trail.note}"


def _patient_rise(trail: _Trail, load: Load, watched_s: float) -> Limit:
    current = trail.seen.capacity.desired
    sized = next(step.values for step in trail.steps if step.name == "size")
    slots, urgent = (float(sized[name] or 0) for name in ("slots", "urgent_workers"))
    there = current * load.slots_per_worker
    excess = math.inf if there == 0 or urgent > current else slots / there - 1
    return guardrails.patient_rise(trail.workers, current, trail.lows, watched_s, excess, load.chance)


def _spread(trail: _Trail, load: Load | None) -> int:
    """Workers by which chance alone may have made the need too low: none where no size was reckoned with chance."""
    if load is None or load.band <= 0:
        return 0
    slots = float(next(step.values["slots"] for step in trail.steps if step.name == "size") or 0)
    return workers_for(slots * (1.0 + load.band), load.slots_per_worker) - workers_for(slots, load.slots_per_worker)


def _blind(trail: _Trail, signals: Signals) -> None:
    """No count to go by: keep what is there. A failure is never an empty queue."""
    trail.reason = _BLIND.get(signals.counts, Reason.SIGNAL_MISSING)
    trail.note = f"the queue's counts are {signals.counts}" + (f" ({signals.errors[0]})" if signals.errors else "")


def _size(trail: _Trail, signals: Signals, load: Load, limit: Ceiling) -> int:
    """What the work needs, by the pool's objective; never more than a FIFO queue's groups can keep busy."""
    pool, now_s = trail.pool, trail.seen.now_s
    workers, steps = _needed(trail, signals, load, limit)
    trail.steps.extend((estimate_step(pool, load), *steps))
    trail.notices.extend(step.note for step in steps[1:])
    if load.fifo:
        bound = groups_bind(workers, signals.fleet, signals.waiting, trail.watched.idle_since_s, now_s)
        trail.workers = workers
        trail.apply("groups", bound)
        workers = bound.workers
    return workers


def _needed(trail: _Trail, signals: Signals, load: Load, limit: Ceiling) -> tuple[int, tuple[Step, ...]]:
    pool = trail.pool
    if pool.finish_in_s is not None:
        workers, step = finish_in_time(pool, load, pool.finish_in_s, trail.seen.capacity.desired, limit.workers)
        trail.plan = step.note
        return workers, (step,)
    formula = need if pool.plain else hold_the_wait
    return sized_for_quiet(pool, load, signals, lambda part: formula(pool, part, limit.workers))


def _unmeasured(trail: _Trail, signals: Signals) -> int:
    """No service time and no hint: one worker to measure with where there is work, else what is there."""
    trail.reason = Reason.UNMEASURED
    trail.note = "no handler has finished yet and there is no service_time_hint, so nothing can be sized"
    return max(trail.workers, 1) if signals.in_hand > 0 else trail.workers


def _decision(
    trail: _Trail, errors: tuple[str, ...], health: Health, reason: Reason, condition: Condition, words: str
) -> Decision:
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
        errors=errors,
        health=health,
        state=condition,
    )
