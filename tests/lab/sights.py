"""Observations and truths of a queue written down by hand, for the policies' rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tidegate.core.observation import Capacity, Observation, QueueObservation, Reading
from tidegate.core.reports import Fleet, WorkerReport, WorkerState, WorkFigures
from tidegate.lab.scenario import Floats, Scenario


def scenario(
    arrivals_s: Sequence[float] = (1.0,),
    service_s: float = 4.0,
    *,
    target_s: float = 60.0,
    start_up_s: float = 30.0,
    length_s: float = 3600.0,
    slots: int = 4,
    min_workers: int = 0,
    max_workers: int = 1000,
    initial: int | None = None,
) -> Scenario:
    """One queue whose messages all take `service_s`."""
    return Scenario(
        "by hand", np.asarray(arrivals_s, dtype=np.float64), np.full(len(arrivals_s), service_s), target_s, start_up_s,
        length_s, slots_per_worker=slots, min_workers=min_workers, max_workers=max_workers,
        initial_workers=min_workers if initial is None else initial,
    )  # fmt: skip


def seen(
    now_s: float, desired: int, *, visible: float | None = 0, in_flight: float | None = 0, running: int | None = None,
    age_s: float | None = 0.0, sent_per_s: float = 0.0, busy: int = 0, age_at_s: float | None = None,
) -> Observation:  # fmt: skip
    """One queue and one service, all readings taken now; running is what is desired unless it is given."""
    queue = QueueObservation(
        "q", Reading(visible, now_s), Reading(in_flight, now_s), Reading(0, now_s),
        Reading(age_s, now_s if age_at_s is None else age_at_s), Reading(sent_per_s, now_s), Reading(None, now_s),
    )  # fmt: skip
    there = desired if running is None else running
    capacity = Capacity("ecs:c/s", now_s, desired, there, desired - there)
    none = WorkFigures(10.0)
    worker = WorkerReport("w", WorkerState.RUNNING, "", now_s, 0.0, 0.0, 4, busy, none, none)
    return Observation(now_s, (queue,), capacity, Fleet(now_s, (worker,) if there else ()))


@dataclass(frozen=True)
class Present:
    """A `Truth` of given values."""

    now_s: float = 0.0
    desired: int = 0
    free_in_s: Sequence[float] = ()
    ready_in_s: Sequence[float] = ()
    arrivals_s: Sequence[float] = ()
    head_age_s: float = 0.0
    rate_per_s: float = 0.0
    mean_service_s: float = 10.0
    start_up_s: float = 30.0
    slots: int = field(default=4)

    @property
    def running(self) -> int:
        return len(self.free_in_s) // self.slots

    @property
    def waiting(self) -> int:
        return len(self.arrivals_s)

    @property
    def starting_ready_in_s(self) -> Floats:
        return np.sort(np.asarray(self.ready_in_s, dtype=np.float64))

    @property
    def slots_free_in_s(self) -> Floats:
        return np.sort(np.asarray(self.free_in_s, dtype=np.float64))

    @property
    def waiting_arrivals_s(self) -> Floats:
        return np.sort(np.asarray(self.arrivals_s, dtype=np.float64))
