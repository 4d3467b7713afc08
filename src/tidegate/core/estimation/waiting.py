"""What waits, and for how long the oldest has: read off cumulative arrivals against what waits."""

import math
from bisect import bisect_left
from collections.abc import Sequence

from tidegate.core.bounds import at_least, at_most
from tidegate.core.estimation.adapt import SIGNAL_LAG_S
from tidegate.core.estimation.arrivals import arrived_by, windowed_per_s
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Pool, Sample
from tidegate.core.signals.news import QUEUE_MEMORY_S
from tidegate.core.signals.read import Signals

__all__ = ["head_age_s", "older_shares", "still_waited_s", "waiting"]

WINDOW_S = 60.0
ERROR_OF_LATE_COUNTS = 0.05
"""Counts that are late show so much of an error at least, one standard deviation, while anything moves."""

GAP_S = 25.0
"""Samples further apart than that have a gap between them, in which the head's arrival is looked for."""


def waiting(samples: Sequence[Sample], arrivals: Estimate, signals: Signals, pool: Pool, count_error: float) -> float:
    """Messages that wait: the last readings, each carried on to now at the arrival rate less what was started since.

    Weighted by the inverse of their variances: a reading of Q messages is off by `count_error` × Q, and a carried one
    as well by what chance makes of the arrivals since. Exact counts are taken as they are, doubtful ones as the mean of
    a minute. After a jump: the last ticks'. What grows is larger than any reading: they speak of half a minute ago.
    The plain formula takes the count as it is.
    """
    if not samples or pool.plain:
        return signals.waiting
    samples = Samples.of(samples)
    last = samples[-1]
    if last.waiting <= 0 and _proved_empty(signals):
        return 0.0
    window_s = 3 * pool.tick_s if arrivals.source.endswith("jump") else WINDOW_S
    begin = bisect_left(samples.at_s, last.at_s - window_s - 1e-6)
    noise = (count_error * sum(samples.waiting[begin:]) / (len(samples) - begin)) ** 2
    ahead = weights = 0.0
    for at_s, arrived in zip(samples.at_s[begin:], samples.arrived[begin:], strict=True):
        since = arrivals.value * (last.at_s - at_s)
        weight = 1.0 / (1.0 + noise + since)
        ahead += weight * (arrived - last.arrived + since)
        weights += weight
    return max(0.0, last.waiting + ahead / weights) + _unseen(samples, arrivals, signals, count_error)


def _proved_empty(signals: Signals) -> bool:
    """A slot that polls takes what waits: while one is idle, what earlier readings make of the present is a phantom."""
    fleet = signals.fleet
    return fleet is not None and fleet.idle > 0 and not fleet.classed and not signals.in_groups


def _unseen(samples: Samples, arrivals: Estimate, signals: Signals, count_error: float) -> float:
    """What has come since the time that counts speak of, less what was started since.

    No more than the last minute shows: over less a count may only have caught up with what was there. None where slots
    stand idle, and none where counts have shown no error: those are of now, for late ones contradict each other.
    """
    last = samples[-1]
    if len(samples) < 2 or last.waiting <= 0 or signals.fleet is None or signals.fleet.idle > 0:
        return 0.0
    first = samples[bisect_left(samples.at_s, last.at_s - SIGNAL_LAG_S - 1e-6, 0, len(samples) - 2)]
    started = max(0.0, last.arrived - last.waiting - first.arrived + first.waiting)
    came_per_s = min(arrivals.value, windowed_per_s(samples, WINDOW_S))
    lag_s = min(SIGNAL_LAG_S, last.at_s - samples.at_s[0]) * min(1.0, count_error / ERROR_OF_LATE_COUNTS)
    return lag_s * max(0.0, came_per_s - started / (last.at_s - first.at_s))


