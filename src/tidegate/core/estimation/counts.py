"""How far a queue's counts can be believed: learned from what they contradict, and corrected by what workers prove."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import sub

from tidegate.core.bounds import at_least
from tidegate.core.estimation.samples import Samples
from tidegate.core.model import Pool, Sample
from tidegate.core.signals.read import Signals

__all__ = ["believed_waiting", "learn_count_error"]

STALE_S = 60.0
"""Counts "can take a minute or more to converge" (API_GetQueueAttributes)."""

STALE_FACTOR = 1.5
"""A stale count is off as any other is: it may show so much more than ever waited in that minute."""

HARDLY_S = 10.0
"""Who waited no longer hardly waited, however long a tick is: between two jobs any slot is idle for a moment."""

CERTAIN_SIGMAS = 2.0
ERROR_AT_MOST = 0.2
"""Of a single count, staleness aside."""

GONE_SHARE = 0.1
"""Two counts running below so much of all before: those messages have left unstarted (core/estimation/removals.py)."""

STEPS = 30
STEPS_FROM = 4
"""Fewer readings with a backlog say nothing of the counts' error."""

STEPS_TRUSTED = 20.0
BACKLOG_LEAST = 10.0
"""Of fewer messages the arrivals' own chance makes more than any error of the count."""

MEDIAN_TO_SIGMA = 1.4826


def believed_waiting(
    pool: Pool,
    samples: Sequence[Sample],
    signals: Signals,
    now_s: float,
    count_error: float,
    scale: float = 1.0,
    unsampled: float = 0,
) -> float:
    """Messages that wait, by the count and by what workers prove. The plain formula takes the count as it is.

    The count is multiplied by `scale` first. `unsampled` more have been started since the last sample.

    None where the workers prove it and a count can be explained as stale: a worker that polls has an idle slot, and
    what was started lately had hardly waited; or there are more idle slots than starts since the last tick, and nothing
    but an empty queue can keep them idle (a FIFO group or a class that is at its limit could). A burst that nothing in
    the last minute explains is believed at once.
    Else at least what an earlier count of the last minute leaves when all starts since are taken off: messages do not
    go unstarted, so a count that falls faster than work was begun is the stale one; unless it does so twice and by far
    from a backlog that has stood for as long as counts can be late, which tells of a purge or of others who take
    messages. In the first minute of a burst one count after the other may be from before it.
    """
    counted, fleet = scale * signals.waiting, signals.fleet
    if pool.plain or fleet is None or not samples:
        return counted
    samples = Samples.of(samples)
    begin = bisect_left(samples.at_s, now_s - STALE_S - pool.tick_s)
    recent = samples.counted[begin:]
    if _idle_and_prompt(pool, signals):
        explained = STALE_FACTOR * max(recent, default=0.0)
        return 0.0 if counted <= explained else counted
    sure = 1.0 / (1.0 + CERTAIN_SIGMAS * count_error)
    left = _left_of(samples, _first_valid(samples, begin, now_s, counted), sure, fleet.starts + unsampled)
    return max(counted, *left, 0.0)


def _left_of(samples: Samples, begin: int, sure: float, starts: float) -> list[float]:
    """What the surely counted part of each count from `begin` on leaves when all starts since are taken off."""
    last = samples[-1]
    started = last.arrived - last.waiting + starts
    return [
        sure * then - (started - (arrived - waiting))
        for then, arrived, waiting in zip(
            samples.counted[begin:], samples.arrived[begin:], samples.waiting[begin:], strict=True
        )
    ]


def _first_valid(samples: Samples, begin: int, now_s: float, counted: float) -> int:
    """The place, `begin` or later, from which on counts still hold: after the high ones where those messages are gone.

    They are where counts fell by far, twice running at least, after nothing but high ones since before the lag. In a
    pool that is younger than the lag, too, each low one may be from before a burst.
    """
    since = min(begin, bisect_right(samples.at_s, now_s - STALE_S) - 1)
    if since < 0:
        return begin
    earlier = samples.counted[since:]
    lowest = GONE_SHARE * max(earlier)
    high = [count >= lowest for count in earlier]
    stood = sum(high)
    gone = counted < lowest and stood < len(earlier) and all(high[:stood])
    return max(begin, since + stood) if gone else begin


def _idle_and_prompt(pool: Pool, signals: Signals) -> bool:
    fleet = signals.fleet
    if fleet is None or fleet.idle == 0:
        return False
    if fleet.starts < fleet.idle and not fleet.classed and not signals.in_groups:
        return True  # a slot that polls while a message waits for it starts one
    return fleet.waits is not None and fleet.waits.p99_s <= min(HARDLY_S, pool.tick_s, pool.target_wait_s / 2)


def learn_count_error(known: float, samples: Sequence[Sample]) -> float:
    """Follow the counts' relative error: by how much the arrivals reckoned from one step contradict the next one's.

    Each reading of Q messages is off by e Q, so the difference of two successive steps varies by 6 e² Q²; what chance
    makes of the arrivals themselves (twice a step) is taken off. Where chance makes more than the largest error would,
    as in a short queue of a busy pool, a step tells nothing: taken in, it would read as exact. By the median, which a
    jump of the traffic does not move: it spoils one or two differences.
    """
    samples = Samples.of(samples)
    if max(samples.waiting[-STEPS - 2 :], default=0.0) < BACKLOG_LEAST:
        return known
    waited, arrived = _last_three(samples.waiting), _last_three(samples.arrived)
    firsts, seconds = map(sub, arrived[1], arrived[0]), map(sub, arrived[2], arrived[1])
    errors = []
    for a, b, c, first, second in zip(*waited, firsts, seconds, strict=False):
        backlog = (a + b + c) / 3
        if backlog >= BACKLOG_LEAST and abs(first + second) <= 6 * (ERROR_AT_MOST * backlog) ** 2:
            errors.append(at_least((second - first) ** 2 - abs(first + second), 0.0) / (6 * backlog**2))
    if len(errors) < STEPS_FROM:
        return known
    found = MEDIAN_TO_SIGMA * math.sqrt(sorted(errors)[len(errors) // 2])
    return known + (min(found, ERROR_AT_MOST) - known) * len(errors) / (len(errors) + STEPS_TRUSTED)


def _last_three(column: Sequence[float]) -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
    """The latest readings, each beside the one after it and the one after that."""
    last = column[-STEPS - 2 :]
    return last, last[1:], last[2:]
