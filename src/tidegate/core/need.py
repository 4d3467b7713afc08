"""How many workers the work needs now, before anything limits them: the plain reading that can be checked by hand."""

from dataclasses import dataclass

from tidegate.core.estimate import Estimate
from tidegate.core.model import Pool, Step
from tidegate.core.sizing import littles_law_slots, slots_for_target, workers_for

__all__ = ["LATE_SHARE_ALLOWED", "Load", "drain_s", "need"]

LATE_SHARE_ALLOWED = 0.005
"""Half of one per cent: the tail formula is optimistic far out, so automatic utilization aims at half the share."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the estimates say: messages, seconds, and the variation of the service time."""

    arrivals: Estimate
    waiting: float
    head_age: Estimate
    service_time: Estimate
    variation: float
    start_up: Estimate


def drain_s(pool: Pool, load: Load) -> float:
    """The time left to work off what waits: the pool's own setting, or what is left until the target.

    New workers come a start-up time later, on average half of the backlog's time with them: hence the half. Floored at
    a quarter of the target (and a tick), so that a head that is already late is drained soon but sets off no panic.
    """
    if pool.drain_target_s is not None:
        return pool.drain_target_s
    left_s = pool.target_wait_s - load.head_age.value - load.start_up.value / 2
    return max(left_s, pool.target_wait_s / 4, pool.tick_s)


def need(pool: Pool, load: Load) -> tuple[int, Step]:
    """Workers for the arrivals and the backlog, by Little's law; with the utilization given or the one that holds.

    The step carries every value, so that the sentence can be checked with a pocket calculator.
    """
    drain = drain_s(pool, load)
    mean_s, rate = load.service_time.value, load.arrivals.value
    if pool.utilization is not None:
        slots = littles_law_slots(rate, load.waiting, drain, mean_s, pool.utilization)
        utilization = pool.utilization
    else:
        steady = slots_for_target(rate * mean_s, pool.target_wait_s, mean_s, load.variation, LATE_SHARE_ALLOWED)
        utilization = rate * mean_s / steady if steady else 1.0
        slots = steady + load.waiting / drain * mean_s
    workers = workers_for(slots, pool.slots_per_worker)
    values = {
        "arrivals_per_s": round(rate, 3),
        "waiting": load.waiting,
        "drain_s": round(drain, 3),
        "service_time_s": round(mean_s, 4),
        "utilization": round(utilization, 3),
        "slots": round(slots, 2),
        "slots_per_worker": pool.slots_per_worker,
        "workers": workers,
    }
    return workers, Step("size", values, f"{slots:.1f} slots of work are {workers} workers of {pool.slots_per_worker}")
