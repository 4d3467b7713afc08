"""What waits, and for how long the oldest has: read off cumulative arrivals against what waits."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter

from tidegate.core.estimate import Estimate
from tidegate.core.model import Pool, Sample
from tidegate.core.signals import Signals

__all__ = [
    "head_age_s",
    "waiting",
]

WINDOW_S = 60.0

_at_s = attrgetter("at_s")


def waiting(samples: Sequence[Sample], arrivals: Estimate, signals: Signals, pool: Pool, count_error: float) -> float:
    """Messages that wait: the last readings, each carried on to now at the arrival rate less what was started since.

    Weighted by the inverse of their variances: a reading of Q messages is off by `count_error` × Q, and a carried one
    as well by what chance makes of the arrivals since. Exact counts are taken as they are, doubtful ones as the mean of
    a minute. After a jump: the last ticks'. The plain formula takes the count as it is.
    """
    if not samples or pool.plain:
        return signals.waiting
    last = samples[-1]
    window_s = 3 * pool.tick_s if arrivals.source.endswith("jump") else WINDOW_S
    recent = samples[bisect_left(samples, last.at_s - window_s - 1e-6, key=_at_s) :]
    noise = (count_error * sum(s.waiting for s in recent) / len(recent)) ** 2
    weights = [1.0 / (1.0 + noise + arrivals.value * (last.at_s - s.at_s)) for s in recent]
    ahead = [s.arrived - last.arrived + arrivals.value * (last.at_s - s.at_s) for s in recent]
    carried = sum(weight * more for weight, more in zip(weights, ahead, strict=True)) / sum(weights)
    return max(0.0, last.waiting + carried)


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
    before = [sample for sample in samples if sample.arrived <= started]
    arrived_at_s = before[-1].at_s if before else samples[0].at_s
    reckoned = last.at_s - arrived_at_s
    if signals.age_s is None or signals.age_at_s is None or signals.age_s <= reckoned:
        return Estimate(reckoned, "counts" if before else "counts, at least")
    emptied = any(sample.waiting <= 0 for sample in samples if sample.at_s >= signals.age_at_s)
    return Estimate(reckoned, "counts") if emptied else Estimate(signals.age_s, "cloudwatch")
