"""Workers that were asked for and never take work: a broken image, no capacity, a role that lacks a right.

The platform goes on trying by itself, so nothing is lost by not asking for more; and asking for more, because the
backlog grows, would only fill the pool to its maximum with workers that do not start.
"""

from tidegate.core.bounds import at_least, at_most
from tidegate.core.decision import Reason
from tidegate.core.limit import Limit, left_alone
from tidegate.core.memory import Presence
from tidegate.core.model import PoolState
from tidegate.core.observation import Capacity
from tidegate.core.signals.read import Signals

__all__ = ["learn_presence", "started"]

START_UPS = 3.0
LEAST_S = 300.0
"""A start-up of minutes is normal where images are large: patience is three of them, five minutes at least."""

TRY_AFTER_S = 900.0
TRY_WITHIN_S = 3600.0


def learn_presence(state: PoolState, signals: Signals, capacity: Capacity, now_s: float) -> Presence:
    """Who is there now, and since when none of the missing has come.

    There is a worker of the SDK when it reports, which it does from its first receive on; another when it runs. One
    that was there and fell silent is there while it runs: a table that takes no reports must not look like a fleet that
    does not start. Where workers without reports are usual, all that run are there; where those hang, none of them.
    """
    known = state.presence
    if not signals.fleet_readable:
        return known
    there, reporting = capacity.running, signals.fleet.workers if signals.fleet else 0
    if signals.hearing.hanging:
        there = reporting
    elif state.reported_at_s is not None and not signals.hearing.mixed:
        there = at_least(reporting, at_most(there, known.there))
    if there >= capacity.desired:
        return Presence(there)
    if known.missing_since_s is None or there > known.most:
        return Presence(there, there, now_s)
    return Presence(there, known.most, known.missing_since_s)


def started(
    workers: int, state: PoolState, presence: Presence, signals: Signals, capacity: Capacity, start_up_s: float
) -> Limit:
    """No more workers while those asked for do not come. Beside those that hang, another is tried now and then."""
    since_s, current, now_s = presence.missing_since_s, capacity.desired, capacity.taken_at_s
    if since_s is None or workers <= current or now_s - since_s <= max(START_UPS * start_up_s, LEAST_S):
        return left_alone(workers)
    missing = (
        f"{max(0, current - presence.most)} of {current} workers have not begun to take work in "
        f"{(now_s - since_s) / 60:.0f} min"
    )
    if signals.hearing.hanging and _may_try(state, capacity, now_s):
        return Limit(current + 1, Reason.NOT_STARTING, f"{missing}: one more is tried")
    return Limit(
        current,
        Reason.NOT_STARTING,
        f"{missing}: no more are asked for until one does (look at why they do not start)",
    )


def _may_try(state: PoolState, capacity: Capacity, now_s: float) -> bool:
    """Whether to see if a new worker still hangs: the platform replaces only what has stopped.

    Not before the last one has hung for a quarter of an hour, and from try to try after twice as long, up to an hour.
    """
    if state.raises or not state.silence or capacity.running < capacity.desired:
        return False
    first_s, last_s = state.silence[0][0], state.silence[-1][0]
    return now_s - last_s > min(max(TRY_AFTER_S, last_s - first_s), TRY_WITHIN_S)
