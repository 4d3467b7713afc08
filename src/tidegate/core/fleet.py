"""What the workers' reports say together, and what of it is new since the last tick."""

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import field, fields
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter, mul

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
from tidegate.core.value import value

__all__ = ["FleetSignals", "Waits", "digest", "fleet_limit", "heard_of", "is_alive", "known_worker", "sum_fleet"]

SILENT_AFTER_HEARTBEATS = 3.0
ANSWERED_WITHIN_S = 30.0
"""The longest poll (20 s,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html) and some."""

DIGESTS_KEPT = 16_384
"""Workers whose digests are not reckoned anew at each tick: a few megabytes."""

_classes_of = attrgetter("total.classes")
_dependencies_of = attrgetter("dependencies")
_NO_FIGURES = ClassFigures()
_UNKNOWN = KnownWorker(0, 0, 0, timed=False)
_LOWER_EDGES_S = (0.0, *WAIT_BOUNDS_S)
_UPPER_EDGES_S = (*WAIT_BOUNDS_S, WAIT_BOUNDS_S[-1])
_RUNNING, _RELEASED, _STOPPED = WorkerState.RUNNING, WorkerState.RELEASED, WorkerState.STOPPED
"""By the hundred and tick: an enum's member is looked up in its class far slower than a name in a module."""

_MIDDLES_S = tuple((low + high) / 2 for low, high in zip(_LOWER_EDGES_S, _UPPER_EDGES_S, strict=True))


@value
class Waits:
    """Waits (sent → started) of the messages started since the last tick. `p99_s` is its bucket's upper edge.

    The sum takes the middles of the buckets.
    """

    starts: int
    late_share: float
    p99_s: float
    sum_s: float = 0.0


@value
class FleetSignals:
    """The workers heard of lately, summed.

    `departures` are completions since the last tick and `starts` handler runs begun, each counted once however ticks
    and heartbeats fall. `idle` are the free slots of workers that poll for work, as told since the last tick. `runs`
    and the sums are those of the reports that brought news. `heartbeat_s` is the longest of the workers' intervals.
    `buffered` messages were received and have not started. `classes` are the figures of the reports that brought news,
    by job class.
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
    calls: Mapping[str, DependencyFigures] = field(default_factory=dict)
    """Of each dependency, by the reports that brought news."""
    barred: int = 0
    """Of the slots, those that may not be used because the fleet's limit gives their workers no permits for them."""
    fleet_slots: int | None = None
    """That limit, the highest where workers differ; None as long as any worker has none."""
    retries_held: int = 0
    """Put off by the workers' retry budget, in the reports that brought news."""
    classed: bool = False
    """Messages carry classes, whether any was started lately or not."""
    heard: int = 0
    """The workers, and those that have let go of all and wait to be stopped."""

    @property
    def free(self) -> int:
        """Slots in which a handler could start."""
        return self.slots - self.busy - self.barred

    @property
    def slots_per_worker(self) -> int:
        """As the workers have it, which outranks the setting."""
        return max(1, round(self.slots / self.workers))


@lru_cache(maxsize=DIGESTS_KEPT)
def digest(worker_id: str) -> str:
    """Eight characters for a worker: a pool of hundreds must fit into one stored item."""
    return f"{zlib.crc32(worker_id.encode()):08x}"


def sum_fleet(state: PoolState, fleet: Fleet, now_s: float, target_wait_s: float) -> FleetSignals | None:
    """None when no worker that takes or finishes work was heard of within three of its heartbeats.

    A worker that has left is no capacity, but what it completed last has left the queue all the same.
    """
    alive = heard_of(fleet, now_s)
    current = [worker for worker in alive if worker.state is not _RELEASED]
    if not current:
        return None
    starts, departures, leases_lost, news = _since(state, fleet.workers)
    slots, busy, buffered = _held(current)
    runs, sum_s, square_sum_s2, retries_held = _ran(news)
    return FleetSignals(
        heard=len(alive),
        workers=len(current),
        slots=slots,
        busy=busy,
        busy_workers=sum([worker.busy > 0 for worker in current]),
        idle=sum([_idle(worker, state.ticked_at_s) for worker in current if worker.busy != worker.slots]),
        heartbeat_s=max([worker.heartbeat_s for worker in current]),
        starts=starts,
        departures=departures,
        runs=runs,
        service_time_sum_s=sum_s,
        service_time_square_sum_s2=square_sum_s2,
        waits=_waits(news, target_wait_s),
        buffered=buffered,
        classes=_by_class(news),
        taking=[worker.state for worker in current].count(_RUNNING),
        leases_lost=leases_lost,
        calls=_calls(news),
        barred=sum([_barred(worker, worker.permitted) for worker in current if worker.permitted is not None]),
        fleet_slots=_fleet_slots(current),
        retries_held=retries_held,
        classed=any(map(_classes_of, current)),
    )


def _held(workers: Iterable[WorkerReport]) -> tuple[int, int, int]:
    """Slots, those that are busy, and messages received that have not started."""
    slots = busy = buffered = 0
    for worker in workers:
        slots += worker.slots
        busy += worker.busy
        buffered += worker.buffered
    return slots, busy, buffered


