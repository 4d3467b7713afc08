"""The most workers that the bottleneck can take, and the name of the constraint that binds."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import field
from operator import attrgetter

from tidegate.core.bounds import at_most, within
from tidegate.core.decision import Reason
from tidegate.core.model import Pool, PoolState, ServiceTime
from tidegate.core.observation import Capacity
from tidegate.core.value import value

__all__ = ["Ceiling", "ceiling", "learn_quick"]

QUICK_LEAST_RUNS = 30.0
QUICK_DOUBLES_IN_S = 3600.0
"""A dependency that is slow for minutes must not look like longer jobs; jobs that are longer for good must, in time."""


_workers_of = attrgetter("workers")
_MAXIMUM = Reason.MAXIMUM


@value
class Ceiling:
    """A count of workers, the setting that it comes from, and the reason code when it binds."""

    workers: int
    binds: str
    reason: Reason = Reason.CEILING
    name: str = field(default="", compare=False)
    every: Mapping[str, int] = field(default_factory=dict, compare=False)
    """What each constraint allows, the one that binds among them."""


def ceiling(
    pool: Pool,
    capacity: Capacity,
    slots_per_worker: int,
    quick_s: float | None = None,
    fleet_slots: int | None = None,
) -> Ceiling:
    """The smallest of the pool's maximum, what its bottlenecks can take, and the platform's own maximum.

    In whole workers: slots that would break something are rounded down. `quick_s` is the service time for the API's
    rate, `PoolState.quick_s`; without it the hint, and without either that rate is left out. It leaves one worker at
    least: with none, nothing would ever be measured again that could raise it. `fleet_slots` is the limit that the
    workers keep among themselves, so a worker too many breaks nothing, and buys nothing.

    >>> capacity = Capacity("ecs:prod/orders", 0.0, desired=1, running=1, pending=0)
    >>> ceiling(Pool("orders", 30, 1, max_workers=50, max_slots=42), capacity, slots_per_worker=4).workers
    10
    """
    constraints = (
        Ceiling(pool.max_workers, f"max_workers from {pool.limits_from}", _MAXIMUM, "max_workers"),
        *_bottlenecks(pool, slots_per_worker, pool.service_time_hint_s if quick_s is None else quick_s),
        *_others(fleet_slots, slots_per_worker, capacity),
    )
    smallest = min(constraints, key=_workers_of)
    every = {f"{each.name}_allows": each.workers for each in constraints}
    return Ceiling(smallest.workers, smallest.binds, smallest.reason, smallest.name, every)


def _bottlenecks(pool: Pool, slots_per_worker: int, quick_s: float | None) -> Iterator[Ceiling]:
    if pool.max_slots is not None:
        yield Ceiling(pool.max_slots // slots_per_worker, f"max_slots {pool.max_slots}", name="max_slots")
    if pool.database is not None:
        yield Ceiling(pool.database.slots // slots_per_worker, str(pool.database), name="database")
    if pool.api is not None and quick_s is not None:
        workers = max(1, pool.api.slots(quick_s) // slots_per_worker)
        yield Ceiling(workers, pool.api.text(quick_s), name="api")
    if pool.message_groups is not None:
        # A group's messages are handled one after the other. A slot too many breaks nothing, so this one is rounded up.
        workers = math.ceil(pool.message_groups / slots_per_worker)
        yield Ceiling(workers, f"the queue's {pool.message_groups} message groups", name="message_groups")


def _others(fleet_slots: int | None, slots_per_worker: int, capacity: Capacity) -> Iterator[Ceiling]:
    if fleet_slots is not None:
        workers = math.ceil(fleet_slots / slots_per_worker)
        yield Ceiling(workers, f"the workers' own fleet_slots {fleet_slots}", name="fleet_slots")

    if capacity.max_workers is not None:
        yield Ceiling(capacity.max_workers, f"the maximum of {capacity.target}", name="platform")


def learn_quick(state: PoolState, known: ServiceTime | None, elapsed_s: float) -> float | None:
    """The service time that an API's rate is divided by: the mean, or less while that is higher than it was.

    Slots × calls ÷ service time is the rate, so a slower dependency would by itself raise the ceiling and let more
    slots at it. Held to the quick time the rate stays within its limit at any speed. Rising slowly (it doubles in an
    hour) it follows jobs that are longer for good.
    """
    if known is None or known.runs < QUICK_LEAST_RUNS:
        return state.quick_s
    mean_s = known.sum_s / known.runs
    if state.quick_s is None or state.quick_s <= 0:
        return mean_s
    return at_most(mean_s, state.quick_s * math.exp2(within(elapsed_s, 0.0, 60.0) / QUICK_DOUBLES_IN_S))
