"""What waits in queues whose counts can't be read, by how long messages have waited.

Served in order, what has been started so far is what had come up to a wait ago; what has come since waits (J. D. C.
Little, A Proof for the Queuing Formula L = λW, 1961). Enough to go by: age outranks counts, and as long as some are
missing nothing is scaled in.
"""

from dataclasses import replace

from tidegate.core.estimation.estimate import Estimate
from tidegate.core.estimation.load import Load
from tidegate.core.model import PoolState, Sample
from tidegate.core.signals.read import Freshness, Signals

__all__ = ["unread_wait_s", "with_unread"]

PROMPT_S = 10.0
"""Who waited no longer hardly waited: between two jobs any slot is idle for a moment."""

_NOTHING_TO_RECKON = (Freshness.FRESH, Freshness.GONE)

SPAN_LEAST_S = 60.0
"""Of arrivals, to be a rate: over less, one that comes early or late makes too much of it."""


def unread_wait_s(state: PoolState, signals: Signals) -> float | None:
    """How long messages have waited of late, in seconds, where counts are missing, stale or denied; None: not long.

    Workers tell it of what they started; where none reports or nothing was started, CloudWatch's age does. Slots that
    stay idle would have taken what waits. Nothing is told by waits in which a delay is, or those of messages that were
    moved here; nor without any sample, for then no arrival rate is known to go by.
    """
    fleet = signals.fleet
    if signals.counts in _NOTHING_TO_RECKON or (fleet is not None and fleet.idle > fleet.starts):
        return None
    if not state.samples or state.delayed or state.moved_in is not None:
        return None
    waited_s = signals.age_s if fleet is None or fleet.waits is None else fleet.waits.mean_s
    return waited_s if waited_s is not None and waited_s > PROMPT_S else None


def with_unread(load: Load, state: PoolState, signals: Signals, now_s: float) -> Load:
    """The load with at least as much backlog, as old, as the waits prove, and as many arrivals.

    `state` is that after this tick: its last sample is of the time when all counts could be read. What waits now waited
    then or has come since, however old it is: messages that are retried are older.
    """
    waited_s = unread_wait_s(state, signals)
    if waited_s is None:
        return load
    last, arrivals, head_age = state.samples[-1], load.arrivals, load.head_age
    since_s = now_s - last.at_s
    came_per_s = _came_per_s(state, last, signals, since_s - waited_s)
    if came_per_s > arrivals.value:
        arrivals = Estimate(came_per_s, "waits")
    waiting = min(arrivals.value * waited_s, last.waiting + arrivals.value * since_s)
    waited_s = min(waited_s, head_age.value + since_s)
    if waited_s > head_age.value:
        head_age = Estimate(waited_s, "waits")
    return replace(load, arrivals=arrivals, waiting=max(load.waiting, waiting), head_age=head_age, older=())


def _came_per_s(state: PoolState, last: Sample, signals: Signals, span_s: float) -> float:
    """Arrivals since the last sample and for so long, which is until those came that start now; 0: nobody tells."""
    if signals.fleet is None or span_s < SPAN_LEAST_S:
        return 0.0
    return (state.unsampled - last.waiting) / span_s
