"""What the workers' reports say together: who is there, and what `core.signals.news` makes of what they did."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from operator import attrgetter

from tidegate.core.bounds import at_least
from tidegate.core.model import KnownWorker, PoolState
from tidegate.core.reports import ClassFigures, DependencyFigures, Fleet, WorkerReport, WorkerState
from tidegate.core.signals.news import Waits, by_class, calls_of, done_since, ran, read_at_s, waits_of
from tidegate.core.value import maker, value

__all__ = ["FleetSignals", "fleet_limit", "heard_of", "known_worker", "sum_fleet"]

SILENT_AFTER_HEARTBEATS = 3.0
ANSWERED_WITHIN_S = 30.0
"""The longest poll (20 s,
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html) and some."""

_classes_of = attrgetter("total.classes")
_RUNNING, _RELEASED, _STOPPED = WorkerState.RUNNING, WorkerState.RELEASED, WorkerState.STOPPED
"""By the hundred and tick: an enum's member is looked up in its class far slower than a name in a module."""


@value
class FleetSignals:
    """The workers heard of lately, summed.

    `departures` are completions since reports were last read, `since_s` ago, `ends` those and failures, and `starts`
    handler runs begun, each counted once however ticks and heartbeats fall. `idle` are the free slots of workers that
    poll for work, as told since the last tick. `runs` and the sums are those of the reports that brought news, which
    tell of `told_s`. `heartbeat_s` is the longest of the workers' intervals. `buffered` messages were received and have
    not started. `classes` are the figures of the reports that brought news, by job class.
    """

    workers: int
    slots: int
    busy: int
    busy_workers: int
    heartbeat_s: float
    starts: float
    departures: float
    runs: int
    service_time_sum_s: float
    service_time_square_sum_s2: float
    waits: Waits | None
    since_s: float = 0.0
    ends: float = 0
    told_s: float = 0.0
    buffered: int = 0
    idle: int = 0
    classes: Mapping[str, ClassFigures] = field(default_factory=dict)
    leases_lost: int = 0
    """Since reports were last read, each counted once."""
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
    """The workers that report, and those of them that have let go of all and wait to be stopped."""
    alive: Sequence[WorkerReport] = field(default=(), compare=False, repr=False)
    """Their reports."""
    unheard: int = 0
    """Of the workers, those that do not report: what they do is reckoned from the others (`core.signals.unheard`)."""

    @property
    def free(self) -> int:
        """Slots in which a handler could start."""
        return self.slots - self.busy - self.barred

    @property
    def slots_per_worker(self) -> int:
        """As the workers have it, which outranks the setting."""
        return at_least(round(self.slots / self.workers), 1)


_fleet_signals = maker(FleetSignals)


def sum_fleet(state: PoolState, fleet: Fleet, now_s: float, target_wait_s: float) -> FleetSignals | None:
    """None when no worker that takes or finishes work was heard of within three of its heartbeats.

    A worker that has left is no capacity, but what it completed last has left the queue all the same.
    """
    alive = heard_of(fleet.workers, now_s)
    current = [worker for worker in alive if worker.state is not _RELEASED]
    if not current:
        return None
    done = done_since(state, fleet.workers)
    news, since_s = done.news, _since_s(state, now_s)
    slots, busy, busy_workers, idle, buffered, barred, taking = _held(current, state.ticked_at_s)
    runs, sum_s, square_sum_s2, retries_held = ran(news)
    return _fleet_signals(
        heard=len(alive),
        alive=alive,
        workers=len(current),
        slots=slots,
        busy=busy,
        busy_workers=busy_workers,
        idle=idle,
        heartbeat_s=max([worker.heartbeat_s for worker in current]),
        since_s=since_s,
        starts=done.starts,
        departures=done.completions,
        ends=done.ends,
        told_s=done.told_s(since_s, len(current)),
        runs=runs,
        service_time_sum_s=sum_s,
        service_time_square_sum_s2=square_sum_s2,
        waits=waits_of(news, target_wait_s),
        buffered=buffered,
        classes=by_class(news),
        taking=taking,
        leases_lost=done.leases_lost,
        calls=calls_of(news),
        barred=barred,
        fleet_slots=_fleet_slots(current),
        retries_held=retries_held,
        classed=any(map(_classes_of, current)),
    )


def _since_s(state: PoolState, now_s: float) -> float:
    """Since reports were last read; 0 before they ever were."""
    read_s = read_at_s(state)
    return at_least(now_s - read_s, 0.0) if read_s is not None else 0.0


def _held(workers: Iterable[WorkerReport], ticked_at_s: float | None) -> tuple[int, int, int, int, int, int, int]:
    """Slots, those that are busy, workers that have any such, slots that are idle (see `_idle`), messages received that
    have not started, slots that may not be used, workers that take work.
    """
    slots = busy = busy_workers = idle = buffered = barred = taking = 0
    for worker in workers:
        slots += worker.slots
        buffered += worker.buffered
        if working := worker.busy:
            busy += working
            busy_workers += 1
        if worker.permitted is not None:
            barred += _barred(worker, worker.permitted)
        if worker.state is _RUNNING:
            taking += 1
            if working != worker.slots:
                idle += _idle(worker, ticked_at_s)
    return slots, busy, busy_workers, idle, buffered, barred, taking


def _barred(worker: WorkerReport, permitted: int) -> int:
    """What is busy is barred no more than it is free: a worker may finish what it has no permit for any longer."""
    return max(0, worker.slots - max(permitted, worker.busy))


def _fleet_slots(workers: Iterable[WorkerReport]) -> int | None:
    limits = [worker.fleet_slots for worker in workers]
    return None if None in limits else max(limit for limit in limits if limit is not None)


def fleet_limit(known: int | None, fleet: FleetSignals | None) -> int | None:
    """The limit that the workers keep among themselves: as they report it, else as it was last known."""
    return known if fleet is None else fleet.fleet_slots


def known_worker(report: WorkerReport) -> KnownWorker:
    """What to remember of a worker in the store: its counts, and that its start-up is timed once it has polled."""
    total = report.total
    timed = report.first_receive_at_s is not None
    return KnownWorker(total.starts, total.completions, total.failures, timed, total.leases_lost)


def heard_of(workers: Iterable[WorkerReport], now_s: float) -> list[WorkerReport]:
    """Those within three of their heartbeats and not yet at their end: one may hold nothing and wait to be stopped."""
    return [
        worker
        for worker in workers
        if now_s - worker.reported_at_s <= SILENT_AFTER_HEARTBEATS * worker.heartbeat_s and worker.state is not _STOPPED
    ]


def _idle(worker: WorkerReport, ticked_at_s: float | None) -> int:
    """As reported since the last tick: an earlier heartbeat knows nothing of what that tick saw come."""
    if not (ticked_at_s is None or worker.reported_at_s > ticked_at_s) or not _polls(worker):
        return 0
    free = worker.slots - worker.busy
    return free if worker.permitted is None else free - _barred(worker, worker.permitted)


def _polls(worker: WorkerReport) -> bool:
    """Takes work, and has done so for long enough to be busy if there was any.

    Not one that is denied, throttled or cut off from its queue: the slots of such a one are idle whatever waits.
    """
    first_s, answered_s = worker.first_receive_at_s, worker.answered_at_s
    if first_s is None:
        return False
    answered = answered_s is None or worker.reported_at_s - answered_s <= ANSWERED_WITHIN_S
    return answered and worker.reported_at_s - first_s >= worker.heartbeat_s / 2
