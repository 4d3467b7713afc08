"""The one function that everything else serves: `decide(pool, state, observation)`.

Pure and total: the same three values give the same decision on a laptop, in Lambda, in a simulation and in a replay.
The order is fixed: signals, estimate, size, ceiling, ramp and hold, floor; each step leaves its values behind.
"""

from functools import partial
from typing import Final

from tidegate.core.bounds import at_least, at_most
from tidegate.core.ceiling import Ceiling, ceiling
from tidegate.core.condition import Condition, Pressure, condition_of, pressed
from tidegate.core.decision import Decision, Reason, Step, decided
from tidegate.core.downstream.guard import guard
from tidegate.core.estimation import times
from tidegate.core.estimation.holding import learn_hold
from tidegate.core.estimation.learn import STILL_RUNNING, learn
from tidegate.core.estimation.listen import listen
from tidegate.core.estimation.load import Load
from tidegate.core.estimation.unread import unread_wait_s
from tidegate.core.explain.health import learn_health
from tidegate.core.explain.told import told
from tidegate.core.guardrails import limits
from tidegate.core.guardrails.foreign import as_asked, replaced_lately
from tidegate.core.guardrails.order import groups_bind
from tidegate.core.guardrails.rules import Bounds, apply_rules, needs_with_band
from tidegate.core.guardrails.trail import Trail
from tidegate.core.guardrails.watch import watch
from tidegate.core.model import Pool, PoolState, Retired
from tidegate.core.observation import Observation
from tidegate.core.retire.choice import is_gentle, serving
from tidegate.core.retire.step import directed, retire_step
from tidegate.core.signals.fleet import fleet_limit
from tidegate.core.signals.read import Freshness, Signals, known_slots, read_signals
from tidegate.core.signals.skew import learn_skew, on_our_clock
from tidegate.core.sizing.finish_by import finish_in_time
from tidegate.core.sizing.need import Sized, beside_hanging, need
from tidegate.core.sizing.quiet import sized_for_quiet
from tidegate.core.sizing.wait import hold_the_wait
from tidegate.core.value import changed

__all__ = ["decide"]

_BLIND = {
    Freshness.GONE: Reason.QUEUE_GONE,
    Freshness.DENIED: Reason.QUEUE_DENIED,
    Freshness.STALE: Reason.SIGNAL_STALE,
}
_PINNED = (Reason.CEILING, Reason.MAXIMUM)
_STEADY, _NEED = Reason.STEADY, Reason.NEED
_FRESH: Final = Freshness.FRESH
_NORMAL: Final = Condition.NORMAL


def decide(pool: Pool, state: PoolState, observation: Observation) -> tuple[Decision, PoolState]:
    """The workers to ask for now, with every reason, and the state to remember for the next tick.

    `observation.queues` holds at least one queue. Raises nothing for any values of these types that are in range:
    what can't be known ends in a decision that holds and says why.
    """
    skew = learn_skew(state.skew, observation)
    observation, on_its_way = as_asked(state, on_our_clock(observation, skew))
    signals = read_signals(pool, state, observation)
    watched = watch(pool, state, observation, signals, skew)
    slots_per_worker = known_slots(pool, state, signals, observation.now_s)
    permits = fleet_limit(state.fleet_slots, signals.fleet)
    limit = ceiling(pool, observation.capacity, slots_per_worker, state.quick_s, permits)
    current = serving(state.retired, observation.capacity)
    trail = Trail(pool, state, observation, signals, watched, slots_per_worker, current, current)
    trail.notices.extend(filter(None, (on_its_way, *watched.notices)))
    unread_s = None if pool.plain else unread_wait_s(state, signals)
    if unread_s is not None:
        waits = f"what waits is reckoned from the {unread_s:.0f} s that messages have waited"
        trail.notices.append(f"the queue's counts are {signals.counts}: {waits}")
    if signals.counts is not _FRESH and signals.in_hand == 0 and unread_s is None:
        _blind(trail, signals)
        state = changed(listen(pool, state, observation, signals), moved_in=watched.moved_in)
    else:
        learned = learn(pool, state, observation, signals, watched.moved_in, slots_per_worker)
        state, trail.load = learned.state, learned.load
        trail.notices.extend(learned.notices)
        if learned.load is None:
            _unmeasured(trail, signals)
        else:
            _size(trail, signals, learned.load, limit)
            if learned.load.service_time.source == STILL_RUNNING:
                _only_more(trail, current)
    return _limited(trail, state, limit)


def _limited(trail: Trail, state: PoolState, limit: Ceiling) -> tuple[Decision, PoolState]:
    """From the need (or from what is there, where none can be reckoned) to the count to ask for."""
    seen, signals, current, wanted = trail.seen, trail.signals, trail.seen.capacity.desired, trail.workers
    bounds = _bounds(trail, state, limit)
    apply_rules(trail, state, bounds)
    pressure = _pressure(trail, state.pressure, bounds, wanted)
    condition = condition_of(pressure)
    if condition is not _NORMAL:
        trail.notices.append("late, and no more workers may be had: producers are told to send less")
    retiring, values, retired = retire_step(
        trail.workers, trail.note, trail.watched.override, state.retired, signals, seen, gentle=bounds.gentle
    )
    trail.apply("retire", retiring, values)
    reason = trail.reason or (_STEADY if trail.workers == current else _NEED)
    pinned = reason in _PINNED
    state = _remembered(trail, state, bounds, pressure, retired, pinned=pinned)
    tell = partial(told, trail, state, wanted, reason)
    return decided(trail.pool.name, seen.now_s, current, trail.workers, reason, signals.errors, condition, tell), state


