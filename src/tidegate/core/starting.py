"""Workers that were asked for and never take work: a broken image, no capacity, a role that lacks a right.

The platform goes on trying by itself, so nothing is lost by not asking for more; and asking for more, because the
backlog grows, would only fill the pool to its maximum with workers that do not start.
"""

from tidegate.core.guardrails import Limit
from tidegate.core.memory import Stalled
from tidegate.core.model import PoolState, Reason
from tidegate.core.observation import Capacity
from tidegate.core.signals import Signals

__all__ = ["learn_stalled", "started"]

START_UPS = 3.0
LEAST_S = 300.0
"""A start-up of minutes is normal where images are large: patience is three of them, five minutes at least."""


def learn_stalled(state: PoolState, signals: Signals, capacity: Capacity, now_s: float) -> Stalled | None:
    """Since when no missing worker has come, and how many there were then at best; None: all are there.

    There is a worker of the SDK when it reports, which it does from its first receive on; another when it runs.
    """
    if not signals.fleet_readable:
        return state.stalled
    reporting = signals.fleet.workers + signals.fleet.drained if signals.fleet else 0
    there = reporting if state.reported_at_s is not None else capacity.running
    if there >= capacity.desired:
        return None
    if state.stalled is None or there > state.stalled.there:
        return Stalled(now_s, there)
    return state.stalled


def started(workers: int, current: int, stalled: Stalled | None, start_up_s: float, now_s: float) -> Limit:
    """No more workers while those asked for do not come."""
    if stalled is None or workers <= current or now_s - stalled.since_s <= max(START_UPS * start_up_s, LEAST_S):
        return Limit(workers)
    missing, minutes = max(0, current - stalled.there), (now_s - stalled.since_s) / 60
    note = (
        f"{missing} of {current} workers have not begun to take work in {minutes:.0f} min: no more are asked for "
        "until one does (look at why they do not start)"
    )
    return Limit(current, Reason.NOT_STARTING, note)