def head_age_s(samples: Sequence[Sample], signals: Signals) -> Estimate:
    """How long the oldest waiting message has waited.

    Served in order, the oldest one arrived when the cumulative arrivals passed the cumulative starts, that is
    arrivals so far less what waits now. A fresh ApproximateAgeOfOldestMessage outranks a lower estimate (standard
    queues are not served in order), unless the queue was seen empty since: then that message is gone.
    """
    if not samples:
        return Estimate(signals.age_s or 0.0, "unmeasured" if signals.age_s is None else "cloudwatch")
    last = samples[-1]
    if last.waiting <= 0:
        return Estimate(0.0, "empty")
    started = last.arrived - last.waiting
    before_s = _passed_s(samples, started)
    reckoned = last.at_s - (samples[0].at_s if before_s is None else before_s)
    if signals.age_s is None or signals.age_at_s is None or signals.age_s <= reckoned:
        return Estimate(reckoned, "counts, at least" if before_s is None else "counts")
    emptied = any(sample.waiting <= 0 for sample in samples if sample.at_s >= signals.age_at_s)
    return Estimate(reckoned, "counts") if emptied else Estimate(signals.age_s, "cloudwatch")


def _passed_s(samples: Sequence[Sample], started: float) -> float | None:
    """When so much had arrived, evenly between the samples at the ends of a gap; None: before all of them."""
    after = samples[-1]
    for before in reversed(samples):
        if before.arrived <= started:
            missed = after.at_s - before.at_s > GAP_S and after.arrived > before.arrived
            share = (started - before.arrived) / (after.arrived - before.arrived) if missed else 0.0
            return before.at_s + share * (after.at_s - before.at_s)
        after = before
    return None


def older_shares(samples: Sequence[Sample], waiting: float, head_s: float, parts: int) -> tuple[float, ...]:
    """Of what waits, the shares older than 0, 1 … `parts` − 1 parts of the head's age; () where nothing can be told.

    Served in order, those younger than an age are those that came since. The tail of a dump is all of one age: taken as
    evenly old, most of it would seem to have time, until none has.

    >>> calm = [Sample(0.0, 0.0, 0.0, 0.0), Sample(40.0, 40.0, 40.0, 40.0)]
    >>> older_shares(calm, waiting=40.0, head_s=40.0, parts=4)
    (1.0, 0.75, 0.5, 0.25)
    >>> dump = [Sample(0.0, 0.0, 0.0, 0.0), Sample(1.0, 40.0, 40.0, 40.0), Sample(40.0, 40.0, 40.0, 40.0)]
    >>> older_shares(dump, waiting=40.0, head_s=39.0, parts=3)
    (1.0, 1.0, 1.0)
    """
    if len(samples) < 2 or waiting <= 0 or head_s <= 0:
        return ()
    samples = Samples.of(samples)
    first_s, last_s, so_far = samples.at_s[0], samples.at_s[-1], samples.arrived[-1]
    shares = [1.0]
    for then in arrived_by(samples, [max(first_s, last_s - head_s * part / parts) for part in range(1, parts)]):
        shares.append(at_most(shares[-1], at_least(1.0 - (so_far - then) / waiting, 0.0)))
    return tuple(shares)


def still_waited_s(samples: Sequence[Sample]) -> float:
    """What those that wait have waited so far, all together: the area of those older than x over all ages x.

    Served in order, they are the latest that came. After a dump most are as young as it is, however old the head. What
    was waited long ago has faded, as the counts have that it is compared with.
    """
    if not samples:
        return 0.0
    last, waited_s = samples[-1], 0.0
    older, until_s = last.waiting, last.at_s
    for sample in reversed(samples):
        left = at_most(older, last.waiting - (last.arrived - sample.arrived))
        span_s = until_s - sample.at_s
        if left <= 0:
            return waited_s + (span_s * older * older / (older - left) / 2 if older > 0 else 0.0)
        middle_s = last.at_s - (until_s + sample.at_s) / 2
        waited_s += span_s * (older + left) / 2 * math.exp(-middle_s / QUEUE_MEMORY_S)
        older, until_s = left, sample.at_s
    return waited_s
