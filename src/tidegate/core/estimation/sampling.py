"""The samples of arrivals that a pool remembers: what has come so far, by conservation of counts."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from tidegate.core.estimation.arrivals import long_window_s, steady_window_s
from tidegate.core.estimation.counts import believed_waiting
from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Pool, Sample
from tidegate.core.signals.read import Freshness, Signals

__all__ = ["extend_samples"]

HISTORY_S = 600.0
"""Arrivals remembered, or the target wait where that is longer: what the head age can be read off, and the surges."""

SAMPLES_PER_WINDOW = 60
APART_LEAST = 0.9
"""Of a sixtieth: ticks come a little early and a little late, and every other one would go else."""

RECENT_TICKS = 4

_FRESH: Final = Freshness.FRESH


def extend_samples(
    pool: Pool,
    samples: Sequence[Sample],
    now_s: float,
    signals: Signals,
    mean_s: float,
    count_error: float = 0.0,
    scale: float = 1.0,
    unsampled: float = 0,
    window_pairs_s: float = 0.0,
) -> Samples:
    """Append this tick's cumulative arrivals, by conservation: what came = what is there now − what was + what left.

    What left is what workers started, each start once, or CloudWatch's deletions where no worker reports, or what was
    in flight for its service time (`mean_s`) where neither tells. Single steps may be negative (counts are approximate
    and late); the sum evens out, so nothing is clamped here.
    What the queue counts as waiting is multiplied by `scale` first (`balance.count_scale`). `unsampled` are starts
    of earlier ticks that no sample could take in. Samples reach back over `window_pairs_s` at least: a blind window and
    the one before it, by which surges are told.
    """
    samples = Samples.of(samples)
    if signals.counts is not _FRESH:
        return samples  # a queue that could not be read would look like a fall now and a burst later
    if not signals.fleet_heard:
        return samples  # what silent workers complete is in the first report that arrives again
    waiting = believed_waiting(pool, samples, signals, now_s, count_error, scale, unsampled)
    counted = scale * signals.waiting
    in_hand = counted + signals.in_flight
    if not samples:
        return samples.then(Sample(now_s, in_hand, waiting, in_hand, counted))
    last = samples[-1]
    if now_s <= last.at_s:
        return samples
    arrived = last.arrived + _arrived_since(last, waiting, in_hand, signals, now_s, unsampled, mean_s)
    sample = Sample(now_s, arrived, waiting, in_hand, counted)
    window_s = long_window_s(pool, mean_s, signals.fleet.heartbeat_s if signals.fleet else 0.0)
    pairs_s = window_pairs_s * (1.0 + 2.0 / SAMPLES_PER_WINDOW) + pool.tick_s
    history_s = max(HISTORY_S, window_s, steady_window_s(pool), pairs_s)
    oldest = bisect_left(samples.at_s, now_s - history_s, 0, len(samples) - 1)  # after a gap: the one before it
    if samples.apart_s >= APART_LEAST * history_s / SAMPLES_PER_WINDOW:  # most pools at most ticks
        return samples.then(sample, oldest)
    latest_s = RECENT_TICKS * pool.tick_s
    return Samples.of((*_thinned(samples, oldest, (now_s - window_s, now_s - latest_s), (history_s, window_s)), sample))


def _arrived_since(
    last: Sample, waiting: float, in_hand: float, signals: Signals, now_s: float, unsampled: float, mean_s: float
) -> float:
    """What waits more now, and what workers have started since: their own count, which is exact.

    What is in flight is then not needed, and its error stays out. A message that comes back after a failure has arrived
    once more: it is work once more. Without reports: what is there more now, and what CloudWatch saw deleted; without
    that, what can have been completed of what was in flight, in its service time (Little's law: a service time that is
    wrong makes the rate of what is worked on as wrong the other way, and leaves their product, the load, as it is).
    """
    if signals.fleet is not None:
        return waiting - last.waiting + signals.fleet.starts + unsampled
    left_per_s = signals.deleted_per_s
    if left_per_s is None:
        flying = (signals.in_flight + last.in_hand - last.counted) / 2
        left_per_s = min(flying, signals.slots_at_most) / mean_s if mean_s > 0 else 0.0
    return in_hand - last.in_hand + left_per_s * (now_s - last.at_s)


def _thinned(samples: Samples, oldest: int, until_s: tuple[float, float], parts_s: tuple[float, float]) -> list[Sample]:
    """All samples of the last ticks; of older ones about sixty per window; none beyond the history.

    Up to each time of `until_s` about as far apart as a sixtieth of the span of `parts_s` that belongs to it.
    """
    kept: list[Sample] = []
    kept_at_s, begin = -math.inf, oldest
    for end_s, part_s in zip(until_s, parts_s, strict=True):
        end = bisect_left(samples.at_s, end_s)
        for sample in samples[begin:end]:
            if sample.at_s - kept_at_s >= APART_LEAST * part_s / SAMPLES_PER_WINDOW:
                kept.append(sample)
                kept_at_s = sample.at_s
        begin = max(begin, end)
    return [*kept, *samples[begin:]]
