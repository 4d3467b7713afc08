"""Did the last step out buy anything? Handlers that got slower and completed no more say no: it only queues there.

By Little's law slots in use = completions × service time. Where a dependency is at its limit, more slots in use make
each run longer by as much, and completions stay; where it thrashes they even fall. Both figures are needed: slower runs
alone may be longer jobs, and completions alone follow the arrivals.
"""

import math
from dataclasses import replace
from typing import Final

from tidegate.core.downstream.levels import (
    RUNS_LEAST,
    busy,
    error_s,
    full,
    learnt_error_s,
    lengthening,
    mean_run_s,
    outgrown,
    rate_per_s,
    renewed,
    renews_in_s,
    tells,
)
from tidegate.core.downstream.state import GuardMemory, Hold, Level, Past
from tidegate.core.downstream.stretch import NOTHING, Effect, Stretch
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.value import maker

__all__ = ["compare", "cost_completions", "enough_slots", "followed", "in_doubt", "text"]

FADE_S = 60.0
HELD_FADE_S = 180.0
"""Under a hold steps are small, and it takes more runs to see what they do."""
FADE_SERVICE_TIMES = 3.0
PAST_FADES = 5.0
"""What was before the present runs is remembered so many times as long."""
RENEWED_TIMES = 3.0
"""Before its runs are compared with others', what ran in all slots has ended so many times over."""
OPEN_AT_MOST_S = 300.0
OPEN_AT_MOST_TIMES = 4.0
CHANCE_SIGMAS = 2.0
HELD_SETTLES_RUNS = 3.0
BUSIER_LEAST = 0.1
"""With less than a tenth more slots in use there is nothing to see."""
BACK_SETTLES_S = 120.0
BACK_SETTLES_RUNS = 5.0
BACK_OPEN_AT_MOST_S = 120.0
"""After that. While a step back is not judged none follows it, so it is not left open for long."""
BACK_SIGMAS = 2.0
"""To undo a step back that nothing has confirmed takes less proof than to make it."""
SIGMAS = 3.0
SLOWER_LEAST = 0.1
SOMETHING = 0.5
"""Of what a step asked: completions that rose by more were worth it."""

PROBE_GAIN = 1.25
DOUBTFUL = 1.3

_UNKNOWN: Final = Effect.UNKNOWN
_level, _past = maker(Level), maker(Past)


def followed(
    memory: GuardMemory, fleet: FleetSignals, now_s: float, elapsed_s: float, mean_s: float, variation: float = 0.0
) -> GuardMemory:
    """With this tick's figures in the present level.

    A rise of the workers that take work is a step; the ones that follow before its effect is known belong to it. Runs
    that end right after a change began before it, so they are left out for a service time and a heartbeat.

    A step after which runs grow by more than it can have caused is not judged: then it is the work that has changed,
    unless a dependency is named, which may have fallen ill by itself.
    """
    before, level, above, hold = memory.before, memory.level, memory.above, memory.hold
    taking = fleet.taking
    if level is None:
        return replace(memory, level=Level(taking, now_s))
    if taking < level.workers:
        above = level if _gone_back(hold, level) else above
        return replace(memory, before=None, level=Level(taking, now_s), above=above)
    if taking > level.workers:
        above, fresh = None, Level(taking, now_s)
        before, level = (level, fresh) if before is None and _comparable(level, now_s) else (before, level)
        level = replace(level, workers=taking) if hold is None else fresh
    elif level.span_s and _fills(level, fleet.busy):
        level = replace(level, changed_s=now_s)
    settled_s = now_s - level.since_s - _settles_in_s(memory, before, above, fleet.heartbeat_s, mean_s)
    if settled_s >= 0.0:
        fade_s = max(FADE_S if hold is None else HELD_FADE_S, FADE_SERVICE_TIMES * mean_s)
        level = _added(level, fleet, elapsed_s, fade_s, variation)
    if above is not None and settled_s >= max(BACK_OPEN_AT_MOST_S, OPEN_AT_MOST_TIMES * renews_in_s(level)):
        above = None
    changed = before is not None and not memory.dependencies and outgrown(before, level)
    over = hold is None and (changed or _open_for_long(level, now_s))
    return GuardMemory(memory.dependencies, None if over else before, level, above, hold, memory.curve)


def _comparable(level: Level, now_s: float) -> bool:
    """Whether the next step may be compared with it: the runs that end are like those that began.

    In slots that have just begun only short runs have ended yet. Until all have been renewed a few times they look
    quicker, and complete more, than they ever will again. And where runs were getting longer before the step was made
    (which may be why it was), they will go on to, whatever the step does.
    """
    if not (tells(level) and renewed(level)) or lengthening(level):
        return False
    changed_s = level.since_s if level.changed_s is None else level.changed_s
    return now_s - changed_s >= RENEWED_TIMES * renews_in_s(level)


def _fills(level: Level, slots: int) -> bool:
    """Whether so many more slots are in use than were that it is no chance: those have just begun."""
    return slots - busy(level) > max(BUSIER_LEAST * busy(level), CHANCE_SIGMAS * math.sqrt(busy(level)))


