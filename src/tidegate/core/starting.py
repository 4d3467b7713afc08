"""Workers that were asked for and never take work: a broken image, no capacity, a role that lacks a right.

The platform goes on trying by itself, so nothing is lost by not asking for more; and asking for more, because the
backlog grows, would only fill the pool to its maximum with workers that do not start.
"""

from tidegate.core.decision import Reason
from tidegate.core.guardrails import Limit
from tidegate.core.memory import Presence
from tidegate.core.model import PoolState
from tidegate.core.observation import Capacity
from tidegate.core.signals import Signals

__all__ = ["learn_presence", "started"]

START_UPS = 3.0
LEAST_S = 300.0
"""A start-up of minutes is normal where images are large: patience is three of them, five minutes at least."""


def learn_presence(state: PoolState, signals: Signals, capacity: Capacity, now_s: float) -> Presence:
    """Who is there now, and since when none of the missing has come.

    There is a worker of the SDK when it reports, which it does from its first receive on; another when it runs. One
    that was there and fell silent is there while it runs: a table that takes no reports must not look like a fleet that
    does not start. Where workers without reports are usual, all that run are there.
    """
    known = state.presence
    if not signals.fleet_readable:
        return known
    there = capacity.running
    if state.reported_at_s is not None and not signals.hearing.mixed:
        there = max(signals.fleet.workers if signals.fleet else 0, min(there, known.there))
    if there >= capacity.desired:
        return Presence(there)
    if known.missing_since_s is None or there > known.most:
        return Presence(there, there, now_s)
    return Presence(there, known.most, known.missing_since_s)


def started(workers: int, current: int, presence: Presence, start_up_s: float, now_s: float) -> Limit:
    """No more workers while those asked for do not come."""
    since_s = presence.missing_since_s
    if since_s is None or workers <= current or now_s - since_s <= max(START_UPS * start_up_s, LEAST_S):
        return Limit(workers)
    note = (
        f"{max(0, current - presence.most)} of {current} workers have not begun to take work in "
        f"{(now_s - since_s) / 60:.0f} min: no more are asked for until one does (look at why they do not start)"
    )
    return Limit(current, Reason.NOT_STARTING, note)
