"""Messages that leave without being started: purged, expired, taken by somebody else. No fall of the traffic."""

from bisect import bisect_left
from collections.abc import Sequence

from tidegate.core.estimation.samples import Samples
from tidegate.core.estimation.typical import typical_per_s
from tidegate.core.model import Sample

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


def without_removals(samples: Sequence[Sample]) -> tuple[Samples, float]:
    """The samples as though what was removed had never arrived, and how many that were (0: nothing was).

    By conservation a removal reads as arrivals below none: for the whole window the rate would be too low, just when
    the queue is young again. Told by the counts of two ticks, and against the arrivals from before they can lag.
    """
    samples = Samples.of(samples)
    if len(samples) < 2 + FEWEST_BEFORE:
        return samples, 0.0
    last = samples[-1]
    first = bisect_left(samples.at_s, last.at_s - LOOK_BACK_S, 0, len(samples) - 2 - FEWEST_BEFORE)
    if max(samples.arrived[first:-2]) - last.arrived < FEW:  # at most ticks
        return samples, 0.0
    level = _middle(samples.waiting[first:-2], upper=True)
    least = max(FEW, UNEXPLAINED_SHARE * level)
    fell = max(samples.waiting[-2:]) <= LOW_SHARE * level
    if not fell or _middle(samples.arrived[first:-2], upper=False) - last.arrived < least:
        return samples, 0.0
    begin = bisect_left(samples.at_s, samples.at_s[first] - RATE_OVER_S)
    rate_per_s = typical_per_s(samples[begin : first + 1])
    lost = samples[first].arrived + rate_per_s * (last.at_s - samples[first].at_s) - last.arrived
    return (_mended(samples, first, rate_per_s), lost) if lost >= least else (samples, 0.0)


def _middle(values: Sequence[float], *, upper: bool) -> float:
    """The median; of an even number, the upper or the lower one of the two in the middle."""
    return sorted(values)[(len(values) - (not upper)) // 2]


def _mended(samples: Samples, first: int, rate_per_s: float) -> Samples:
    """Up to the fall: arrivals as they were before it. Earlier still: what was removed never came."""
    end = samples[-2]
    arrived = end.arrived - rate_per_s * (end.at_s - samples[first].at_s)
    earlier = (s._replace(arrived=s.arrived - samples[first].arrived + arrived) for s in samples[: first + 1])
    between = (s._replace(arrived=end.arrived - rate_per_s * (end.at_s - s.at_s)) for s in samples[first + 1 : -2])
    return Samples.of((*earlier, *between, *samples[-2:]))
