"""What the workers' reports say together, and what of it is new since the last tick."""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from itertools import accumulate, pairwise
from operator import mul
from typing import Literal

from tidegate.core.model import KnownWorker, PoolState
from tidegate.core.reports import (
    UNCLASSED,
    WAIT_BOUNDS_S,
    ClassFigures,
    DependencyFigures,
    Fleet,
    WorkerReport,
    WorkerState,
    WorkFigures,
)

__all__ = ["FleetSignals", "Waits", "digest", "is_alive", "known_workers", "sum_fleet"]

SILENT_AFTER_HEARTBEATS = 3.0
_NO_FIGURES = ClassFigures()
_MIDDLES_S = tuple((low + high) / 2 for low, high in pairwise((0.0, *WAIT_BOUNDS_S, WAIT_BOUNDS_S[-1])))
_LEFT = (WorkerState.RELEASED, WorkerState.STOPPED)


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits (sent → started) of the messages started since the last tick. `p99_s` is its bucket's upper edge.

    The sum takes the middles of the buckets.
    """

    starts: int
    late_share: float
    p99_s: float
    sum_s: float = 0.0


@dataclass(frozen=True, slots=True)
class FleetSignals:
    """The workers heard of lately, summed.

    `departures` are completions since the last tick and `starts` handler runs begun, each counted once however ticks
    and heartbeats fall. `idle` are the free slots of workers that poll for work. `runs` and the sums are those of the
    reports that brought news. `heartbeat_s` is the longest of the workers' intervals. `buffered` messages were received
    and have not started. `classes` are the figures of the reports that brought news, by job class.
    """

    workers: int
    slots: int
    busy: int
    busy_workers: int
    heartbeat_s: float
    starts: int
    departures: float
    runs: int
    service_time_sum_s: float
    service_time_square_sum_s2: float
    waits: Waits | None
    buffered: int = 0
    idle: int = 0
    classes: Mapping[str, ClassFigures] = field(default_factory=dict)
    leases_lost: int = 0
    """Since the last tick, each counted once."""
    taking: int = 0
    """The workers that take work: neither retired nor on their way out."""
    drained: int = 0
    """Workers beside those, that hold nothing and wait for the platform to stop them."""
    calls: Mapping[str, DependencyFigures] = field(default_factory=dict)
    """Of each dependency, by the reports that brought news."""

    @property
    def slots_per_worker(self) -> int:
        """As the workers have it, which outranks the setting."""
        return max(1, round(self.slots / self.workers))


def digest(worker_id: str) -> str:
    """Eight characters for a worker: a pool of hundreds must fit into one stored item."""
    return f"{zlib.crc32(worker_id.encode()):08x}"


def sum_fleet(state: PoolState, fleet: Fleet, now_s: float, target_wait_s: float) -> FleetSignals | None:
    """None when no worker that takes or finishes work was heard of within three of its heartbeats.

    A worker that has left is no capacity, but what it completed last has left the queue all the same.
    """
    current = [worker for worker in fleet.workers if _is_current(worker, now_s)]
    if not current:
        return None
    news = [worker.recent for worker in fleet.workers if _has_news(state, worker)]
    return FleetSignals(
        workers=len(current),
        slots=sum(worker.slots for worker in current),
        busy=sum(worker.busy for worker in current),
        busy_workers=sum(worker.busy > 0 for worker in current),
        idle=sum(worker.slots - worker.busy for worker in current if _polls(worker)),
        heartbeat_s=max(worker.heartbeat_s for worker in current),
        starts=sum(_since(state, worker, "starts") for worker in fleet.workers),
        departures=sum(_since(state, worker, "completions") for worker in fleet.workers),
        runs=sum(figures.completions + figures.failures for figures in news),
        service_time_sum_s=sum(figures.service_time_sum_s for figures in news),
        service_time_square_sum_s2=sum(figures.service_time_square_sum_s2 for figures in news),
        waits=_waits(news, target_wait_s),
        buffered=sum(worker.buffered for worker in current),
        classes=_by_class(news),
        taking=sum(worker.state is WorkerState.RUNNING for worker in current),
        drained=sum(worker.state is WorkerState.RELEASED and is_alive(worker, now_s) for worker in fleet.workers),
        leases_lost=sum(_since(state, worker, "leases_lost") for worker in fleet.workers),
        calls=_calls(news),
    )


def known_workers(state: PoolState, fleet: Fleet, timed: Iterable[str]) -> Mapping[str, KnownWorker]:
    """What to remember of the workers in the store. `timed` are the ids whose start-up needs no more timing."""
    done = set(timed)
    return {
        digest(worker.worker_id): KnownWorker(
            worker.total.starts,
            worker.total.completions,
            worker.total.failures,
            timed=worker.worker_id in done,
            leases_lost=worker.total.leases_lost,
        )
        for worker in fleet.workers
    }


def is_alive(worker: WorkerReport, now_s: float) -> bool:
    """Heard of within three of its heartbeats, and not yet at its end: it may hold nothing and wait to be stopped."""
    heard_s = now_s - worker.reported_at_s
    return worker.state is not WorkerState.STOPPED and heard_s <= SILENT_AFTER_HEARTBEATS * worker.heartbeat_s


def _is_current(worker: WorkerReport, now_s: float) -> bool:
    return worker.state not in _LEFT and is_alive(worker, now_s)


def _polls(worker: WorkerReport) -> bool:
    """Takes work, and has done so for long enough to be busy if there was any."""
    first_s = worker.first_receive_at_s
    if worker.state is not WorkerState.RUNNING or first_s is None:
        return False
    return worker.reported_at_s - first_s >= worker.heartbeat_s / 2


def _since(state: PoolState, worker: WorkerReport, figure: Literal["starts", "completions", "leases_lost"]) -> int:
    known = state.known_workers.get(digest(worker.worker_id))
    # Never seen: what it did before this state began is not news.
    young = known is None and state.ticked_at_s is not None and worker.started_at_s >= state.ticked_at_s
    figures = worker.recent if known is None and not young else worker.total
    before: int = 0 if known is None else getattr(known, figure)
    now: int = getattr(figures, figure)
    return max(0, now - before)


def _has_news(state: PoolState, worker: WorkerReport) -> bool:
    """Compared by what was done, not by time: the worker's clock may be off."""
    known = state.known_workers.get(digest(worker.worker_id))
    total = worker.total
    return known is None or (known.starts, known.completions, known.failures) != (
        total.starts,
        total.completions,
        total.failures,
    )


