"""How long handlers run when nothing is asked too much of: under a hold, what too long is told by."""

import math
from dataclasses import replace

from tidegate.core.downstream.levels import busy, full, mean_run_s, tells
from tidegate.core.downstream.state import Hold, Level
from tidegate.core.downstream.stretch import eased, stretch
from tidegate.core.signals.fleet import FleetSignals

__all__ = ["as_long_when_quiet", "with_times"]

QUIET = 0.75
"""Of the slots of the count that is held: with fewer in use, how long handlers run has nothing to do with it."""
FOLLOWED_S = 300.0
QUICK_AT_MOST = 1.1
"""Of the quickest service time of the last hour or so: the level before a step may have begun to strain by its end."""
SIGMAS = 3.0
SURE_SIGMAS = 2.0


def with_times(
    hold: Hold, before: Level | None, level: Level, quick_s: float, slots_per_worker: int, fleet: FleetSignals
) -> Hold:
    """The hold with what this tick says of how long handlers run, calm and at its base.

    Shorter runs count as calm ones within minutes. Longer ones only when few slots are in use, and then at once if they
    are longer by more than chance: the work itself has changed.
    """
    if hold.calm_s is None:
        known_s = mean_run_s(before) if before is not None and tells(before) else math.inf
        calm_s = min(known_s, QUICK_AT_MOST * quick_s) if known_s < math.inf else quick_s
        return replace(hold, calm_s=calm_s) if calm_s < math.inf else hold
    now = stretch(level, hold.calm_s)
    if now is None:
        return hold
    if hold.cap == hold.base == level.workers and full(level):
        hold = replace(hold, base_s=mean_run_s(level))
    quiet = _quiet(hold, level, slots_per_worker, fleet.busy)
    if now.times >= 1.0 and not quiet:
        return hold
    changed = quiet and abs(now.times - 1.0) > SIGMAS * now.error
    share = 1.0 if changed else min(1.0, fleet.since_s / FOLLOWED_S)
    base_s = None if changed and now.times > 1.0 else hold.base_s
    return replace(hold, base_s=base_s, calm_s=(1.0 + share * (now.times - 1.0)) * (hold.calm_s or 0.0))


def as_long_when_quiet(hold: Hold, level: Level, slots_per_worker: int, busy_now: float) -> bool:
    """Whether handlers run about as long with few slots in use as they did at the count that was gone back from.

    Then what was slow is not how many there are. About: nearer to that than to the calm time, by more than chance.
    """
    now = eased(level, hold.above_s)
    if now is None or not hold.calm_s or not hold.above_s or not _quiet(hold, level, slots_per_worker, busy_now):
        return False
    return (now.times + SURE_SIGMAS * now.error) ** 2 < hold.above_s / hold.calm_s


def _quiet(hold: Hold, level: Level, slots_per_worker: int, busy_now: float) -> bool:
    """On average and now: while slots fill, the average still tells of when few were in use."""
    return max(busy(level), busy_now) < QUIET * min(hold.base, hold.cap) * slots_per_worker