def _bounds(trail: Trail, state: PoolState, limit: Ceiling) -> Bounds:
    """What the rules go by: the ceiling, the guard under it, and what was needed lately, now included."""
    pool, seen, load, wanted = trail.pool, trail.seen, trail.load, trail.workers
    start_up = load.start_up if load is not None else times.start_up_s(pool, state.start_ups_s)
    high = needs_with_band(wanted, trail.sized, load)
    needs = limits.remember_need(state.needs, seen.now_s, high, limits.PATIENCE_AT_MOST_S)
    since_s = 0.0 if state.ticked_at_s is None else seen.now_s - state.ticked_at_s
    return Bounds(
        ceiling=limit,
        guarded=guard(pool, state, seen, trail.signals, at_most(wanted, limit.workers), limit, start_up.value),
        needs=needs,
        lows=limits.remember_low(state.lows, seen.now_s, wanted),
        start_up=start_up,
        holding=learn_hold(state.holding, needs, limit.workers, since_s, start_up.value),
        gentle=is_gentle(seen, trail.signals.fleet),
    )


def _remembered(
    trail: Trail,
    state: PoolState,
    bounds: Bounds,
    pressure: Pressure | None,
    retired: tuple[Retired, ...],
    *,
    pinned: bool,
) -> PoolState:
    """The state with what this tick saw and did, in one copy: copies are a good part of what a decision costs."""
    seen, signals, watched = trail.seen, trail.signals, trail.watched
    current, last_s = seen.capacity.desired, seen.now_s if state.ticked_at_s is None else state.ticked_at_s
    resumed, shed = watched.watched_since_s == seen.now_s, condition_of(pressure) is not _NORMAL
    return changed(
        state,
        needs=bounds.needs,
        lows=bounds.lows,
        holding=bounds.holding,
        ticked_at_s=seen.now_s,
        guard=bounds.guarded.memory,
        pressure=pressure,
        retired=retired,
        directive=directed(state.directive, retired, seen, shed=shed, resumed=resumed),
        raises=times.record_change(state.raises, seen.now_s, trail.workers - current),
        desired=trail.workers,
        replaced=replaced_lately(state, seen.now_s, current, trail.workers),
        health=learn_health(state.health, seen.now_s, current, trail.workers, seen.now_s - last_s, pinned=pinned),
        override=watched.override,
        contest=watched.contest,
        presence=watched.presence,
        skew=watched.skew,
        idle_since_s=watched.idle_since_s,
        oldest_sent=signals.oldest_sent,
        watched_since_s=watched.watched_since_s,
        reported_at_s=watched.reported_at_s,
    )


def _pressure(trail: Trail, known: Pressure | None, bounds: Bounds, wanted: int) -> Pressure | None:
    """Late, and no more workers may be had: after a minute that is a state, and producers are told to send less."""
    cause, load = None, trail.load
    if load is not None:
        cause = _NORMAL
        late = trail.pool.finish_in_s is None and load.head_age.value > trail.pool.target_wait_s
        if late and wanted > bounds.guarded.limit.workers:
            cause = Condition.AT_CEILING if wanted > bounds.ceiling.workers else Condition.DOWNSTREAM
    return pressed(known, trail.seen.now_s, cause)


def _blind(trail: Trail, signals: Signals) -> None:
    """No count to go by: keep what is there. A failure is never an empty queue."""
    trail.reason = _BLIND.get(signals.counts, Reason.SIGNAL_MISSING)
    trail.note = f"the queue's counts are {signals.counts}" + (f" ({signals.errors[0]})" if signals.errors else "")


def _size(trail: Trail, signals: Signals, load: Load, limit: Ceiling) -> None:
    """What the work needs, by the pool's objective; never more than a FIFO queue's groups can keep busy."""
    hanging, (sized, trail.quiet) = signals.hearing.hanging, _needed(trail, signals, load, limit)
    trail.sized = beside_hanging(sized, trail.seen.capacity.desired - hanging, hanging) if hanging else sized
    trail.workers = trail.sized.workers
    if trail.quiet is not None:
        trail.notices.append(trail.quiet.note)
    if load.fifo:
        idle_since_s, now_s = trail.watched.idle_since_s, trail.seen.now_s
        trail.apply("groups", groups_bind(trail.workers, signals.fleet, signals.waiting, idle_since_s, now_s))


def _needed(trail: Trail, signals: Signals, load: Load, limit: Ceiling) -> tuple[Sized, Step | None]:
    pool = trail.pool
    if pool.finish_in_s is not None:
        working = trail.seen.capacity.desired - signals.hearing.hanging
        return finish_in_time(pool, load, pool.finish_in_s, working, limit.workers), None
    formula = need if pool.plain else hold_the_wait
    return sized_for_quiet(pool, load, signals, lambda part: formula(pool, part, limit.workers))


def _only_more(trail: Trail, current: int) -> None:
    """What handlers have taken before one of them has ended is the least that they take: no reason to have fewer."""
    trail.workers = at_least(trail.workers, current)
    trail.notices.append("no handler has finished yet: reckoned with what they have taken so far, and none given up")


def _unmeasured(trail: Trail, signals: Signals) -> None:
    """No service time and no hint: one worker to measure with where there is work, else what is there."""
    trail.reason = Reason.UNMEASURED
    trail.note = "no handler has finished yet and there is no service_time_hint, so nothing can be sized"
    trail.workers = max(trail.workers, 1) if signals.in_hand > 0 else trail.workers
