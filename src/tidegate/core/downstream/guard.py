"""Is more concurrency still buying completions? While it is not, no workers are added.

Signs, by how much they are believed: an alarm that the settings name; a dependency whose calls fail more often than
usual; one whose calls take much longer than usual; a step out after which handlers were slower and completed no more.
The first needs nothing but CloudWatch, the others need workers that report.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

from tidegate.core.ceiling import Ceiling
from tidegate.core.decision import Reason, Scalar
from tidegate.core.downstream.calm import as_long_when_quiet, with_times
from tidegate.core.downstream.dependencies import accept_as_usual, learn_dependencies, signs_of
from tidegate.core.downstream.hold import next_hold
from tidegate.core.downstream.probe import FROM_OUTSIDE
from tidegate.core.downstream.situation import Situation, with_level
from tidegate.core.downstream.state import GuardMemory, Hold, Sign
from tidegate.core.downstream.step_effect import compare, cost_completions, enough_slots, followed, in_doubt, text
from tidegate.core.downstream.stretch import Effect
from tidegate.core.fleet import FleetSignals
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Alarm, Observation
from tidegate.core.signals import Signals, known_slots
from tidegate.core.value import value

__all__ = ["Guarded", "guard"]

ALARM_MAX_AGE_S = 300.0
"""An alarm's state is read once a minute; one that could not be read again for so long is not known."""
LOOK_S = 60.0
LONGEST_JOB_WAITED_FOR_S = 300.0
_STRENGTH = (Sign.ALARM, Sign.FAILING, Sign.NO_GAIN, Sign.SLOW)


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
    memory, mean_s, quick_s = state.guard, _mean_s(state), state.quick_s or math.inf
    if signals.fleet is not None and state.ticked_at_s is not None:
        memory = _looked(memory, signals.fleet, seen.now_s, signals.fleet.since_s, mean_s)
    effect = Effect.UNKNOWN if memory.level is None else compare(memory.before, memory.level)
    slots_per_worker = known_slots(pool, state, signals, seen.now_s)
    memory = _unlearned(memory, slots_per_worker)
    sign = _sign(pool, seen, memory, effect)
    hold, steps_back = None, False
    if sign is not None or memory.hold is not None:
        at = _situation(
            pool, seen, signals, memory, sign, need, limit, quick_s, slots_per_worker, LOOK_S + start_up_s + mean_s
        )
        hold = next_hold(memory.hold, sign, effect, at)
        steps_back = hold is not None and hold.cap < at.running  # with `step_back` off: a step that was only tried
    if hold is not None and memory.level is not None and signals.fleet is not None:
        hold = with_times(hold, memory.before, memory.level, quick_s, slots_per_worker, signals.fleet.since_s)
    memory = _accepted(memory, state.guard.hold, hold)
    values = _values(memory, hold, seen, effect)
    known = effect is not Effect.UNKNOWN  # the next step is compared with what is there now
    if known or hold is not memory.hold:
        memory = replace(memory, hold=hold, before=None if known else memory.before)
    if hold is None and memory.level is not None and in_doubt(memory.before, memory.level, quick_s):
        return Guarded(_as_it_is(limit, seen.capacity.desired, memory.level.workers), memory, values)
    return Guarded(_capped(limit, hold), memory, values, steps_back)


def _mean_s(state: PoolState) -> float:
    known = state.service_time
    return min(known.sum_s / known.runs, LONGEST_JOB_WAITED_FOR_S) if known is not None and known.runs else 0.0


def _looked(memory: GuardMemory, fleet: FleetSignals, now_s: float, elapsed_s: float, mean_s: float) -> GuardMemory:
    """What the workers report of the last `elapsed_s`, added to what is known."""
    memory = followed(memory, fleet, now_s, elapsed_s, mean_s)
    if not (memory.dependencies or fleet.calls):
        return memory
    held = memory.hold is not None
    return replace(memory, dependencies=learn_dependencies(memory.dependencies, fleet.calls, elapsed_s, held=held))


def _unlearned(memory: GuardMemory, slots_per_worker: int) -> GuardMemory:
    """Without the hold, where it took a change of the work for a sick dependency.

    Handlers run as long now that few slots are in use, or the first step back has cost completions.
    """
    hold, level, above = memory.hold, memory.level, memory.above
    if level is None:
        return memory
    if hold is not None and hold.sign not in FROM_OUTSIDE and as_long_when_quiet(hold, level, slots_per_worker):
        return _released(memory)
    wrong = None if above is None or (hold is not None and hold.easing) else cost_completions(level, above)
    if wrong is None:
        return memory
    mistaken = wrong and hold is not None and hold.sign is Sign.NO_GAIN and hold.knee is None
    return _released(memory) if mistaken else replace(memory, above=None)


def _released(memory: GuardMemory) -> GuardMemory:
    return replace(memory, above=None, hold=None, dependencies=accept_as_usual(memory.dependencies))


def _accepted(memory: GuardMemory, was: Hold | None, hold: Hold | None) -> GuardMemory:
    """Slow calls are usual from now on when they have nothing to do with how many workers there are.

    That is so where a step out has helped, or a step back has not.
    """
    if was is None:
        return memory
    helped = was.trying and (hold is None or hold.base > was.base)
    proved = helped or (was.easing and hold is not None and hold.trying)
    return replace(memory, dependencies=accept_as_usual(memory.dependencies)) if proved else memory


def _sign(pool: Pool, seen: Observation, memory: GuardMemory, effect: Effect) -> tuple[Sign, str] | None:
    """The strongest sign, with its reason."""
    signs = [(Sign.ALARM, f"alarm {alarm.name} is in ALARM") for alarm in _known(seen) if alarm.state == "ALARM"]
    if memory.dependencies:
        signs += signs_of(memory.dependencies)
    if memory.before is not None and memory.level is not None and effect is Effect.NO_GAIN:
        signs.append((Sign.NO_GAIN, text(memory.before, memory.level)))
    return min(signs, key=lambda sign: _STRENGTH.index(sign[0])) if signs else None


def _situation(
    pool: Pool,
    seen: Observation,
    signals: Signals,
    memory: GuardMemory,
    sign: tuple[Sign, str] | None,
    need: int,
    limit: Ceiling,
    quick_s: float,
    slots: int,
    interval_s: float,
) -> Situation:
    running = seen.capacity.desired
    if signals.fleet is not None:
        running = min(running, signals.fleet.taking)
    better = _better(memory, sign[0], slots, quick_s) if sign is not None and pool.step_back else None
    at = Situation(
        now_s=seen.now_s,
        running=running,
        better=running if better is None else min(running, better),
        need=need,
        least=max(pool.min_workers, seen.capacity.min_workers or 0, 1),
        most=limit.workers,
        interval_s=interval_s,
        steps_back=pool.step_back,
    )
    return at if memory.level is None else with_level(at, memory.level, memory.hold, quick_s, slots)


def _better(memory: GuardMemory, sign: Sign, slots_per_worker: int, quick_s: float) -> int | None:
    """The last count that was better: the one before the step, or what completes as much if that is more."""
    if memory.before is None or memory.level is None:
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


def _known(seen: Observation) -> list[Alarm]:
    return [alarm for alarm in seen.alarms if seen.now_s - alarm.taken_at_s <= ALARM_MAX_AGE_S]


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
    known = {alarm.name for alarm in _known(seen) if alarm.state is not None}
    return [f"{name} ({alarms[name].absence or 'stale'})" for name in alarms if name not in known]
