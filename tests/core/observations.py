"""Observations, built with only what a test is about."""

from dataclasses import replace

from tidegate.core.absence import Absence
from tidegate.core.model import Pool, PoolState, Sample
from tidegate.core.observation import Capacity, Observation, QueueObservation, QuietGroups, Reading
from tidegate.core.reports import Fleet, WorkerReport, WorkerState, WorkFigures

NOW_S = 1_000_000.0

POOL = Pool(
    name="orders",
    target_wait_s=30,
    min_workers=1,
    max_workers=50,
    slots_per_worker=4,
    utilization=0.7,
    drain_target_s=300,
    ramp_share=1.0,
    ramp_workers=100,
    hold_s=60,
    tick_s=10,
    service_time_hint_s=0.8,
)

STEADY_12 = tuple(Sample(NOW_S - 60 + 10 * n, 120.0 * n, 9000, 9000) for n in range(6))
"""Twelve a second for a minute, nothing leaving; the observation that follows completes the sixth step."""

HELD = PoolState(needs=((NOW_S - 30, 1),), watched_since_s=NOW_S - 70, ticked_at_s=NOW_S - 10)
"""A low need watched for longer than the hold time."""


def reading(value: float | None, at_s: float = NOW_S, absence: Absence | None = None, detail: str = "") -> Reading:
    missing = Absence.MISSING if value is None else None
    return Reading(value, at_s, absence or missing, detail)


def queue(
    waiting: float | None = 0,
    in_flight: float = 0,
    delayed: float = 0,
    *,
    age_s: float | None = None,
    sent_per_s: float | None = None,
    deleted_per_s: float | None = None,
    at_s: float = NOW_S,
    absence: Absence | None = None,
    name: str = "orders",
    quiet: QuietGroups | None = None,
) -> QueueObservation:
    if absence is not None:
        counts = [Reading(None, at_s, absence, f"the queue is {absence}")] * 3
    else:
        counts = [reading(value, at_s) for value in (waiting, in_flight, delayed)]
    age, sent, deleted = (reading(value, at_s - 60) for value in (age_s, sent_per_s, deleted_per_s))
    visible, hidden, later = counts
    return QueueObservation(name, visible, hidden, later, age, sent, deleted, quiet)


def worker(
    worker_id: str = "w1",
    *,
    busy: int = 0,
    slots: int = 4,
    span_s: float = 10.0,
    completions: int = 0,
    before: int = 0,
    mean_s: float = 0.8,
    waits: tuple[int, ...] = (),
    at_s: float = NOW_S,
    started_at_s: float = NOW_S - 1000,
    first_receive_at_s: float | None = None,
    heartbeat_s: float = 10.0,
    state: WorkerState = WorkerState.RUNNING,
    protected: bool = False,
    host: str = "",
    permitted: int | None = None,
    fleet_slots: int | None = None,
) -> WorkerReport:
    """`completions` since its last heartbeat, `before` up to then; all of them took `mean_s`."""
    figures = WorkFigures(
        span_s=span_s,
        starts=completions,
        completions=completions,
        service_time_sum_s=completions * mean_s,
        service_time_square_sum_s2=completions * mean_s**2,
        waits=waits,
    )
    return WorkerReport(
        worker_id=worker_id,
        state=state,
        reason="",
        reported_at_s=at_s,
        started_at_s=started_at_s,
        first_receive_at_s=first_receive_at_s,
        slots=slots,
        busy=busy,
        recent=figures,
        total=replace(figures, starts=before + completions, completions=before + completions),
        heartbeat_s=heartbeat_s,
        protected=protected,
        host=host,
        permitted=permitted,
        fleet_slots=fleet_slots,
    )


def capacity(
    desired: int = 1,
    *,
    running: int | None = None,
    pending: int = 0,
    deploying: bool = False,
    minimum: int | None = None,
    maximum: int | None = None,
    at_s: float = NOW_S,
    outdated: int = 0,
    removes_by_name: bool = False,
) -> Capacity:
    live = desired if running is None else running
    return Capacity(
        "ecs:prod/orders", at_s, desired, live, pending, deploying, minimum, maximum, outdated, removes_by_name
    )


def observe(
    *queues: QueueObservation,
    desired: int = 1,
    workers: tuple[WorkerReport, ...] = (),
    fleet_absence: Absence | None = None,
    at_s: float = NOW_S,
    seen: Capacity | None = None,
) -> Observation:
    fleet = Fleet(at_s, workers, fleet_absence, "the table is away" if fleet_absence else "")
    return Observation(at_s, queues or (queue(at_s=at_s),), seen or capacity(desired, at_s=at_s), fleet)