def _open_for_long(level: Level, now_s: float) -> bool:
    """Whether a step that is not judged yet never will be: what is seen from now on says more of the work."""
    return tells(level) and now_s - level.since_s >= max(OPEN_AT_MOST_S, OPEN_AT_MOST_TIMES * renews_in_s(level))


def _gone_back(hold: Hold | None, level: Level) -> bool:
    return hold is not None and not hold.easing and level.workers > hold.cap and tells(level)


def _settles_in_s(
    memory: GuardMemory, before: Level | None, above: Level | None, heartbeat_s: float, mean_s: float
) -> float:
    """After a step back the last ones are long: they began when most was asked of the dependency."""
    if above is not None:
        return max(BACK_SETTLES_S, BACK_SETTLES_RUNS * max(mean_s, mean_run_s(above)))
    if memory.hold is not None:
        return heartbeat_s + HELD_SETTLES_RUNS * mean_s
    return heartbeat_s + mean_s if before is not None else 0.0


def compare(before: Level | None, level: Level) -> Effect:
    """What the step between the two bought; UNKNOWN until enough runs have ended on both sides."""
    if before is None or not (tells(before) and tells(level)) or busy(level) < (1 + BUSIER_LEAST) * busy(before):
        return _UNKNOWN
    asked = busy(level) / busy(before) - 1.0
    gained = rate_per_s(level) / rate_per_s(before) - 1.0 if before.completions else 0.0
    slower = _runs_longer(before, level)
    if slower and gained < NOTHING * asked:
        return Effect.NO_GAIN if renewed(level) else Effect.UNKNOWN
    sure = SIGMAS * learnt_error_s(before, level) < SOMETHING * asked * mean_run_s(before)
    return Effect.GAIN if gained >= SOMETHING * asked or (sure and not slower) else Effect.UNKNOWN


def _runs_longer(before: Level, level: Level) -> bool:
    """Whether handlers take longer than before, by a tenth at least and by more than chance."""
    was_s, is_s = mean_run_s(before), mean_run_s(level)
    return is_s - was_s > max(SIGMAS * learnt_error_s(before, level), SLOWER_LEAST * was_s)


def in_doubt(before: Level | None, level: Level, quick_s: float) -> bool:
    """Whether a step that is not judged yet already shows handlers that take much longer than before and than ever."""
    if before is None or level.runs < RUNS_LEAST:
        return False
    usual_s = max(mean_run_s(before), quick_s)
    return _runs_longer(before, level) and mean_run_s(level) > DOUBTFUL * usual_s


def cost_completions(level: Level, above: Level) -> bool | None:
    """Whether the step back from `above` was wrong: all slots are busy, runs are as long, and less is done. None: open.

    As long as slots are idle the arrivals decide what is completed, and nothing is shown.
    """
    if not tells(level) or not full(level):
        return None
    longer = Stretch(mean_run_s(above) / mean_run_s(level), error_s(above, level) / mean_run_s(level))
    bought = longer.bought(busy(above) / busy(level), BACK_SIGMAS)
    return None if bought is Effect.UNKNOWN else bought is Effect.GAIN


def enough_slots(before: Level, level: Level, quick_s: float) -> float:
    """Slots that complete as much as was completed, without queueing for it: throughput × unstrained service time.

    A dependency's bandwidth-delay product, with a quarter more so that the throughput can be found to be higher
    (N. Cardwell et al., BBR, ACM Queue 14, 2016).
    """
    return PROBE_GAIN * max(rate_per_s(before), rate_per_s(level)) * min(quick_s, mean_run_s(before))


def text(before: Level, level: Level) -> str:
    """With the figures that it was told by."""
    return (
        f"from {before.workers} to {level.workers} workers handlers went from {mean_run_s(before):.2g} to "
        f"{mean_run_s(level):.2g} s and completed {rate_per_s(before):.3g}/s, then {rate_per_s(level):.3g}/s"
    )


def _added(level: Level, fleet: FleetSignals, elapsed_s: float, fade_s: float, variation: float) -> Level:
    fade = math.exp(-elapsed_s / fade_s)
    return _level(
        workers=level.workers,
        since_s=level.since_s,
        span_s=level.span_s * fade + elapsed_s,
        busy_s=level.busy_s * fade + fleet.busy * elapsed_s,
        open_s=level.open_s * fade + fleet.slots * elapsed_s,
        completions=level.completions * fade + fleet.departures,
        runs=level.runs * fade + fleet.runs,
        sum_s=level.sum_s * fade + fleet.service_time_sum_s,
        square_sum_s2=level.square_sum_s2 * fade + fleet.service_time_square_sum_s2,
        variation=variation,
        changed_s=level.changed_s,
        past=_older(level.past or Past(), fleet, elapsed_s, PAST_FADES * fade_s),
    )


def _older(past: Past, fleet: FleetSignals, elapsed_s: float, fade_s: float) -> Past:
    fade = math.exp(-elapsed_s / fade_s)
    return _past(
        span_s=past.span_s * fade + elapsed_s,
        busy_s=past.busy_s * fade + fleet.busy * elapsed_s,
        runs=past.runs * fade + fleet.runs,
    )