def _by_class(news: list[WorkFigures]) -> dict[str, ClassFigures]:
    """The workers' classes added up, and under `UNCLASSED` what had none; {} where no message carries a class."""
    if not any(figures.classes for figures in news):
        return {}
    summed: dict[str, ClassFigures] = {}
    for figures in news:
        for name, new in figures.classes.items():
            summed[name] = _with(summed.get(name, _NO_FIGURES), new, 1)
            summed[UNCLASSED] = _with(summed.get(UNCLASSED, _NO_FIGURES), new, -1)
        summed[UNCLASSED] = _with(summed.get(UNCLASSED, _NO_FIGURES), figures, 1)
    return summed


def _with(old: ClassFigures, new: ClassFigures | WorkFigures, sign: int) -> ClassFigures:
    """Waits are left to the workers' own reports."""
    return ClassFigures(
        starts=old.starts + sign * new.starts,
        completions=old.completions + sign * new.completions,
        failures=old.failures + sign * new.failures,
        service_time_sum_s=old.service_time_sum_s + sign * new.service_time_sum_s,
        service_time_square_sum_s2=old.service_time_square_sum_s2 + sign * new.service_time_square_sum_s2,
    )


def _calls(news: list[WorkFigures]) -> Mapping[str, DependencyFigures]:
    names = dict.fromkeys(name for figures in news for name in figures.dependencies)
    return {
        name: DependencyFigures(
            *(
                sum(getattr(figures.dependencies[name], each.name) for figures in news if name in figures.dependencies)
                for each in fields(DependencyFigures)
            )
        )
        for name in names
    }


def _waits(news: list[WorkFigures], target_wait_s: float) -> Waits | None:
    edges = len(WAIT_BOUNDS_S) + 1
    buckets = [sum(column) for column in zip(*(f.waits for f in news if len(f.waits) == edges), strict=True)]
    starts = sum(buckets)
    if not starts:
        return None
    lower_edges = (0.0, *WAIT_BOUNDS_S)
    late = sum(count for count, edge in zip(buckets, lower_edges, strict=True) if edge >= target_wait_s)
    upper_edges = (*WAIT_BOUNDS_S, WAIT_BOUNDS_S[-1])
    p99_s = next(edge for passed, edge in zip(accumulate(buckets), upper_edges, strict=True) if passed >= 0.99 * starts)
    sum_s = sum(map(mul, buckets, _MIDDLES_S))
    return Waits(starts, late / starts, p99_s, sum_s)
