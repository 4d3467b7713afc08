"""A pool that is late because no more workers may be had: for more than a minute, and it is a state of its own."""

from enum import StrEnum
from typing import Final

from tidegate.core.value import value

__all__ = ["Condition", "Pressure", "condition_of", "pressed"]

LASTS_S = 60.0
"""Longer than this it is no passing burst; and it is over when it has been over for so long."""

UNSEEN_S = 180.0
"""What was seen before a gap in the ticks of this length says nothing of now (Lambda ticks once a minute)."""


class Condition(StrEnum):
    """Normal; or late for more than a minute at the ceiling, or under the downstream guard's cap."""

    NORMAL = "normal"
    AT_CEILING = "at_ceiling"
    DOWNSTREAM = "downstream"


_NORMAL: Final = Condition.NORMAL


@value
class Pressure:
    """Since when more was needed than may be had while messages were late, and when that was seen last."""

    since_s: float
    last_s: float
    cause: Condition


def pressed(known: Pressure | None, now_s: float, cause: Condition | None) -> Pressure | None:
    """With what this tick saw: `cause` NORMAL when nothing is held back or nothing is late, None when it can't be told.

    >>> early = pressed(None, 0.0, Condition.AT_CEILING)
    >>> condition_of(early), condition_of(pressed(early, 70.0, Condition.AT_CEILING))
    (<Condition.NORMAL: 'normal'>, <Condition.AT_CEILING: 'at_ceiling'>)
    """
    if known is not None and now_s - known.last_s > UNSEEN_S:
        known = None
    if cause is None:
        return known
    if cause is _NORMAL:
        return known if known is not None and now_s - known.last_s <= LASTS_S else None
    return Pressure(now_s if known is None else known.since_s, now_s, cause)


def condition_of(pressure: Pressure | None) -> Condition:
    """The state that this makes."""
    if pressure is None or pressure.last_s - pressure.since_s <= LASTS_S:
        return _NORMAL
    return pressure.cause
