"""Messages that were moved here at once (a dead-letter redrive): a backlog to work off, and no traffic.

Counts alone can't tell a hundred thousand messages moved from as many sent; the age of the oldest can, a minute later.
"""

from collections.abc import Sequence

from tidegate.core.estimation.arrivals import slope_per_s
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.samples import Samples
from tidegate.core.memory import MovedIn
from tidegate.core.model import Sample
from tidegate.core.signals.read import Signals

__all__ = ["head_age_here", "moved_in", "without_moved"]

BEFORE_S = 300.0
METRIC_LAG_S = 180.0
"""A minute until it is full and two until it is published: what the age shows began so long ago at most."""

TENFOLD = 10.0
"""A rise of the traffic by so much in the very minutes in which messages turn up that are older than any before."""


def moved_in(known: MovedIn | None, signals: Signals, now_s: float) -> MovedIn | None:
    """From when on messages may have been moved in: the metric's lag before the first age that is left aside."""
    if not signals.age_note:
        return None
    return MovedIn(now_s - METRIC_LAG_S) if known is None else known


def without_moved(samples: Sequence[Sample], moved: MovedIn | None) -> tuple[Samples, float]:
    """The samples as though what was moved in had always been there, and how many messages that is (0: nothing was).

    Where the rate is tenfold that of before, and the oldest message older than any before. What waits is counted as it
    is: that is what gets drained.
    """
    samples = Samples.of(samples)
    if moved is None or len(samples) < 2 or samples[0].at_s >= moved.since_s:
        return samples, 0.0
    last = samples[-1]
    before_per_s = slope_per_s(samples, BEFORE_S, last.at_s - moved.since_s)
    first = max((sample for sample in samples[:-1] if sample.at_s <= moved.since_s), key=lambda sample: sample.at_s)
    usual = before_per_s * (last.at_s - first.at_s)
    messages = last.arrived - first.arrived - usual
    if messages < TENFOLD * max(usual, 1.0):
        return samples, 0.0
    earlier = (s._replace(arrived=s.arrived + messages) for s in samples if s.at_s <= first.at_s)
    since = (
        s._replace(arrived=last.arrived - before_per_s * (last.at_s - s.at_s)) for s in samples if s.at_s > first.at_s
    )
    return Samples.of((*earlier, *since)), messages


def head_age_here(head_age: Estimate, moved: MovedIn | None, now_s: float) -> Estimate:
    """What was moved here was late before it came. It is to be drained within the target from then on, in no panic."""
    if moved is None or moved.came_at_s is None:
        return head_age
    here_s = now_s - moved.came_at_s
    return Estimate(here_s, "since moved here") if here_s < head_age.value else head_age
