"""What waits, and for how long the oldest has: read off cumulative arrivals against what waits."""

from bisect import bisect_left
from collections.abc import Sequence
from operator import mul

from tidegate.core.estimate import Estimate
from tidegate.core.model import Pool, Sample
from tidegate.core.samples import Samples
from tidegate.core.signals import Signals

__all__ = [
    "head_age_s",
    "waiting",
]

WINDOW_S = 60.0


def waiting(samples: Sequence[Sample], arrivals: Estimate, signals: Signals, pool: Pool, count_error: float) -> float:
    """Messages that wait: the last readings, each carried on to now at the arrival rate less what was started since.

    Weighted by the inverse of their variances: a reading of Q messages is off by `count_error` × Q, and a carried one
    as well by what chance makes of the arrivals since. Exact counts are taken as they are, doubtful ones as the mean of
    a minute. After a jump: the last ticks'. The plain formula takes the count as it is.
    """
    if not samples or pool.plain:
        return signals.waiting
    samples = Samples.of(samples)
    last = samples[-1]
    window_s = 3 * pool.tick_s if arrivals.source.endswith("jump") else WINDOW_S
    begin = bisect_left(samples.at_s, last.at_s - window_s - 1e-6)
    noise = (count_error * sum(samples.waiting[begin:]) / (len(samples) - begin)) ** 2
    since = [arrivals.value * (last.at_s - at_s) for at_s in samples.at_s[begin:]]
    weights = [1.0 / (1.0 + noise + more) for more in since]
    ahead = [arrived - last.arrived + more for arrived, more in zip(samples.arrived[begin:], since, strict=True)]
    carried: float = sum(map(mul, weights, ahead)) / sum(weights)
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
    before_s = next((sample.at_s for sample in reversed(samples) if sample.arrived <= started), None)
    reckoned = last.at_s - (samples[0].at_s if before_s is None else before_s)
    if signals.age_s is None or signals.age_at_s is None or signals.age_s <= reckoned:
        return Estimate(reckoned, "counts, at least" if before_s is None else "counts")
    emptied = any(sample.waiting <= 0 for sample in samples if sample.at_s >= signals.age_at_s)
    return Estimate(reckoned, "counts") if emptied else Estimate(signals.age_s, "cloudwatch")
