"""By how much handlers run longer than at another count, and what a step was worth that made them so.

By Little's law slots in use = completions × service time. So of a step of a tenth, runs that are a tenth longer leave
nothing, and runs that are as long as before leave all of it: what is lost is ln(times as long) ÷ ln(times the slots).
"""

import math
from enum import StrEnum

from tidegate.core.downstream.levels import error_s, mean_run_s, settled
from tidegate.core.downstream.state import Level
from tidegate.core.value import value

__all__ = ["NOTHING", "Effect", "Stretch", "eased", "stretch"]

NOTHING = 0.25
"""Of what a step asked: completions that rose by less were not worth it."""


class Effect(StrEnum):
    """What a step out bought."""

    UNKNOWN = "unknown"
    GAIN = "gain"
    NO_GAIN = "no_gain"


@value
class Stretch:
    """How many times as long handlers run; `error` is one standard deviation of that."""

    times: float
    error: float

    def lost(self, more: float) -> float:
        """The share of a step to `more` times the slots that went into longer runs; over 1 when less is completed.

        >>> round(Stretch(times=1.1, error=0.0).lost(more=1.25), 2)
        0.43
        """
        return math.log(self.times) / math.log(more)

    def bought(self, more: float, sigmas: float) -> Effect:
        """What that step bought, so sure that `sigmas` deviations don't change it; UNKNOWN while they do."""
        if more <= 1.0:
            return Effect.UNKNOWN
        lost, error = self.lost(more), sigmas * self.error / self.times / math.log(more)
        if lost - error > 1.0 - NOTHING:
            return Effect.NO_GAIN
        return Effect.GAIN if lost + error < 1.0 - NOTHING else Effect.UNKNOWN


def stretch(level: Level, known_s: float | None) -> Stretch | None:
    """Of the runs at this level, against others of `known_s`; None while too few have ended."""
    if not known_s or not settled(level):
        return None
    return Stretch(mean_run_s(level) / known_s, error_s(level) / known_s)


def eased(level: Level, above_s: float | None) -> Stretch | None:
    """Of runs of `above_s`, against those at this level, fewer at a time; None while too few of them have ended."""
    if not above_s or not settled(level):
        return None
    times = above_s / mean_run_s(level)
    return Stretch(times, times * error_s(level, level) / mean_run_s(level))  # as many were seen above, about
