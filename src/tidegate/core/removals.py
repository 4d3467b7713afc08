"""Messages that leave without being started: purged, expired, taken by somebody else. No fall of the traffic."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from tidegate.core.model import Sample
from tidegate.core.typical import typical_per_s

__all__ = ["without_removals"]

LOW_SHARE = 0.1
"""A queue that held messages and now, twice running, holds less than this share of them."""

UNEXPLAINED_SHARE = 0.6
FEWEST_BEFORE = 6
"""Readings before the fall, of which the middle one counts: a single one may be a third too high."""

FEW = 20.0
"""Below so many messages the counts' own error looks the same."""

LOOK_BACK_S = 90.0
"""Longer than counts lag: what starts had already explained and counts show late is no removal."""

RATE_OVER_S = 300.0

_at_s = attrgetter("at_s")


def without_removals(samples: Sequence[Sample]) -> tuple[tuple[Sample, ...], float]:
    """The samples as though what was removed had never arrived, and how many that were (0: nothing was).

    By conservation a removal reads as arrivals below none: for the whole window the rate would be too low, just when
    the queue is young again. Told by the counts of two ticks, and against the arrivals from before they can lag.
    """
    if len(samples) < 2 + FEWEST_BEFORE:
        return tuple(samples), 0.0
    *_, second, last = samples
    first = min(bisect_left(samples, last.at_s - LOOK_BACK_S, key=_at_s), len(samples) - 2 - FEWEST_BEFORE)
    before = samples[first:-2]
    level = sorted([sample.waiting for sample in before])[len(before) // 2]
    least = max(FEW, UNEXPLAINED_SHARE * level)
    fell = max(second.waiting, last.waiting) <= LOW_SHARE * level
    if not fell or sorted([sample.arrived for sample in before])[(len(before) - 1) // 2] - last.arrived < least:
        return tuple(samples), 0.0
    begin = bisect_left(samples, samples[first].at_s - RATE_OVER_S, key=_at_s)
    rate_per_s = typical_per_s(samples[begin : first + 1])
    lost = samples[first].arrived + rate_per_s * (last.at_s - samples[first].at_s) - last.arrived
    return (_mended(samples, first, rate_per_s), lost) if lost >= least else (tuple(samples), 0.0)


def _mended(samples: Sequence[Sample], first: int, rate_per_s: float) -> tuple[Sample, ...]:
    """Up to the fall: arrivals as they were before it. Earlier still: what was removed never came."""
    end = samples[-2]
    arrived = end.arrived - rate_per_s * (end.at_s - samples[first].at_s)
    earlier = (replace(s, arrived=s.arrived - samples[first].arrived + arrived) for s in samples[: first + 1])
    between = (replace(s, arrived=end.arrived - rate_per_s * (end.at_s - s.at_s)) for s in samples[first + 1 : -2])
    return (*earlier, *between, *samples[-2:])
