"""How many workers the work needs now, before anything limits them: the plain reading that can be checked by hand."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tidegate.core.decision import Scalar, Step, shown
from tidegate.core.estimation.load import Load
from tidegate.core.model import Pool
from tidegate.core.sizing.erlang import littles_law_slots, slots_for_target, workers_for
from tidegate.core.value import value

__all__ = ["LATE_SHARE_ALLOWED", "Sized", "beside_hanging", "drain_s", "need"]

LATE_SHARE_ALLOWED = 0.005
"""Half of one per cent: the tail formula is optimistic far out, so automatic utilization aims at half the share."""


@value
class Sized:
    """What the work needs: whole workers, the slots that they are made of, and what tells how that was reckoned.

    `urgent_workers` is the part that messages' deadlines ask for, which no doubt about a rate may hold up. `error` is
    one standard deviation of the slots, in slots; `calm`, how far it is worth to wait that out; `band`, the slots by
    which the need must be below what is there before fewer workers are asked for.
    """

    workers: int
    slots: float
    tell: Callable[[], Step]
    urgent_workers: int = 0
    error: float = 0.0
    calm: float = 0.0
    band: float = 0.0

    @property
    def step(self) -> Step:
        """With every value, put together for who asks."""
        return self.tell()


def beside_hanging(sized: Sized, working: int, hanging: int) -> Sized:
    """The count with which so many work as are needed: those that hang are in it while more are needed than work.

    Once enough work it is the need alone, so that the count falls for the ones that hang.

    >>> sized = Sized(5, 20.0, lambda: Step("size"))
    >>> beside_hanging(sized, working=3, hanging=4).workers, beside_hanging(sized, working=5, hanging=4).workers
    (9, 5)
    """
    more = [count + hanging if count > working else count for count in (sized.workers, sized.urgent_workers)]
    return replace(sized, workers=more[0], urgent_workers=more[1])


def drain_s(pool: Pool, load: Load) -> float:
    """The time left to work off what waits: the pool's own setting, or what is left until the target.

    New workers come a start-up time later, on average half of the backlog's time with them: hence the half. The floor
    is a quarter of the target, or more where workers take longer to start: what can't be on time any more is drained
    within the target once they are there, and sets off no panic.
    """
    if pool.drain_target_s is not None:
        return pool.drain_target_s
    target_s, start_up_s = pool.target_wait_s, load.start_up.value
    floor_s = target_s * min(1.0, max(0.25, start_up_s / target_s))
    return max(target_s - load.head_age.value - start_up_s / 2, floor_s, pool.tick_s)


def need(pool: Pool, load: Load, most_workers: int) -> Sized:
    """Workers for the arrivals and the backlog, by Little's law; with the utilization given or the one that holds.

    The step carries every value, so that the sentence can be checked with a pocket calculator. `most_workers` is the
    ceiling: how far beyond it the need goes does not matter. What waits needs one worker at least.
    """
    drain, mean_s, rate = drain_s(pool, load), load.service_time.value, load.arrivals.value
    if pool.utilization is not None:
        slots = littles_law_slots(rate, load.waiting, drain, mean_s, pool.utilization)
        utilization = pool.utilization
    else:
        most = most_workers * load.slots_per_worker
        steady = slots_for_target(rate * mean_s, pool.target_wait_s, mean_s, load.variation, LATE_SHARE_ALLOWED, most)
        utilization = rate * mean_s / steady if steady else 1.0
        slots = steady + load.waiting / drain * mean_s
    workers = max(workers_for(slots, load.slots_per_worker), 1 if load.waiting > 0 else 0)
    return Sized(workers, slots, partial(_step, load, drain, utilization, slots, workers))


def _step(load: Load, drain: float, utilization: float, slots: float, workers: int) -> Step:
    values: dict[str, Scalar] = {
        "arrivals_per_s": shown(load.arrivals.value, 3),
        "waiting": load.waiting,
        "drain_s": shown(drain, 3),
        "service_time_s": shown(load.service_time.value, 4),
        "utilization": shown(utilization, 3),
        "slots": shown(slots, 2),
        "slots_per_worker": load.slots_per_worker,
        "workers": workers,
    }
    note = f"{slots:.1f} slots of work, at {load.slots_per_worker} slots per worker"
    return Step("size", values, note)
