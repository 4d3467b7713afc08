"""How long handlers run where no worker tells: by Little's law on the queue's counts and CloudWatch's deletions."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

from tidegate.core.model import Sample
from tidegate.core.signals.read import Signals
from tidegate.core.value import value
from tidegate.core.workers.leases import LONGEST_LEASE_S

__all__ = ["Untold", "untold_service_time"]

WINDOW_S: Final = 300.0
METRIC_LAG_S: Final = 90.0
"""A deletion is known in the middle of its minute and two more on average (a minute's end, its publication, the next
one's), and counts speak of half a minute ago: what was in flight while they were done was counted so long before."""


@value
class Untold:
    """A service time that no worker told, and how many messages it is an average of: 0 where it is a guess of now."""

    mean_s: float
    runs: float


def untold_service_time(samples: Sequence[Sample], signals: Signals) -> Untold | None:
    """Messages in flight on average ÷ deletions a second, of the same minutes; None where either is not known.

    No more than there are slots: the rest was prefetched, or backs off. While a pool grows, what is in flight now would
    be held against the deletions of when it was small. Before there is a window to look back at, and right after a gap
    in the samples, that is all there is.
    """
    if signals.fleet is not None or not signals.deleted_per_s:
        return None
    flying, deleted_per_s, runs = signals.in_flight, signals.deleted_per_s, 0.0
    if signals.fleet_heard and samples and samples[-1].at_s - samples[0].at_s > METRIC_LAG_S:
        flying, deleted_per_s, runs = _together(samples) or (flying, deleted_per_s, runs)
    worked_on = min(flying, signals.slots_at_most)
    if worked_on <= 0 or deleted_per_s <= 0:
        return None
    # no run that ends well outlasts its lease
    return Untold(worked_on / max(deleted_per_s, worked_on / LONGEST_LEASE_S), runs)


def _together(samples: Sequence[Sample]) -> tuple[float, float, float] | None:
    """Messages in flight, deletions a second, and deletions: of what arrived, what is not in hand has been deleted.

    None where a gap has left no sample of the minutes that the deletions are of.
    """
    at_s, last = [sample.at_s for sample in samples], samples[-1]
    first = samples[bisect_left(at_s, last.at_s - WINDOW_S)]
    earlier = samples[bisect_left(at_s, first.at_s - METRIC_LAG_S) : bisect_right(at_s, last.at_s - METRIC_LAG_S)]
    if not earlier:
        return None
    deleted = (last.arrived - last.in_hand) - (first.arrived - first.in_hand)
    flying = sum(sample.in_hand - sample.counted for sample in earlier) / len(earlier)
    return flying, deleted / (last.at_s - first.at_s), deleted
