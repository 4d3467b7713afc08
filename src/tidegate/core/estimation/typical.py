"""What usually arrives: a rate that neither a dump nor a purge moves, and one that wrong counts don't make up."""

import math
from collections.abc import Sequence
from itertools import pairwise

from tidegate.core.model import Sample

__all__ = ["lasting_per_s", "typical_per_s"]

FEWEST_STEPS = 5
"""In fewer no dump is told from what usually arrives."""

MEDIAN_ERROR = 1.2533 * 1.4826
"""The standard error of a median is √(π/2) σ ÷ √n, and σ 1.48 times the median deviation, where errors are normal."""

PROOF_SIGMAS = 2.5


def typical_per_s(samples: Sequence[Sample]) -> float:
    """Messages a second as the median over the steps from sample to sample: one step in another measure is none.

    At less than one message in two steps it is 0: so little is not told from nothing.

    >>> typical_per_s([Sample(0, 0, 0, 0), Sample(10, 20, 0, 0), Sample(20, 9020, 0, 0), Sample(30, 9040, 0, 0)])
    2.0
    """
    rates = _rates(samples)
    return max(0.0, _median(rates)) if rates else 0.0


def lasting_per_s(samples: Sequence[Sample]) -> float:
    """The same, as far as it is told from the counts' error: for hours ahead, an error counts as often as there are
    seconds.

    A count of a dump that is off by a third, now up and now down, is a rate of hundreds a second from look to look. So
    what is not beyond two and a half standard errors is nothing, and what is well beyond them is all but whole: the
    rate × (1 − (that ÷ rate)²), a shrinkage as of James and Stein. Nor is it more than the rise from the first third of
    the samples to the last, which wrong counts move far less, and only a dump moves more.

    >>> readings = [Sample(10 * n, 20 * n + each, 0, 0) for n, each in enumerate([0, 1, 0, -1, 0, 1, 0])]
    >>> round(lasting_per_s(readings), 2), lasting_per_s(readings[:4])
    (1.9, 0.0)
    >>> lasting_per_s([Sample(10 * n, each, 0, 0) for n, each in enumerate([4000, 5100, 3000, 4200, 2900, 4800, 3900])])
    0.0
    """
    rates = _rates(samples)
    if len(rates) < FEWEST_STEPS:
        return 0.0
    rate = _median(rates)
    error = MEDIAN_ERROR * _median(sorted(abs(each - rate) for each in rates)) / math.sqrt(len(rates))
    if rate <= PROOF_SIGMAS * error:
        return 0.0
    return max(0.0, min(rate * (1.0 - (PROOF_SIGMAS * error / rate) ** 2), _rise_per_s(samples)))


def _rise_per_s(samples: Sequence[Sample]) -> float:
    """From the mean of the first third to that of the last."""
    third = len(samples) // 3
    first, last = samples[:third], samples[-third:]
    arrived = sum(sample.arrived for sample in last) - sum(sample.arrived for sample in first)
    return arrived / (sum(sample.at_s for sample in last) - sum(sample.at_s for sample in first))


def _rates(samples: Sequence[Sample]) -> list[float]:
    """From sample to sample, rising."""
    return sorted((b.arrived - a.arrived) / (b.at_s - a.at_s) for a, b in pairwise(samples))


def _median(ordered: Sequence[float]) -> float:
    return ordered[(len(ordered) - 1) // 2]