def _ran(news: Iterable[WorkFigures]) -> tuple[int, float, float, int]:
    """Handler runs that ended, their times added up and the squares of these, and retries put off."""
    runs, sum_s, square_sum_s2, retries_held = 0, 0.0, 0.0, 0
    for figures in news:
        runs += figures.completions + figures.failures
        sum_s += figures.service_time_sum_s
        square_sum_s2 += figures.service_time_square_sum_s2
        retries_held += figures.retries_held
    return runs, sum_s, square_sum_s2, retries_held


def _barred(worker: WorkerReport, permitted: int) -> int:
    """What is busy is barred no more than it is free: a worker may finish what it has no permit for any longer."""
    return max(0, worker.slots - max(permitted, worker.busy))


def _fleet_slots(workers: Iterable[WorkerReport]) -> int | None:
    limits = [worker.fleet_slots for worker in workers]
    given = [limit for limit in limits if limit is not None]
    return max(given) if len(given) == len(limits) else None


def fleet_limit(known: int | None, fleet: FleetSignals | None) -> int | None:
    """The limit that the workers keep among themselves: as they report it, else as it was last known."""
    return known if fleet is None else fleet.fleet_slots


def known_worker(report: WorkerReport) -> KnownWorker:
    """What to remember of a worker in the store: its counts, and that its start-up is timed once it has polled."""
    total = report.total
    timed = report.first_receive_at_s is not None
    return KnownWorker(total.starts, total.completions, total.failures, timed, total.leases_lost)


def heard_of(fleet: Fleet, now_s: float) -> list[WorkerReport]:
    """The workers that are alive: see `is_alive`, which is written out here, for there may be hundreds."""
    return [
        worker
        for worker in fleet.workers
        if now_s - worker.reported_at_s <= SILENT_AFTER_HEARTBEATS * worker.heartbeat_s and worker.state is not _STOPPED
    ]


def is_alive(worker: WorkerReport, now_s: float) -> bool:
    """Heard of within three of its heartbeats, and not yet at its end: it may hold nothing and wait to be stopped."""
    heard_s = now_s - worker.reported_at_s
    return heard_s <= SILENT_AFTER_HEARTBEATS * worker.heartbeat_s and worker.state is not _STOPPED


def _idle(worker: WorkerReport, ticked_at_s: float | None) -> int:
    """As reported since the last tick: an earlier heartbeat knows nothing of what that tick saw come."""
    told = ticked_at_s is None or worker.reported_at_s > ticked_at_s
    if not (told and _polls(worker)):
        return 0
    free = worker.slots - worker.busy
    return free if worker.permitted is None else free - _barred(worker, worker.permitted)


def _polls(worker: WorkerReport) -> bool:
    """Takes work, and has done so for long enough to be busy if there was any.

    Not one that is denied, throttled or cut off from its queue: the slots of such a one are idle whatever waits.
    """
    first_s, answered_s = worker.first_receive_at_s, worker.answered_at_s
    if worker.state is not _RUNNING or first_s is None:
        return False
    answered = answered_s is None or worker.reported_at_s - answered_s <= ANSWERED_WITHIN_S
    return answered and worker.reported_at_s - first_s >= worker.heartbeat_s / 2


def _since(state: PoolState, workers: Iterable[WorkerReport]) -> tuple[int, int, int, list[WorkFigures]]:
    """Starts, completions and leases lost since the tick before, and what the reports that bring news tell.

    What is news is told by what was done, not by time: the worker's clock may be off.
    """
    starts = completions = leases_lost = 0
    news = []
    for worker in workers:
        before, figures = state.known_workers.get(digest(worker.worker_id)), worker.total
        seen = before
        if seen is None:
            seen, figures = _UNKNOWN, _unheard(worker, state.ticked_at_s)
        begun, ended = figures.starts - seen.starts, figures.completions - seen.completions
        lost = figures.leases_lost - seen.leases_lost
        if before is None or begun or ended or figures.failures != seen.failures:
            news.append(worker.recent)
        starts += begun if begun > 0 else 0
        completions += ended if ended > 0 else 0
        leases_lost += lost if lost > 0 else 0
    return starts, completions, leases_lost, news


def _unheard(worker: WorkerReport, ticked_at_s: float | None) -> WorkFigures:
    """Of a worker never seen before: what it did before this state began is not news."""
    young = ticked_at_s is not None and worker.started_at_s >= ticked_at_s
    return worker.total if young else worker.recent


def _by_class(news: list[WorkFigures]) -> dict[str, ClassFigures]:
    """The workers' classes added up, and under `UNCLASSED` what had none; {} where no message carries a class."""
    if True not in [bool(figures.classes) for figures in news]:
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
    if not any(map(_dependencies_of, news)):
        return {}
    names = dict.fromkeys([name for figures in news for name in figures.dependencies])
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
    buckets = list(map(sum, zip(*[figures.waits for figures in news if len(figures.waits) == edges], strict=True)))
    starts = sum(buckets)
    if not starts:
        return None
    late = sum(buckets[bisect_left(_LOWER_EDGES_S, target_wait_s) :])
    p99_s = _UPPER_EDGES_S[bisect_left(list(accumulate(buckets)), 0.99 * starts)]
    sum_s = sum(map(mul, buckets, _MIDDLES_S))
    return Waits(starts, late / starts, p99_s, sum_s)
