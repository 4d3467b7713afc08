"""Little's law as a balance: what workers prove over minutes, held against what handlers and counts say.

L = λ W twice (J. D. C. Little, Operations Research 9, 1961). Of slots: busy slots on average = starts a second × the
time that each keeps a slot, so busy ÷ ends is a service time that no report can get wrong. Of the queue: messages that
wait on average = starts a second × the wait, so the waits measured are what the counts should have added up to.
"""

import math
from dataclasses import replace

from tidegate.core.bounds import at_least, at_most, within
from tidegate.core.model import Balance
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.signals.news import QUEUE_MEMORY_S
from tidegate.core.value import maker

__all__ = ["at_least_s", "count_scale", "learn_balance", "occupancy_s", "so_far_s", "usual_per_s", "without_queue"]

SLOTS_MEMORY_S = 900.0
ENDS_TRUSTED = 5.0
"""The time that all handlers have run, those that still run too, ÷ the runs that ended is the likeliest mean, from few
ends on (B. Epstein and M. Sobel, Life testing, JASA 48, 1953). The mean of those that ended is too short then."""

LATELY_S = 45.0
RUNS_THAT_PROVE = 5.0
PROOF_SIGMAS = 2.0
MOST_VARIATION = 4.0
"""Of the last minute: from so many runs on, less so many standard errors, it proves what a run takes at least."""

SPAN_TRUSTED_S = 600.0
LEAST_TIME, MOST_TIME = 0.6, 2.5
LEAST_SCALE, MOST_SCALE = 0.7, 2.5
"""Counts that read high cost money, counts that read low cost the target: the former are doubted less."""

BACKLOG_LEAST = 5.0
"""With fewer messages in the queue there is nothing to calibrate by."""

_balance = maker(Balance)


def learn_balance(known: Balance, fleet: FleetSignals | None, counted: float, elapsed_s: float) -> Balance:
    """Add a tick: slots busy, runs begun and ended since reports were last read; waits told and messages counted
    (`counted`, as the queue said) for the time that those waits tell of.

    What is counted while nothing starts belongs to it, as while a pool that had workers has none: it is in later waits.
    Of one that never had any nothing is added.
    """
    if elapsed_s <= 0 or (fleet is None and known.seen_s <= 0):
        return known
    waited_s, counted_s, span_s = _with_queue(known, fleet, counted, elapsed_s)
    if fleet is None:
        return replace(known, waited_s=waited_s, counted_s=counted_s, span_s=span_s)
    fade = math.exp(-fleet.since_s / SLOTS_MEMORY_S)
    runs_fade = fade if known.ran_s > 0 else 0.0  # a state of an older version knows no such sum
    if known.ends <= 0 and fleet.ends <= 0:
        runs_fade = 1.0  # those that run count from their beginning on (`so_far_s`)
    lately = math.exp(-fleet.since_s / LATELY_S)
    return _balance(
        busy_s=known.busy_s * runs_fade + fleet.busy * fleet.since_s,
        starts=known.starts * fade + fleet.starts,
        ends=known.ends * runs_fade + fleet.ends,
        ran_s=known.ran_s * fade + fleet.ends * _told_s(known, fleet),
        seen_s=known.seen_s * fade + fleet.since_s,
        lately_busy_s=known.lately_busy_s * lately + fleet.busy * fleet.since_s,
        lately_starts=known.lately_starts * lately + fleet.starts,
        lately_ends=known.lately_ends * lately + fleet.ends,
        waited_s=waited_s,
        counted_s=counted_s,
        span_s=span_s,
    )


def _told_s(known: Balance, fleet: FleetSignals) -> float:
    """The mean of the runs that reports tell of: ticks may miss some reports, and then know only how many ended."""
    if fleet.runs > 0:
        return fleet.service_time_sum_s / fleet.runs
    return known.ran_s / known.ends if known.ends > 0 else 0.0


def _with_queue(
    known: Balance, fleet: FleetSignals | None, counted: float, elapsed_s: float
) -> tuple[float, float, float]:
    """Waits told, messages counted, and for how long."""
    if counted < BACKLOG_LEAST:
        return known.waited_s, known.counted_s, known.span_s
    told_s = min(elapsed_s, fleet.told_s) if fleet and fleet.starts else elapsed_s
    waited_s = fleet.waits.sum_s if fleet and fleet.waits else 0.0
    fade = math.exp(-told_s / QUEUE_MEMORY_S)
    counted_s, span_s = known.counted_s + counted * told_s, known.span_s + told_s
    return (known.waited_s + waited_s) * fade, counted_s * fade, span_s * fade


