"""Is more concurrency still buying completions? While it is not, no workers are added.

Signs, by how much they are believed: an alarm that the settings name; a dependency whose calls fail more often than
usual; one whose calls take much longer than usual; a step out after which handlers were slower and completed no more.
The first needs nothing but CloudWatch, the others need workers that report.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tidegate.core.bounds import at_most
from tidegate.core.ceiling import Ceiling
from tidegate.core.decision import Reason, Scalar
from tidegate.core.downstream.calm import with_times
from tidegate.core.downstream.hold import next_hold
from tidegate.core.downstream.learned import accepted, looked, unlearned
from tidegate.core.downstream.signs import by_curve, effect_of, known_alarms, strongest
from tidegate.core.downstream.situation import Situation, with_level
from tidegate.core.downstream.state import GuardMemory, Hold, Sign
from tidegate.core.downstream.step_effect import enough_slots, in_doubt
from tidegate.core.downstream.stretch import Effect
from tidegate.core.downstream.worth import worth
from tidegate.core.estimation.times import squared_variation
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.signals.read import Signals, known_slots
from tidegate.core.value import value

__all__ = ["Guarded", "guard"]

LOOK_S = 60.0
LONGEST_JOB_WAITED_FOR_S = 300.0

_UNKNOWN: Final = Effect.UNKNOWN


@value
class Guarded:
    """The ceiling with the guard's cap in it, what to remember, and what the decision shows."""

    limit: Ceiling
    memory: GuardMemory
    values: Mapping[str, Scalar]
    steps_back: bool = False
    """Fewer workers than run now would complete more: busy ones may go, as far as nothing is cut off."""


def guard(
    pool: Pool, state: PoolState, seen: Observation, signals: Signals, need: int, limit: Ceiling, start_up_s: float
) -> Guarded:
    """Hold, step back, recover or leave alone. `state` is that of the tick before, with its `ticked_at_s`.

    Never gives a higher count than `limit`, and never a cap below the pool's or the platform's minimum.
    """
    if not pool.downstream_guard:
        return Guarded(limit, GuardMemory(), {})
    memory, mean_s, quick_s, fleet = state.guard, _mean_s(state), state.quick_s or math.inf, signals.fleet
    if fleet is not None and state.ticked_at_s is not None:
        memory = looked(memory, fleet, seen.now_s, fleet.since_s, mean_s, squared_variation(state.service_time))
    if not (_to_judge(memory) or seen.alarms):  # most pools at most ticks
        return Guarded(limit, memory, {"step_bought": None})
    slots = known_slots(pool, state, signals, seen.now_s)
    it = worth(memory.curve, memory.level)
    busy_now = 0.0 if fleet is None else fleet.busy
    best, effect = it.workers(slots), effect_of(memory, it, busy_now)
    memory = unlearned(memory, it, best, slots, busy_now)
    running = seen.capacity.desired if fleet is None else min(seen.capacity.desired, fleet.taking)
    sign = by_curve(strongest(seen, memory, effect), memory, it, best, need, running, pool)
    hold, steps_back = None, False
    if sign is not None or memory.hold is not None:
        at = _situation(pool, seen, running, need, limit, LOOK_S + start_up_s + mean_s)
        at = _known(at, memory, sign, best, quick_s, slots)
        hold = next_hold(memory.hold, sign, effect, at)
        steps_back = hold is not None and hold.cap < at.running  # with `step_back` off: a step that was only tried
    if hold is not None and memory.level is not None and fleet is not None:
        hold = with_times(hold, memory.before, memory.level, quick_s, slots, fleet)
    memory = accepted(memory, state.guard.hold, hold, best)
    values = _values(memory, hold, seen, effect)
    known = effect is not _UNKNOWN  # the next step is compared with what is there now
    if known or hold is not memory.hold:
        memory = replace(memory, hold=hold, before=None if known else memory.before)
    doubt = memory.level is not None and not it.buys and in_doubt(memory.before, memory.level, quick_s)
    if hold is None and memory.level is not None and doubt:
        return Guarded(_as_it_is(limit, seen.capacity.desired, memory.level.workers), memory, values)
    return Guarded(_capped(limit, hold), memory, values, steps_back)


