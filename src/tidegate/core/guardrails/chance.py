"""What chance alone makes of a need: not worth a start or a stop, until it has lasted for longer than chance does."""

import math
from collections.abc import Sequence

from tidegate.core.decision import Reason
from tidegate.core.guardrails.limits import PATIENCE_AT_MOST_S
from tidegate.core.limit import Limit, left_alone

__all__ = ["lasts_s", "patient_rise", "worth_a_step"]

PERSISTENT_S = 300.0
"""As long as the window of the steady rate: over less time it is the same reading over again."""

CHANCE_SIGMAS = 2.0
TAIL_POWER = 6
"""Beyond that, chance gets rarer much faster than by the square."""

_HOLD_TIME = Reason.HOLD_TIME

AT_ONCE_S = 10.0
"""Shorter than a tick is now."""


def patient_rise(
    workers: int,
    current: int,
    lows: Sequence[tuple[float, int]],
    watched_s: float,
    excess: float,
    *,
    error: float,
    calm: float,
) -> Limit:
    """Out for what has been needed, without a gap, for so long that it is more than chance: see `lasts_s`.

    `excess` is by what share the need is above the slots that are there, `error` one standard deviation of such a
    share. A pool at constant load would else follow the noise of its own estimates up, and patience down again.
    """
    if workers <= current:
        return left_alone(workers)
    needed_s = lasts_s(excess, error, calm)
    lasting = next(need for at_s, need in lows if at_s >= lows[-1][0] - needed_s) if watched_s >= needed_s else 0
    if lasting > current:
        return left_alone(workers)  # all of it at once: a worker at a time would be a change each
    return Limit(current, _HOLD_TIME, f"{workers} needed by no more than chance in less than {needed_s:.0f} s")


def lasts_s(excess: float, error: float, calm: float) -> float:
    """How long a need must have exceeded what is there to be told from chance: at two standard deviations five minutes.

    In a calm pool at fewer by the square of how many fewer: it is an average over that many windows that has the error
    so much smaller. An excess that stays is so answered in the end, after half an hour at most. One of more is soon.
    Where the pool is not calm (0), at more than two at once, and at fewer in five minutes: surges are real there.

    >>> [round(lasts_s(excess, error=0.05, calm=1.0)) for excess in (0.001, 0.05, 0.1, 0.15, 0.2)]
    [1800, 1200, 300, 26, 0]
    >>> [round(lasts_s(excess, error=0.05, calm=0.0)) for excess in (0.001, 0.05, 0.1, 0.15, 0.2)]
    [300, 300, 300, 0, 0]
    """
    if excess <= 0:
        return PATIENCE_AT_MOST_S
    ratio: float = CHANCE_SIGMAS * error / excess
    if ratio >= 1:
        return min(PERSISTENT_S * math.pow(ratio, 2.0 * calm), PATIENCE_AT_MOST_S)
    rest_s = PERSISTENT_S * calm * math.pow(ratio, TAIL_POWER)
    return rest_s if rest_s > AT_ONCE_S else 0.0


def worth_a_step(floor: Limit, current: int, band: float) -> Limit:
    """What the busy slots leave of a step down, taken once that is more than chance makes of the need (workers).

    A large pool whose slots are nearly all busy would else trickle: a change for every worker that falls idle.
    """
    if floor.reason is None or current - floor.workers >= band:
        return floor
    return Limit(current, floor.reason, floor.note)
