"""How many slots are worth having, from how long handlers run by how many are in use.

By Little's law so many slots complete slots ÷ run time. Where that has risen up to the most that were ever in use, more
still buy completions, however much longer each run takes; where it has a peak, what is above the peak costs. So neither
needs to be tried again: it is read from the present latency and from what was seen before.
"""

import math
from collections.abc import Sequence

from tidegate.core.downstream.curve import charted
from tidegate.core.downstream.levels import busy, error_s, mean_run_s, tells
from tidegate.core.downstream.state import Curve, Level, Point
from tidegate.core.downstream.stretch import NOTHING
from tidegate.core.value import value

__all__ = ["Worth", "bought_at", "worth"]

NEAR, FAR = 1.15, 2.0
"""What counts so many times apart bought is told from each other: nearer ones differ by chance, and farther ones may
have a peak in between."""
SURE_SIGMAS = 2.0
"""A peak is one for hours: it takes more to be found than that more still help, which the next point corrects."""
MOSTLY_FULL = 0.5


@value
class Worth:
    """What the curve says of the present count; without any points, nothing."""

    slots: float | None = None
    """So many completed most."""
    knee: float | None = None
    """So many, more than those, bought nothing; None: no such count was seen."""
    more: bool = False
    """They complete more than the ones in use now."""
    buys: bool = False
    """More slots still buy completions: those, or the last of the ones in use; and no knee was seen."""

    def workers(self, slots_per_worker: int) -> int | None:
        """The count to hold: as many as complete most, where more are known to buy nothing.

        >>> Worth(slots=32.0, knee=48.0).workers(4), Worth(slots=32.0).workers(4)
        (8, None)
        """
        return None if self.slots is None or self.knee is None else max(1, round(self.slots / slots_per_worker))


_NOTHING_KNOWN = Worth()


def worth(curve: Curve, level: Level | None) -> Worth:
    """Of all that was seen, and of the present level."""
    points = list(charted(curve)) if curve.points else []
    if not points:
        return _NOTHING_KNOWN
    best = _best(points)
    knee = min((point.slots for point in points if _costs(best, point)), default=None)
    if level is None or not tells(level):
        return Worth(best.slots, knee)
    here = (busy(level), mean_run_s(level), error_s(level) / mean_run_s(level))
    more = _more(best, *here)
    return Worth(best.slots, knee, more, knee is None and (more or _bought(points, *here)))


def bought_at(curve: Curve, slots: float) -> bool:
    """Whether as many slots, or more, have been in use, and the last of them still bought completions."""
    points = list(charted(curve))
    return any(_bought(points, it.slots, it.run_s, it.error) for it in points if it.slots >= slots)


def _best(points: Sequence[Point]) -> Point:
    """The most completions that are sure; or fewer slots that complete as many, going down by steps that cost none."""
    best = max(points, key=lambda it: it.rate_per_s * (1.0 - SURE_SIGMAS * it.error))
    for point in reversed(points):
        if point.slots * NEAR <= best.slots and _lost(point, best) > 1.0 - NOTHING:
            best = point
    return best


def _costs(best: Point, point: Point) -> bool:
    """Only where nearly all slots were in use: where some are idle, those are many that happen to run long."""
    if point.slots < best.slots * NEAR or point.full_runs < MOSTLY_FULL * point.runs:
        return False
    error = math.hypot(best.error, point.error) / math.log(point.slots / best.slots)
    return _lost(best, point) - SURE_SIGMAS * error > 1.0 - NOTHING


def _lost(low: Point, high: Point) -> float:
    """The share of the step between the two that went into longer runs (see `stretch`)."""
    return math.log(high.run_s / low.run_s) / math.log(high.slots / low.slots)


def _more(best: Point, slots: float, run_s: float, error: float) -> bool:
    if slots * NEAR > best.slots:
        return False
    longer = math.log(best.run_s / run_s) + math.hypot(best.error, error)
    return longer < (1.0 - NOTHING) * math.log(best.slots / slots)


def _bought(points: Sequence[Point], slots: float, run_s: float, error: float) -> bool:
    """Whether the last of so many slots, in runs of so long, did: by a straight line through what is near below.

    Least squares in logarithms, through (slots, run_s), each point by its own error; `error` is that of `run_s`, of it.
    """
    weight_x = weight_xx = weight_xy = 0.0
    for point in points:
        if slots / FAR <= point.slots <= slots / NEAR:
            x, y, weight = math.log(slots / point.slots), math.log(run_s / point.run_s), point.error**-2
            weight_x += weight * x
            weight_xx += weight * x * x
            weight_xy += weight * x * y
    if not weight_xx:
        return False
    off = math.sqrt(1.0 / weight_xx + (error * weight_x / weight_xx) ** 2)
    return weight_xy / weight_xx + off < 1.0 - NOTHING