def without_queue(balance: Balance) -> Balance:
    """The same with nothing known of the queue: what was moved here has waited elsewhere, which tells nothing of it."""
    return replace(balance, waited_s=0.0, counted_s=0.0, span_s=0.0)


def occupancy_s(balance: Balance, reported_s: float, variation: float = 1.0) -> float:
    """The service time: as reported, and as the balance of busy slots has it, the more handler runs it rests on.

    What the balance tells over a quarter of an hour is by how much reports are wrong, not how long runs are now.
    Slot-seconds busy ÷ those of the runs that ended: what still runs counts with the time it has taken so far. The mean
    of those that have ended is too short while a pool is young: short runs end first; but only so far as runs differ
    (`variation`, squared coefficient): of runs all alike, half done ones tell nothing. ÷ the mean of starts and ends it
    is too short while busy slots rise; where they do not, the two are the same.
    """
    if balance.ends <= 0 or balance.ran_s <= 0:
        return reported_s
    trust = balance.ends / (balance.ends + ENDS_TRUSTED)
    by_ends = balance.busy_s / balance.ran_s
    by_both = 2.0 * by_ends * balance.ends / (balance.starts + balance.ends)
    low, high = (by_ends, by_both) if by_ends < by_both else (by_both, by_ends)
    likely = 1.0 + at_most(variation, 1.0) * at_least(by_ends - 1.0, 0.0)
    found = within(at_most(at_least(likely, low), high), LEAST_TIME, MOST_TIME)
    return reported_s * (1.0 + trust * (found - 1.0))


def so_far_s(balance: Balance, fleet: FleetSignals | None) -> float:
    """What runs have taken on average, before the first of them has ended: the least that the service time can be.

    While none has ended, all that began are busy. A slot that is busy now may have been idle for most of the time since
    the last report, so a heartbeat is taken off. 0 where nothing is proven, or some have ended.
    """
    if fleet is None or balance.ends > 0 or fleet.busy <= 0:
        return 0.0
    return at_least(balance.busy_s / fleet.busy - fleet.heartbeat_s, 0.0)


def at_least_s(balance: Balance, believed_s: float, variation: float) -> float:
    """The service time as believed, or longer where the last minute proves it.

    Reports tell of runs that have ended, and a mean over minutes goes on remembering the short ones. Where runs become
    longer, starts and ends become fewer at once while slots stay busy: slot-seconds ÷ the more frequent of the two,
    less the standard errors of so few runs. Shorter runs are believed as reports tell of them.
    """
    runs = at_most(balance.lately_starts, balance.lately_ends)
    if runs < RUNS_THAT_PROVE:
        return believed_s
    found_s = balance.lately_busy_s / max(balance.lately_starts, balance.lately_ends)
    error = math.sqrt(within(variation, 1.0, MOST_VARIATION) / runs)
    return at_least(believed_s, at_most(found_s * (1.0 - PROOF_SIGMAS * error), MOST_TIME * believed_s))


def count_scale(balance: Balance, still_waited_s: float = 0.0) -> float:
    """By what the counts have to be multiplied to agree with the waits measured; 1 before there is evidence.

    `still_waited_s` is what those that wait now have waited so far, all together. Over a stretch of time the law holds
    with them only: while a backlog grows, those that have started had the short waits. Their waits are reckoned from
    counts themselves, so they prove nothing: the smaller the part of those measured, the less is made of it.
    """
    if balance.counted_s <= 0:
        return 1.0
    waited_s = balance.waited_s + still_waited_s
    proven = balance.waited_s / waited_s if waited_s > 0 else 1.0
    trust = at_most(balance.span_s / SPAN_TRUSTED_S, 1.0) * proven
    found = within(waited_s / balance.counted_s, LEAST_SCALE, MOST_SCALE)
    return 1.0 + trust * (found - 1.0)


def usual_per_s(balance: Balance) -> float:
    """Starts a second over the last quarter of an hour, or for as long as they have been counted."""
    return balance.starts / balance.seen_s if balance.seen_s > 0 else 0.0
