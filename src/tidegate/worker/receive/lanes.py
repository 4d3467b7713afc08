"""The lanes of a worker's queues, which share what they all report to."""

import itertools
from collections.abc import Callable, Sequence

from tidegate.ports import WorkQueue
from tidegate.worker.backoff import Random
from tidegate.worker.leases.lane import Lane, open_lane
from tidegate.worker.leases.notebook import Notebook
from tidegate.worker.plan import Plan
from tidegate.worker.slots import Slots
from tidegate.worker.telemetry.counts import Telemetry

__all__ = ["open_lanes"]


def open_lanes(
    plan: Plan,
    queues: Sequence[WorkQueue],
    leases_s: Sequence[int],
    on_lost: Callable[[int], None],
    *,
    slots: Slots,
    telemetry: Telemetry,
    notes: Notebook,
    clock: Callable[[], float],
    wall: Callable[[], float],
    random: Random,
) -> list[Lane]:
    """One for each of the plan's queues, whose leases last so many seconds; keys are the worker's own, over all."""
    keys = itertools.count(1)
    return [
        open_lane(
            each,
            queue,
            lease_s,
            plan.leases,
            keys,
            on_lost=on_lost,
            on_uncertain=telemetry.uncertain_delete,
            on_caught_up=slots.changed.set,
            calls=telemetry.calls,
            notes=notes,
            clock=clock,
            wall=wall,
            random=random,
        )
        for each, queue, lease_s in zip(plan.queues, queues, leases_s, strict=True)
    ]
