"""The capacity that is there or on its way: what a backlog is worked off with before any new worker comes."""

import math
from typing import Final

from tidegate.core.bounds import at_most
from tidegate.core.model import PoolState
from tidegate.core.observation import Observation
from tidegate.core.signals.read import Signals
from tidegate.core.value import value

__all__ = ["Committed", "commit", "workers_by"]

FIRST_START: Final = 0.75


@value
class Committed:
    """Workers that take work now, and for each group of starting ones (seconds until it is there, workers), rising."""

    running: int = 0
    starting: tuple[tuple[float, int], ...] = ()


def commit(state: PoolState, seen: Observation, signals: Signals, start_up_s: float) -> Committed:
    """What is running and what is starting, the latter by the raises that they answer.

    Workers that no raise is known for are taken to come after half a start-up time; overdue ones in a tenth of it.
    Those that hang will never come.
    """
    desired = seen.capacity.desired - signals.hearing.hanging
    running = at_most(desired, signals.fleet.taking if signals.fleet else seen.capacity.running)
    missing = desired - running
    starting = []
    for at_s, count in reversed(state.raises):
        taken = min(count, missing)
        if taken > 0:
            starting.append((max(start_up_s - (seen.now_s - at_s), start_up_s / 10), taken))
            missing -= taken
    if missing > 0:
        starting.append((start_up_s / 2, missing))
    return Committed(running, tuple(sorted(starting)))


def workers_by(
    due: float, at_s: float, committed: Committed, slots: int, mean_s: float, new_s: float, floor_s: float
) -> float:
    """Workers with which `due` messages have started in `at_s` seconds: running ones first, then starting, then new.

    A slot that is free at r has started (at − r) ÷ mean + ¾ messages on average: its first start costs no service time.
    A new worker is there in `new_s` (infinite: it can't help by then, and none is asked for); its time counts as
    `floor_s` at least, so that what is all but lost asks for no crowd.
    """
    left, workers = due, 0.0
    for ready_s, count in ((0.0, committed.running), *committed.starting):
        if ready_s >= at_s:
            break
        each = slots * ((at_s - ready_s) / mean_s + (FIRST_START if ready_s else 0.0))
        if left <= count * each:
            return workers + left / each
        left -= count * each
        workers += count
    if math.isinf(new_s):
        return workers
    more = left / (slots * (max(at_s - new_s, floor_s) / mean_s + FIRST_START))
    return workers + more
