"""What usually arrives: a rate that neither a dump nor a purge moves."""

from collections.abc import Sequence
from itertools import pairwise

from tidegate.core.model import Sample

__all__ = ["typical_per_s"]


def typical_per_s(samples: Sequence[Sample]) -> float:
    """Messages a second as the median over the steps from sample to sample: one step in another measure is none.

    At less than one message in two steps it is 0: so little is not told from nothing.

    >>> typical_per_s([Sample(0, 0, 0, 0), Sample(10, 20, 0, 0), Sample(20, 9020, 0, 0), Sample(30, 9040, 0, 0)])
    2.0
    """
    rates = sorted((b.arrived - a.arrived) / (b.at_s - a.at_s) for a, b in pairwise(samples))
    return max(0.0, rates[(len(rates) - 1) // 2]) if rates else 0.0
