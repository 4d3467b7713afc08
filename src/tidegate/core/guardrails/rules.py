"""The rules between the need and the count, in their one order: each sees what the one before left."""

import math

from tidegate.core.bounds import at_least
from tidegate.core.ceiling import Ceiling
from tidegate.core.decision import Reason
from tidegate.core.downstream.guard import Guarded
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.holding import hold_s
from tidegate.core.estimation.load import Load
from tidegate.core.guardrails import limits
from tidegate.core.guardrails.chance import patient_rise, worth_a_step
from tidegate.core.guardrails.foreign import yielded
from tidegate.core.guardrails.starting import started
from tidegate.core.guardrails.trail import Trail
from tidegate.core.limit import Limit
from tidegate.core.model import Holding, PoolState
from tidegate.core.overrides import describe
from tidegate.core.retire.choice import unspared
from tidegate.core.signals.read import Signals
from tidegate.core.sizing.erlang import workers_for
from tidegate.core.sizing.need import Sized
from tidegate.core.value import value

__all__ = ["Bounds", "apply_rules", "needs_with_band"]


@value
class Bounds:
    """What the rules go by besides this tick's count: the ceiling, the guard under it, what was needed lately.

    `gentle`: workers leave only after they have let go of what they hold, so busy slots need no floor.
    """

    ceiling: Ceiling
    guarded: Guarded
    needs: tuple[tuple[float, int], ...]
    lows: tuple[tuple[float, int], ...]
    start_up: Estimate
    holding: Holding
    gentle: bool


def apply_rules(trail: Trail, state: PoolState, bounds: Bounds) -> None:
    """Ceiling, downstream, chance, ramp, starting, minimum, hold, contest, override, freshness, busy.

    An override comes after those that it need not respect (the downstream guard too), and before what no operator can
    mean to break: missing signals and running handlers. Its words stay whatever comes after it.
    """
    pool, seen, signals, load = trail.pool, trail.seen, trail.signals, trail.load
    current, cap = trail.serving, bounds.guarded.limit
    override, kept_s = trail.watched.override, hold_s(pool, bounds.start_up, bounds.holding)
    watched_s = seen.now_s - trail.watched.watched_since_s
    trail.apply("ceiling", limits.under_ceiling(trail.workers, bounds.ceiling), bounds.ceiling.every)
    trail.apply("downstream", limits.under_ceiling(trail.workers, cap), bounds.guarded.values)
    if load is not None and trail.sized is not None and pool.finish_in_s is None and not pool.plain:
        trail.apply("chance", _patient_rise(trail, trail.sized, load, bounds.lows, watched_s, signals.hearing.hanging))
    trail.apply("ramp", limits.ramp(trail.workers, seen.capacity.desired, pool))
    presence, start_up_s = trail.watched.presence, bounds.start_up.value
    trail.apply("starting", started(trail.workers, state, presence, signals, seen.capacity, start_up_s))
    trail.apply("minimum", limits.minimum(trail.workers, pool, cap, seen.capacity))
    held = limits.hold(trail.workers, current, bounds.needs, watched_s, cap, kept_s, patient=not pool.plain)
    band = _band_workers(trail.sized, load)
    trail.apply("hold", limits.to_the_need(held, trail.workers, current, band))
    trail.apply("contest", yielded(trail.workers, current, trail.watched.contest, seen.now_s))
    trail.apply("override", limits.overridden(trail.workers, current, override, bounds.ceiling, seen.capacity))
    trail.apply("freshness", limits.trusted(trail.workers, current, signals, seen.capacity))
    if not bounds.gentle:
        _spare_busy(trail, current, signals, load, bounds, band)
    if override is not None and trail.reason not in (Reason.FROZEN, Reason.PINNED):
        trail.note = f"{describe(override)}; {trail.note}"


def needs_with_band(workers: int, sized: Sized | None, load: Load | None) -> int:
    """The need, and the workers by which chance alone may have made it too low."""
    if sized is None or load is None:
        return workers
    each = load.slots_per_worker
    return workers + workers_for(sized.slots + sized.band, each) - workers_for(sized.slots, each)


def _band_workers(sized: Sized | None, load: Load | None) -> float:
    return sized.band / load.slots_per_worker if sized is not None and load is not None else 0.0


def _patient_rise(
    trail: Trail, sized: Sized, load: Load, lows: tuple[tuple[float, int], ...], watched_s: float, hanging: int
) -> Limit:
    current = trail.seen.capacity.desired
    there = at_least(current - hanging, 0) * load.slots_per_worker
    excess = sized.slots / there - 1 if there else math.inf
    error = sized.error / there if there else 0.0
    risen = patient_rise(trail.workers, current, lows, watched_s, excess, error=error, calm=sized.calm)
    if risen.workers < sized.urgent_workers:
        return Limit(min(trail.workers, sized.urgent_workers), risen.reason, risen.note)
    return risen


def _spare_busy(trail: Trail, current: int, signals: Signals, load: Load | None, bounds: Bounds, band: float) -> None:
    """The step `busy`; where it holds a pool up for want of protection, that is said with what to do about it."""
    pool, steps_back = trail.pool, bounds.guarded.steps_back
    mean_s, variation = (load.service_time.value, load.variation) if load else (math.inf, 1.0)
    floor = limits.busy_floor(trail.workers, current, signals, mean_s, variation, pool, drain=steps_back)
    trail.apply("busy", worth_a_step(floor, current, 0.0 if steps_back else band))
    if floor.reason and signals.fleet and limits.may_cut_off(signals.fleet, mean_s, variation, pool):
        trail.notices.append(unspared(trail.seen))