def _to_judge(memory: GuardMemory) -> bool:
    """Whether a step is open, a hold stands, or handlers name what they depend on: else there is no sign."""
    is_open = memory.before is not None or memory.above is not None or memory.hold is not None
    return is_open or bool(memory.dependencies or memory.curve.points)


def _mean_s(state: PoolState) -> float:
    known = state.service_time
    return at_most(known.sum_s / known.runs, LONGEST_JOB_WAITED_FOR_S) if known is not None and known.runs else 0.0


def _situation(pool: Pool, seen: Observation, running: int, need: int, limit: Ceiling, interval_s: float) -> Situation:
    return Situation(
        now_s=seen.now_s,
        running=running,
        better=running,
        need=need,
        least=max(pool.min_workers, seen.capacity.min_workers or 0, 1),
        most=limit.workers,
        interval_s=interval_s,
        steps_back=pool.step_back,
    )


def _known(
    at: Situation, memory: GuardMemory, sign: tuple[Sign, str] | None, best: int | None, quick_s: float, slots: int
) -> Situation:
    """With what was seen of this count and of others."""
    if sign is not None and at.steps_back:
        better = [_better(memory, sign[0], slots, quick_s), best]
        at = replace(at, better=min([at.running, *(count for count in better if count is not None)]))
    at = replace(at, best=best, in_use=float(at.running * slots), undecided=memory.above is not None)
    return at if memory.level is None else with_level(at, memory.level, memory.hold, quick_s, slots)


def _better(memory: GuardMemory, sign: Sign, slots_per_worker: int, quick_s: float) -> int | None:
    """The last count that was better: the one before the step, or what completes as much if that is more.

    Where there is a curve, slow calls alone are no reason to go back: that is tried, by less.
    """
    if memory.before is None or memory.level is None or (sign is Sign.SLOW and memory.curve.points):
        return None
    if sign is not Sign.NO_GAIN:
        return memory.before.workers
    enough = math.ceil(enough_slots(memory.before, memory.level, quick_s) / slots_per_worker)
    return max(enough, memory.before.workers)


def _capped(limit: Ceiling, hold: Hold | None) -> Ceiling:
    if hold is None or hold.cap >= limit.workers:
        return limit
    trying = f", trying {hold.cap} after {hold.base}" if hold.trying else ""
    return Ceiling(hold.cap, f"the downstream guard: {hold.why}{trying}", Reason.DOWNSTREAM, "downstream")


def _as_it_is(limit: Ceiling, desired: int, workers: int) -> Ceiling:
    """Until the last step is judged: no further one."""
    if desired >= limit.workers:
        return limit
    why = f"handlers take longer since there are {workers} workers; no more before it is seen what they complete"
    return Ceiling(max(1, desired), f"the downstream guard: {why}", Reason.DOWNSTREAM, "downstream")


def _values(memory: GuardMemory, hold: Hold | None, seen: Observation, effect: Effect) -> Mapping[str, Scalar]:
    values: dict[str, Scalar] = {"step_bought": None if memory.before is None else str(effect)}
    if hold is not None:
        next_step_s = round(hold.next_s - seen.now_s)
        values |= {"cap": hold.cap, "sign": str(hold.sign), "sick": hold.sick, "next_step_s": next_step_s}
    if seen.alarms and (unknown := _unknown(seen)):
        values["alarms_unknown"] = ", ".join(unknown)
    return values


def _unknown(seen: Observation) -> list[str]:
    alarms = {alarm.name: alarm for alarm in seen.alarms}
    known = {alarm.name for alarm in known_alarms(seen) if alarm.state is not None}
    return [f"{name} ({alarms[name].absence or 'stale'})" for name in alarms if name not in known]
