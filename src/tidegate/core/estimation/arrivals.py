"""Arrival rates, as they are read off the samples that `core.estimation.sampling` keeps."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import mul, sub

from tidegate.core.bounds import at_least, at_most, within
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Pool, Sample
from tidegate.core.signals.read import Signals

__all__ = [
    "arrivals_per_s",
    "arrived_by",
    "chance_per_s",
    "long_window_s",
    "mean_per_s",
    "slope_per_s",
    "steady_per_s",
    "steady_window_s",
    "window_pair_per_s",
    "windowed_per_s",
]

SLOW_WINDOW_S = 300.0
CHANCE_SIGMAS = 2.0
RECENT_STEPS = 6
STEADY_LEAST_S = 300.0
STEADY_TARGETS = 1.0
STEADY_PARTS, DUMPED_PARTS = 8, 2
"""What falls into a quarter of the time is a dump and no rate."""

LONG_WINDOW_S = 60.0
LONGEST_WINDOW_S = 600.0

COVERED = 0.75
"""Of a window, what samples have to cover of it."""

SIGMAS = 3.0


def long_window_s(pool: Pool, mean_s: float, heartbeat_s: float = 0.0) -> float:
    """What a steady rate is taken over: a minute, six ticks or heartbeats, or three service times up to ten minutes.

    Long jobs are counted in whole jobs: over less time their rate would be chance.
    """
    return max(LONG_WINDOW_S, 6 * pool.tick_s, 6 * heartbeat_s, at_most(3 * mean_s, LONGEST_WINDOW_S))


def arrivals_per_s(
    pool: Pool, samples: Sequence[Sample], signals: Signals, mean_s: float, count_error: float
) -> Estimate:
    """The arrival rate: over the long window, or over the last ticks when those differ by more than chance allows.

    A short window that is off the long one's rate by more than three standard deviations is a jump and not noise. It
    has to be so over two ticks and over three: a single reading that is wrong shows in one of them only. Without
    workers' reports and without CloudWatch's deletions the counts only show what was added on balance; then
    CloudWatch's Sent stands in when it is the larger.
    """
    samples = Samples.of(samples)
    if len(samples) < 2:  # one look shows what is there, not what comes
        return Estimate(signals.sent_per_s or 0.0, "unmeasured" if signals.sent_per_s is None else "cloudwatch")
    heartbeat_s = signals.fleet.heartbeat_s if signals.fleet else 0.0
    window_s = long_window_s(pool, mean_s, heartbeat_s)
    # with reports a job is counted when it starts, however long it takes: a minute will do
    shorter_s = window_s if signals.fleet is None else long_window_s(pool, 0.0, heartbeat_s)
    if pool.plain:
        long, error = windowed_per_s(samples, window_s), 0.0
    else:
        long, error = _steady_rate(samples, window_s, shorter_s, count_error)
    short_s = 2 * at_least(pool.tick_s, heartbeat_s)
    two, three = windowed_per_s(samples, short_s), windowed_per_s(samples, 1.5 * short_s)
    short_s = at_most(short_s, samples.at_s[-1] - samples.at_s[0])  # of a young pool it is one tick
    nearest = two if abs(two - long) <= abs(three - long) else three
    noise = 0.0 if pool.plain else math.sqrt(2) * count_error * _mean(samples.waiting[-RECENT_STEPS:])
    # by the mean of the two: a fall must not hide in the spread of what was, nor a rise in that of what was not yet
    deviation = math.hypot(_deviation_per_s((long + nearest) / 2, short_s, signals), noise / short_s)
    jumps = abs(nearest - long) > SIGMAS * deviation
    rate = Estimate(nearest, "counts, jump", deviation) if jumps else Estimate(long, "counts", error)
    if signals.fleet is None and signals.sent_per_s is not None and signals.sent_per_s > rate.value:
        return Estimate(signals.sent_per_s, "cloudwatch")
    return rate


def chance_per_s(samples: Sequence[Sample], arrivals: Estimate, count_error: float) -> float:
    """One standard deviation of the steady rate, in messages a second: Poisson arrivals, and the counts' error.

    No share of the rate: of hardly any arrivals into a long queue the counts' error would be a hundred times as much.
    """
    if len(samples) < 2:
        return 0.0
    span_s = at_most(samples[-1].at_s - samples[0].at_s, SLOW_WINDOW_S)
    noise = count_error * _mean(Samples.of(samples).waiting[-RECENT_STEPS:])
    return math.sqrt(1.2 * arrivals.value * span_s + 12 * noise**2 / len(samples)) / span_s


def _deviation_per_s(rate_per_s: float, window_s: float, signals: Signals) -> float:
    """Standard deviation of a rate that is counted over `window_s`.

    Poisson arrivals: rate ÷ window. And completions come in lumps, one per worker and heartbeat, of which the window
    may catch one more or less: uniform within a lump at each end, a sixth of its square. Where only some report, their
    chance stands for all.
    """
    variance = at_least(rate_per_s, 1 / window_s) / window_s
    if signals.fleet is not None:
        reporting = signals.fleet.workers - signals.fleet.unheard
        lump = rate_per_s * signals.fleet.heartbeat_s / reporting
        variance *= signals.fleet.workers / reporting
        variance += reporting * lump**2 / 6 / window_s**2
    return math.sqrt(variance)


def _steady_rate(samples: Samples, window_s: float, shorter_s: float, count_error: float) -> tuple[float, float]:
    """The slope over five minutes, and over shorter windows instead as far as they differ from it by more than chance.

    The shorter one asks more of a difference: a second look finds one by chance more often. Without it a surge that is
    older than the last ticks would be lost again in the mean of what was before it. And the error that the rate has
    from the shorter ones, as far as it goes by them: one standard deviation.
    """
    slow = slope_per_s(samples, at_least(window_s, SLOW_WINDOW_S))
    rate, error = _refined(slow, samples, window_s, count_error, CHANCE_SIGMAS)
    if shorter_s >= window_s:
        return rate, error
    rate, more = _refined(rate, samples, shorter_s, count_error, SIGMAS)
    return rate, math.hypot(error, more)


def _refined(slow: float, samples: Samples, window_s: float, count_error: float, sigmas: float) -> tuple[float, float]:
    """Off by `sigmas` standard deviations: all of `slow`; by one more: all of the window's slope; a share in between.

    And as much of the window's standard deviation.
    """
    quick = slope_per_s(samples, window_s)
    begin = bisect_left(samples.at_s, samples.at_s[-1] - window_s, 0, len(samples) - 2)
    noise = count_error * _mean(samples.waiting[begin:])
    # a slope over n points: 12/n of the points' own variance, 6/5 of the Poisson variance of the ends' difference
    variance = 1.2 * at_least(slow, 1 / window_s) / window_s + 12 * noise**2 / (len(samples) - begin) / window_s**2
    deviation = math.sqrt(variance)
    share = within(abs(quick - slow) / deviation - sigmas, 0.0, 1.0)
    return slow + share * (quick - slow), share * deviation


def _mean(waiting: Sequence[float]) -> float:
    """Messages that waited, on average: what an error of the counts is a share of."""
    return sum(waiting) / len(waiting)


def slope_per_s(samples: Samples, window_s: float, ago_s: float = 0.0) -> float:
    """Arrivals a second as the least squares' slope over the window that ended `ago_s` before the latest sample.

    Where a gap leaves the beginning of it without a sample, from the one before the gap on: the error of a few counts
    would else be divided by seconds.
    """
    end_s = samples.at_s[-1] - ago_s
    begin = bisect_left(samples.at_s, end_s - window_s - 1e-6)
    end = bisect_right(samples.at_s, end_s + 1e-6) if ago_s else len(samples)
    if 0 < begin < end and samples.at_s[begin] > end_s - COVERED * window_s:
        begin -= 1
    if end - begin < 2:
        return windowed_per_s(samples, window_s)
    origin = samples.arrived[-1]  # of large sums rounding would leave a trace, which keeps a worker where nothing comes
    since_s = [at_s - end_s for at_s in samples.at_s[begin:end]]
    arrived = [so_far - origin for so_far in samples.arrived[begin:end]]
    middle_s = sum(since_s) / len(since_s)
    came = sum(map(mul, since_s, arrived)) - middle_s * sum(arrived)
    return came / (sum(map(mul, since_s, since_s)) - middle_s * sum(since_s)) if came > 0 else 0.0


def window_pair_per_s(samples: Sequence[Sample], window_s: float) -> tuple[float, float] | None:
    """Arrivals a second over the window before the latest one, and over that; None before there are two."""
    samples = Samples.of(samples)
    if not samples or samples.at_s[0] > samples.at_s[-1] - 2 * window_s:
        return None
    return slope_per_s(samples, window_s, window_s), slope_per_s(samples, window_s)


def mean_per_s(samples: Sequence[Sample], pool: Pool, arrivals: Estimate) -> float:
    """Arrivals a second over the target wait, five minutes at least. Without samples the present rate."""
    return windowed_per_s(Samples.of(samples), steady_window_s(pool)) if len(samples) > 1 else arrivals.value


def steady_per_s(samples: Sequence[Sample], pool: Pool, arrivals: Estimate) -> float:
    """The arrival rate that has lasted: as `mean_per_s`, without the quarter of that time in which most came.

    What comes on top can wait, where waiting is affordable: it is backlog, and is worked off as such. Counted as a rate
    as well, a dump would be bought for twice.
    """
    if len(samples) < 2:
        return arrivals.value
    samples = Samples.of(samples)
    last_s, span_s = samples.at_s[-1], at_most(steady_window_s(pool), samples.at_s[-1] - samples.at_s[0])
    part_s = span_s / STEADY_PARTS
    arrived = arrived_by(samples, [last_s - span_s + part_s * n for n in range(STEADY_PARTS + 1)])
    parts: list[float] = sorted(map(sub, arrived[1:], arrived))[: STEADY_PARTS - DUMPED_PARTS]
    return at_least(sum(parts), 0.0) / (part_s * len(parts))


def steady_window_s(pool: Pool) -> float:
    """What a rate has to last for: the target wait, five minutes at least."""
    return at_least(STEADY_TARGETS * pool.target_wait_s, STEADY_LEAST_S)


def arrived_by(samples: Samples, times_s: Iterable[float]) -> list[float]:
    """Cumulative arrivals at times within the samples, evenly between two of them."""
    at_s, arrived, last = samples.at_s, samples.arrived, len(samples) - 1
    found = []
    for time_s in times_s:
        n = bisect_left(at_s, time_s, 1, last)
        after_s, so_far = at_s[n], arrived[n]
        if time_s < after_s:
            before_s, before = at_s[n - 1], arrived[n - 1]
            so_far = before + (so_far - before) * ((time_s - before_s) / (after_s - before_s))
        found.append(so_far)
    return found


def windowed_per_s(samples: Samples, window_s: float) -> float:
    """Mean arrivals a second over the samples that reach back `window_s` (after a gap, to the one before it)."""
    if len(samples) < 2:
        return 0.0
    last_s = samples.at_s[-1]
    first = bisect_left(samples.at_s, last_s - window_s - 1e-6, 0, len(samples) - 2)
    if first > 0 and samples.at_s[first] > last_s - COVERED * window_s:
        first -= 1
    return at_least((samples.arrived[-1] - samples.arrived[first]) / (last_s - samples.at_s[first]), 0.0)
