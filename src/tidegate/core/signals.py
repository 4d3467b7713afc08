"""How far each signal can be trusted at this tick. Missing or stale never scales in; gone or denied is never zero."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from tidegate.core.model import Absence, Fleet, Observation, Pool, PoolState, Reading, WorkerReport, WorkerState

__all__ = [
    "METRIC_MAX_AGE_S",
    "FleetSignals",
    "Freshness",
    "Signals",
    "classify",
    "read_fleet",
    "read_signals",
]

METRIC_MAX_AGE_S = 180.0
"""A CloudWatch reading older than this says nothing of now. Minutes close every 60 s and arrive a minute or two later
(the normal lag is undocumented: SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html)."""


class Freshness(StrEnum):
    """From best to worst; a sum over queues is as good as its worst part."""

    FRESH = "fresh"
    STALE = "stale"
    MISSING = "missing"
    DENIED = "denied"
    GONE = "gone"


_ORDER = list(Freshness)
_ABSENT = {Absence.DENIED: Freshness.DENIED, Absence.GONE: Freshness.GONE}


@dataclass(frozen=True, slots=True)
class FleetSignals:
    """The workers that reported lately, summed. `runs` and the sums cover each worker's latest span."""

    workers: int
    slots: int
    busy: int
    busy_workers: int
    completions_per_s: float
    runs: int
    service_time_sum_s: float
    service_time_square_sum_s2: float


@dataclass(frozen=True, slots=True)
class Signals:
    """All that the later steps use, each with how far it can be trusted.

    `waiting`, `in_flight`, `delayed` are sums over the queues that could be read; `counts` is the worst of them.
    `age_s` (and the time it speaks of, `age_at_s`), `sent_per_s` and `deleted_per_s` are None unless fresh. `fleet` is
    None when no worker reports.
    """

    counts: Freshness
    waiting: float
    in_flight: float
    delayed: float
    age_s: float | None
    age_at_s: float | None
    sent_per_s: float | None
    deleted_per_s: float | None
    fleet_state: Freshness
    fleet: FleetSignals | None
    errors: tuple[str, ...]

    @property
    def in_system(self) -> float:
        """Everything sent and not yet deleted."""
        return self.waiting + self.in_flight + self.delayed


def classify(reading: Reading, now_s: float, max_age_s: float) -> Freshness:
    """Fresh up to and at `max_age_s`, stale after it; absent readings keep their kind (throttled counts as missing).

    >>> classify(Reading(3, taken_at_s=100), now_s=130, max_age_s=30)
    <Freshness.FRESH: 'fresh'>
    >>> classify(Reading(None, 100, Absence.GONE), now_s=101, max_age_s=30)
    <Freshness.GONE: 'gone'>
    """
    if reading.absence is not None or reading.value is None:
        return _ABSENT.get(reading.absence or Absence.MISSING, Freshness.MISSING)
    return Freshness.FRESH if now_s - reading.taken_at_s <= max_age_s else Freshness.STALE


def read_signals(pool: Pool, state: PoolState, seen: Observation) -> Signals:
    """Sum the queues and the fleet of one observation."""
    counts_max_age_s = 2 * pool.tick_s
    counts = [
        classify(reading, seen.now_s, counts_max_age_s)
        for queue in seen.queues
        for reading in (queue.visible, queue.in_flight, queue.delayed)
    ]
    fleet_state, fleet = read_fleet(pool, state, seen)
    age = _oldest((queue.age_s for queue in seen.queues), seen.now_s)
    return Signals(
        counts=_worst(counts),
        waiting=_known(queue.visible for queue in seen.queues),
        in_flight=_known(queue.in_flight for queue in seen.queues),
        delayed=_known(queue.delayed for queue in seen.queues),
        age_s=age.value if age else None,
        age_at_s=age.taken_at_s if age else None,
        sent_per_s=_total([queue.sent_per_s for queue in seen.queues], seen.now_s),
        deleted_per_s=_total([queue.deleted_per_s for queue in seen.queues], seen.now_s),
        fleet_state=fleet_state,
        fleet=fleet,
        errors=_errors(seen),
    )


def read_fleet(pool: Pool, state: PoolState, seen: Observation) -> tuple[Freshness, FleetSignals | None]:
    """The fleet's reports and how far they can be trusted.

    No store at all (absence MISSING) is a pool without the SDK and fine. A store that failed is MISSING or DENIED. A
    pool that has reported before and is silent while workers run is STALE: they may be busy for all that is known.
    """
    reports = _current(seen.fleet, seen.now_s - 3 * pool.heartbeat_s)
    if seen.fleet.absence not in (None, Absence.MISSING):
        return _ABSENT.get(seen.fleet.absence, Freshness.MISSING), None
    if reports:
        return Freshness.FRESH, _sum_fleet(reports)
    silent = seen.capacity.running > 0 and state.service_time is not None
    return (Freshness.STALE if silent else Freshness.FRESH), None


def _current(fleet: Fleet, not_before_s: float) -> list[WorkerReport]:
    gone = (WorkerState.RELEASED, WorkerState.STOPPED)
    return [w for w in fleet.workers if w.reported_at_s >= not_before_s and w.state not in gone]


def _sum_fleet(reports: list[WorkerReport]) -> FleetSignals:
    return FleetSignals(
        workers=len(reports),
        slots=sum(report.slots for report in reports),
        busy=sum(report.busy for report in reports),
        busy_workers=sum(report.busy > 0 for report in reports),
        completions_per_s=sum(r.recent.completions / r.recent.span_s for r in reports if r.recent.span_s > 0),
        runs=sum(report.recent.completions + report.recent.failures for report in reports),
        service_time_sum_s=sum(report.recent.service_time_sum_s for report in reports),
        service_time_square_sum_s2=sum(report.recent.service_time_square_sum_s2 for report in reports),
    )


def _worst(states: list[Freshness]) -> Freshness:
    return max(states, key=_ORDER.index)


def _known(readings: Iterable[Reading]) -> float:
    """The sum of what could be read: a lower bound where a queue could not."""
    return sum(reading.value for reading in readings if reading.absence is None and reading.value is not None)


def _oldest(readings: Iterable[Reading], now_s: float) -> Reading | None:
    fresh = [r for r in readings if classify(r, now_s, METRIC_MAX_AGE_S) is Freshness.FRESH]
    return max(fresh, key=lambda r: r.value or 0.0, default=None)


def _total(readings: list[Reading], now_s: float) -> float | None:
    """The sum when every queue has a fresh reading, else None: half a sum would read as a fall in traffic."""
    if any(classify(reading, now_s, METRIC_MAX_AGE_S) is not Freshness.FRESH for reading in readings):
        return None
    return _known(readings)


def _errors(seen: Observation) -> tuple[str, ...]:
    """A sentence for everything that was refused or failed, the queue's metrics and the fleet included, each once."""
    readings = [
        (queue.queue, reading)
        for queue in seen.queues
        for reading in (queue.visible, queue.age_s, queue.sent_per_s, queue.deleted_per_s)
    ]
    said = [f"{name}: {r.detail or r.absence}" for name, r in readings if r.absence not in (None, Absence.MISSING)]
    if seen.fleet.absence not in (None, Absence.MISSING):
        said.append(f"fleet: {seen.fleet.detail or seen.fleet.absence}")
    return tuple(dict.fromkeys(said))
