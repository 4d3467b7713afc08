"""Geometric means with an interval. Cells of one trace resemble each other, so whole traces are drawn, not cells."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Mean", "geometric_mean"]

DRAWS = 2000
SEED = 20240229


@dataclass(frozen=True, slots=True)
class Mean:
    """A geometric mean over `cells` ratios and the interval that holds 95 % of its bootstrap draws."""

    value: float
    low: float
    high: float
    cells: int


def geometric_mean(ratios: Mapping[str, Sequence[float]]) -> Mean | None:
    """Of all ratios, given by trace; None when there is not a single one. The draws are seeded.

    >>> mean = geometric_mean({"a": [0.5, 2.0], "b": [4.0, 4.0]})
    >>> mean.value, mean.low, mean.high, mean.cells
    (2.0, 1.0, 4.0, 4)
    """
    groups = [np.log(np.asarray(values, dtype=np.float64)) for values in ratios.values() if len(values)]
    if not groups:
        return None
    sums, counts = np.array([group.sum() for group in groups]), np.array([len(group) for group in groups])
    drawn = np.random.default_rng(SEED).integers(0, len(groups), size=(DRAWS, len(groups)))
    draws = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975])
    mean = float(sums.sum() / counts.sum())
    value, least, most = (round(math.exp(each), 12) for each in (mean, float(low), float(high)))
    return Mean(value, least, most, int(counts.sum()))
