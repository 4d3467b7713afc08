"""A bulk pool: no wait to hold, but a time of day by which the queue is to be empty, with the fewest workers.

Work costs the same whenever it is done, so the cheapest plan is the least constant count from now on to the deadline.
It is reckoned again at every tick from what is left: an estimate that was wrong is made good while there is time.
"""

import math
from dataclasses import dataclass
from functools import partial

from tidegate.core.decision import Scalar, Step
from tidegate.core.estimation.committed import workers_by
from tidegate.core.estimation.load import Load
from tidegate.core.model import RAMP_S, Pool
from tidegate.core.notation.durations import format_duration
from tidegate.core.sizing.erlang import workers_for
from tidegate.core.sizing.need import Sized

__all__ = ["finish_in_time"]

REACTION_TICKS = 2
SPARE_WORKERS = 0.1
"""A count that is too high by no more than a tenth stays: to be ready a little early costs less than to change."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """Messages to start until the deadline, seconds in which they can be started, workers that do it."""

    due: float
    left_s: float
    new_s: float
    workers: float


def finish_in_time(pool: Pool, load: Load, left_s: float, current: int, most_workers: int) -> Sized:
    """The least constant count of workers that empties the queue in `left_s` seconds, and the step that says so.

    What no count up to `most_workers` can finish is said at once, with the time by which it would be done.
    """
    plan = _plan(pool, load, left_s, current)
    needed = max(workers_for(plan.workers, 1), 1 if plan.due > 0 else 0)
    surplus = current - needed
    kept = current if plan.due > 0 and 0 < surplus <= max(1.0, SPARE_WORKERS * current) else needed
    tell = partial(_step, plan, load, needed, kept, most_workers, left_s)
    return Sized(kept, float(kept * load.slots_per_worker), tell)


def _step(plan: _Plan, load: Load, needed: int, kept: int, most_workers: int, left_s: float) -> Step:
    values: dict[str, Scalar] = {
        "left_s": round(left_s, 1),
        "usable_s": round(plan.left_s, 1),
        "due": round(plan.due, 1),
        "service_time_s": round(load.service_time.value, 4),
        "new_workers_in_s": round(plan.new_s, 1),
        "slots_per_worker": load.slots_per_worker,
        "needed": needed,
        "workers": kept,
    }
    return Step("size", values, _said(plan, load, needed, most_workers, left_s))


def _plan(pool: Pool, load: Load, left_s: float, current: int) -> _Plan:
    """The last message must have been started a service time before the end, and a start-up and two ticks are kept in
    reserve, so that falling behind can still be made good. New workers come in steps, half of them later.
    """
    mean_s, start_up_s = load.service_time.value, load.start_up.value
    due = load.waiting + load.delayed + load.typical_per_s * left_s
    usable_s = max(left_s - mean_s - start_up_s - REACTION_TICKS * pool.tick_s, pool.tick_s)
    if mean_s <= 0:
        return _Plan(due, usable_s, start_up_s, 0.0)
    new_s, workers = start_up_s, 0.0
    late = start_up_s >= usable_s
    for _ in range(2):
        workers = workers_by(
            due, usable_s, load.committed, load.slots_per_worker, mean_s, math.inf if late else new_s, pool.tick_s
        )
        step = max(math.ceil(current * pool.ramp_share), pool.ramp_workers, 1)
        new_s = start_up_s + min(pool.tick_s, RAMP_S) * max(0.0, (workers - current) / step - 1.0) / 2
    return _Plan(due, usable_s, new_s, workers)


def _said(plan: _Plan, load: Load, needed: int, most_workers: int, left_s: float) -> str:
    within = f"{plan.due:.0f} messages in {format_duration(round(left_s))}"
    if needed <= most_workers:
        return f"{within}: {needed} workers of {load.slots_per_worker} slots"
    most_slots = max(1, most_workers * load.slots_per_worker)
    takes_s = plan.due * load.service_time.value / most_slots + load.start_up.value
    return (
        f"can't be done in time: {within} need {needed} workers and {most_workers} are allowed, "
        f"which would take {format_duration(round(takes_s))}"
    )
