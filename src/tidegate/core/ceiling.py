"""The most workers that the bottleneck can take, and the name of the constraint that binds."""

from dataclasses import dataclass

from tidegate.core.model import Pool, Reason
from tidegate.core.observation import Capacity

__all__ = ["Ceiling", "ceiling"]


@dataclass(frozen=True, slots=True)
class Ceiling:
    """A count of workers, the setting that it comes from, and the reason code when it binds."""

    workers: int
    binds: str
    reason: Reason = Reason.CEILING


def ceiling(pool: Pool, capacity: Capacity, slots_per_worker: int) -> Ceiling:
    """The smallest of the pool's maximum, the explicit slots ceiling and the platform's own maximum.

    Slots are rounded down to whole workers: a worker more would go over.

    >>> capacity = Capacity("ecs:prod/orders", 0.0, desired=1, running=1, pending=0)
    >>> ceiling(Pool("orders", 30, 1, max_workers=50, max_slots=42), capacity, slots_per_worker=4).workers
    10
    """
    limits = [Ceiling(pool.max_workers, f"max_workers from {pool.limits_from}", Reason.MAXIMUM)]
    if pool.max_slots is not None:
        limits.append(Ceiling(pool.max_slots // slots_per_worker, f"max_slots {pool.max_slots}"))
    if capacity.max_workers is not None:
        limits.append(Ceiling(capacity.max_workers, f"the maximum of {capacity.target}"))
    return min(limits, key=lambda limit: limit.workers)
