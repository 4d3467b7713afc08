"""What a worker tells of itself: its heartbeat, and what it did since the last one. Seconds, unless named otherwise."""

from dataclasses import dataclass
from enum import StrEnum

from tidegate.core.absence import Absence
from tidegate.core.schema import SCHEMA

__all__ = ["WAIT_BOUNDS_S", "Fleet", "WorkFigures", "WorkerReport", "WorkerState"]

WAIT_BOUNDS_S: tuple[float, ...] = (
    0.05, 0.1, 0.2, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1800, 3600, 7200, 21600,
)  # fmt: skip
"""Upper edges of the histogram of waits (sent → started); one more bucket holds everything above the last."""


class WorkerState(StrEnum):
    """Where a worker is on its way: it takes work only while `RUNNING`."""

    RUNNING = "running"
    RETIRING = "retiring"
    DRAINING = "draining"
    RELEASED = "released"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class WorkFigures:
    """What a worker did over a span of time. Times are sums over `completions + failures` handler runs."""

    span_s: float
    starts: int = 0
    completions: int = 0
    failures: int = 0
    redeliveries: int = 0
    leases_lost: int = 0
    uncertain_deletes: int = 0
    service_time_sum_s: float = 0.0
    service_time_square_sum_s2: float = 0.0
    waits: tuple[int, ...] = ()
    """Starts of first receives per bucket of `WAIT_BOUNDS_S` (+ 1 overflow bucket); empty when there was none."""


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """A worker's heartbeat: `recent` covers the span since its previous heartbeat, `total` since it started."""

    worker_id: str
    state: WorkerState
    reason: str
    reported_at_s: float
    started_at_s: float
    first_receive_at_s: float | None
    slots: int
    busy: int
    recent: WorkFigures
    total: WorkFigures
    heartbeat_s: float = 10.0
    """How often this worker reports: silence of three of these is news."""
    schema: int = SCHEMA


@dataclass(frozen=True, slots=True)
class Fleet:
    """All workers that reported lately. `absence` says why there are none to see (no table, denied, …)."""

    taken_at_s: float
    workers: tuple[WorkerReport, ...] = ()
    absence: Absence | None = None
    detail: str = ""
