"""What a level's sums say: how much was in use, how much was completed, how long handlers ran."""

import math

from tidegate.core.downstream.state import Level

__all__ = [
    "RUNS_LEAST",
    "SATURATED",
    "balanced",
    "busy",
    "error_s",
    "full",
    "learnt_error_s",
    "lengthening",
    "mean_run_s",
    "outgrown",
    "rate_per_s",
    "renewed",
    "renews_in_s",
    "settled",
    "tells",
]

RUNS_LEAST = 20.0
SPAN_LEAST_S = 30.0
SETTLED_SPAN_S = 60.0
SATURATED = 0.9
UNBALANCED = 0.2
RENEWED = 0.7
LONGER_LEAST = 0.1
LONGER_SIGMAS = 1.5
"""Runs that seem to have become longer before a step was made leave it unjudged: a doubt is enough for that."""
STRAIN_AT_MOST = 2.0
"""Where a dependency thrashes, runs grow with the slots in use to a power of more than one, but hardly of more."""


def tells(level: Level) -> bool:
    """Whether enough has ended at this level to compare it with another."""
    return level.runs >= RUNS_LEAST and level.span_s >= SPAN_LEAST_S and level.busy_s > 0 and level.sum_s > 0


def settled(level: Level) -> bool:
    """Whether that has been so for long enough to see a small difference: a step of one worker in ten."""
    return tells(level) and level.span_s >= SETTLED_SPAN_S


def busy(level: Level) -> float:
    """Slots in use, on average."""
    return level.busy_s / level.span_s if level.span_s else 0.0


def full(level: Level) -> bool:
    """Whether nearly all slots are in use: what is completed is what can be, and not what arrives."""
    return level.open_s > 0 and level.busy_s >= SATURATED * level.open_s


def balanced(level: Level, within: float = UNBALANCED) -> bool:
    """Whether the runs that ended took as long together as slots were in use: as long as that grows, they took less.

    By Little's law the two agree once all has settled. Where it gets slower the runs that end are yet the quick ones,
    and after a step back the long ones.
    """
    return abs(level.sum_s - level.busy_s) <= within * level.busy_s


def renewed(level: Level) -> bool:
    """Whether the runs that ended took most of the time that slots were in use; the rest still runs, and ages."""
    return level.sum_s >= RENEWED * level.busy_s


def lengthening(level: Level) -> bool:
    """Whether runs have become longer here, by more than more slots in use would explain: the work has changed.

    By the slot-seconds that pass for each run that ends. They show it sooner than the runs that end, of which the first
    are as long as ever, and not too soon: the slots were in use before.
    """
    past = level.past
    if not tells(level) or past is None or past.runs - level.runs < RUNS_LEAST or past.busy_s <= level.busy_s:
        return False
    runs, busy_s = past.runs - level.runs, past.busy_s - level.busy_s
    more = busy(level) * (past.span_s - level.span_s) / busy_s
    explained = _explained(more)
    times = (level.busy_s / level.runs) / (busy_s / runs) / explained
    error = times * math.sqrt(_learnt_s2(level) * (1.0 / level.runs + 1.0 / runs)) / mean_run_s(level)
    return _longer(times, error)


def outgrown(before: Level, level: Level) -> bool:
    """Whether runs have become longer since a step out than it could have made them: the work has changed with it."""
    if not tells(before) or level.runs < RUNS_LEAST:
        return False
    explained = _explained(busy(level) / busy(before))
    times = mean_run_s(level) / mean_run_s(before) / explained
    error = learnt_error_s(before, level) / mean_run_s(before) / explained
    return _longer(times, error)


def _explained(more: float) -> float:
    """How many times as long runs may take because of `more` times the slots in use."""
    return math.pow(max(1.0, more), STRAIN_AT_MOST)


def _longer(times: float, error: float) -> bool:
    """Whether runs that take `times` as long as is explained, give or take an error, are longer for sure."""
    return times - 1.0 > max(LONGER_SIGMAS * error, LONGER_LEAST)


def renews_in_s(level: Level) -> float:
    """What a running handler still takes on average: (1 + variation) ÷ 2 of a run (D. R. Cox, Renewal Theory, 1962)."""
    mean_s = mean_run_s(level)
    return (mean_s + _learnt_s2(level) / mean_s) / 2.0 if mean_s else 0.0


def rate_per_s(level: Level) -> float:
    """Completions a second at this level."""
    return level.completions / level.span_s if level.span_s else 0.0


def mean_run_s(level: Level) -> float:
    """Seconds that handlers ran at this level; 0 when none has ended."""
    return level.sum_s / level.runs if level.runs else 0.0


def error_s(*levels: Level) -> float:
    """One standard deviation of the mean run's seconds, or of the difference between those of two levels."""
    return math.sqrt(sum(_variance_s2(level) / level.runs for level in levels))


def learnt_error_s(*levels: Level) -> float:
    """The same by the variation that was learnt over minutes, if that is more: few runs show too little of it."""
    return math.sqrt(sum(_learnt_s2(level) / level.runs for level in levels))


def _variance_s2(level: Level) -> float:
    return max(0.0, level.square_sum_s2 / level.runs - mean_run_s(level) ** 2)


def _learnt_s2(level: Level) -> float:
    return max(_variance_s2(level), level.variation * mean_run_s(level) ** 2)
