"""The workers' heartbeats as a controller finds them in the fleet table, reckoned for all workers at once.

Each worker beats every ten seconds from its first receive call, at once when it starts to drain, and a last time when
it is done. The table holds each worker's latest beat; three beats after that it is gone.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tidegate.core.reports import WAIT_BOUNDS_S, DependencyFigures, WorkerReport, WorkerState, WorkFigures
from tidegate.lab.fleet import SimulatedWorker
from tidegate.lab.scenario import Floats, Scenario
from tidegate.lab.simulator_queue import Runs

__all__ = ["BEATS_TO_LIVE_S", "BEAT_S", "DEPENDENCY", "FleetReports"]

BEAT_S = 10.0
BEATS_TO_LIVE_S = 3 * BEAT_S

DEPENDENCY = "downstream"
"""What reports call the scenario's `downstream`."""

_BUCKETS = len(WAIT_BOUNDS_S) + 1
_STARTS, _COMPLETIONS, _FAILURES, _REDELIVERIES, _SUM, _SQUARES, _WAITS = range(7)
_COLUMNS = _WAITS + _BUCKETS


@dataclass(frozen=True, slots=True)
class _Window:
    """The runs that a report can still speak of, with all that reports say of them."""

    starts_s: Floats
    ends_s: Floats
    workers: NDArray[np.int64]
    buckets: NDArray[np.int64]
    again: NDArray[np.bool_]
    failed: NDArray[np.bool_]

    def keep(self, kept: NDArray[np.bool_]) -> "_Window":
        return _Window(*(getattr(self, name)[kept] for name in self.__slots__))

    def plus(self, other: "_Window") -> "_Window":
        return _Window(*(np.concatenate((getattr(self, n), getattr(other, n))) for n in self.__slots__))


class FleetReports:
    """Feed it every run, in order, before asking for the reports of a time."""

    def __init__(self, scenario: Scenario, poison: frozenset[int]) -> None:
        self._scenario = scenario
        self._poison = np.zeros(len(scenario.arrivals_s), bool)
        self._poison[list(poison)] = True
        self._runs = _Window(*(np.empty(0, kind) for kind in (float, float, np.int64, np.int64, bool, bool)))
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._totals = np.zeros((0, _COLUMNS))
        self._totals_until_s = np.empty(0)
        self._read_at_s = 0.0

    def add(self, runs: Runs, again: NDArray[np.bool_]) -> None:
        """Runs that have started; `again` tells which of them are of messages that had started before."""
        waits_s = runs.starts_s - self._scenario.arrivals_s[runs.messages]
        added = _Window(
            starts_s=runs.starts_s,
            ends_s=runs.ends_s,
            workers=runs.slots // self._scenario.slots_per_worker,
            buckets=np.searchsorted(WAIT_BOUNDS_S, waits_s),
            again=again,
            failed=self._poison[runs.messages],
        )
        self._runs = self._runs.plus(added)

    def read(self, now_s: float, workers: list[SimulatedWorker]) -> tuple[WorkerReport, ...]:
        """The latest report of each of `workers` that the table still holds.

        `workers`: those that run, and those that ran until less than three beats ago, in the order of their numbers.
        """
        self._forget(now_s)
        listed, before_s, latest_s = _latest_beats(workers, now_s)
        self._follow(np.array([worker.number for worker in listed], np.int64))
        if not listed:
            return ()
        runs, row = self._listed_runs()
        recent = _figures(runs, row, before_s, latest_s)
        same = np.array_equal(self._totals_until_s, before_s)
        self._totals += recent if same else _figures(runs, row, self._totals_until_s, latest_s)
        self._totals_until_s = latest_s
        busy = np.bincount(row[(runs.starts_s < latest_s[row]) & (runs.ends_s >= latest_s[row])], minlength=len(listed))
        called = self._scenario.downstream is not None
        recents = _work_figures(latest_s - before_s, recent, called=called)
        totals = _work_figures(latest_s - [worker.ready_at_s for worker in listed], self._totals, called=called)
        rows = zip(listed, latest_s.tolist(), busy.tolist(), recents, totals, strict=True)
        return tuple(self._report(*row) for row in rows)

    def _forget(self, now_s: float) -> None:
        """Drop the runs that no report can speak of any more: neither a stopped worker's last, nor any total's next."""
        ended_by_s = min(now_s - BEATS_TO_LIVE_S - BEAT_S, self._read_at_s - 2 * BEAT_S)
        self._runs = self._runs.keep(self._runs.ends_s >= ended_by_s)
        self._read_at_s = now_s

    def _follow(self, numbers: NDArray[np.int64]) -> None:
        """Carry the totals of those that stay, and begin those of the new."""
        if np.array_equal(numbers, self._numbers):
            return
        totals, until_s = np.zeros((len(numbers), _COLUMNS)), np.zeros(len(numbers))
        _, here, there = np.intersect1d(numbers, self._numbers, assume_unique=True, return_indices=True)
        totals[here], until_s[here] = self._totals[there], self._totals_until_s[there]
        self._numbers, self._totals, self._totals_until_s = numbers, totals, until_s

    def _listed_runs(self) -> tuple[_Window, NDArray[np.int64]]:
        """The runs of workers that are listed, and for each the row of its worker."""
        row = np.minimum(np.searchsorted(self._numbers, self._runs.workers), len(self._numbers) - 1)
        listed = self._numbers[row] == self._runs.workers
        return self._runs.keep(listed), row[listed]

    def _report(
        self, worker: SimulatedWorker, at_s: float, busy: int, recent: WorkFigures, total: WorkFigures
    ) -> WorkerReport:
        draining = at_s >= worker.drains_from_s
        state = WorkerState.DRAINING if draining else WorkerState.RUNNING
        return WorkerReport(
            worker_id=f"w{worker.number}",
            state=WorkerState.STOPPED if at_s >= worker.gone_at_s else state,
            reason="scale-in" if draining else "",
            reported_at_s=at_s,
            started_at_s=worker.ready_at_s,
            first_receive_at_s=worker.ready_at_s,
            slots=self._scenario.slots_per_worker,
            busy=busy,
            recent=recent,
            total=total,
        )


def _figures(runs: _Window, row: NDArray[np.int64], from_s: Floats, to_s: Floats) -> Floats:
    """One row of figures per worker, on what it did from its `from_s` on and before its `to_s`."""
    count = len(from_s)
    from_s, to_s = from_s[row], to_s[row]
    began = (runs.starts_s >= from_s) & (runs.starts_s < to_s)
    ended = (runs.ends_s >= from_s) & (runs.ends_s < to_s)
    took_s = (runs.ends_s - runs.starts_s)[ended]
    figures = np.empty((count, _COLUMNS))
    figures[:, _STARTS] = np.bincount(row[began], minlength=count)
    figures[:, _COMPLETIONS] = np.bincount(row[ended & ~runs.failed], minlength=count)
    figures[:, _FAILURES] = np.bincount(row[ended & runs.failed], minlength=count)
    figures[:, _REDELIVERIES] = np.bincount(row[began & runs.again], minlength=count)
    figures[:, _SUM] = np.bincount(row[ended], took_s, count)
    figures[:, _SQUARES] = np.bincount(row[ended], took_s**2, count)
    firsts = began & ~runs.again
    cells = row[firsts] * _BUCKETS + runs.buckets[firsts]
    figures[:, _WAITS:] = np.bincount(cells, minlength=count * _BUCKETS).reshape(count, _BUCKETS)
    return figures


def _work_figures(spans_s: Floats, figures: Floats, *, called: bool) -> list[WorkFigures]:
    """`called`: handlers do nothing but call the dependency, and time it as `message.dependency` does."""
    counts = figures[:, :_SUM].astype(np.int64).tolist()
    sums = figures[:, _SUM:_WAITS].tolist()
    waits = figures[:, _WAITS:].astype(np.int64).tolist()
    return [
        WorkFigures(
            span_s=span_s,
            starts=starts,
            completions=completions,
            failures=failures,
            redeliveries=redeliveries,
            service_time_sum_s=sum_s,
            service_time_square_sum_s2=square_sum_s2,
            waits=tuple(buckets) if any(buckets) else (),
            dependencies=_calls(completions + failures, sum_s) if called else {},
        )
        for span_s, (starts, completions, failures, redeliveries), (sum_s, square_sum_s2), buckets in zip(
            spans_s.tolist(), counts, sums, waits, strict=True
        )
    ]


def _calls(calls: int, time_sum_s: float) -> dict[str, DependencyFigures]:
    return {DEPENDENCY: DependencyFigures(calls=calls, time_sum_s=time_sum_s)} if calls else {}


def _latest_beats(workers: list[SimulatedWorker], now_s: float) -> tuple[list[SimulatedWorker], Floats, Floats]:
    """The workers whose latest beat still counts, and for each the beat before it and the latest."""
    beats = [(worker, *_beats(worker, now_s)) for worker in workers]
    current = [beat for beat in beats if beat[2] > now_s - BEATS_TO_LIVE_S]
    times_s = np.array([beat[1:] for beat in current]).reshape(-1, 2)
    return [worker for worker, _, _ in current], times_s[:, 0], times_s[:, 1]


def _beats(worker: SimulatedWorker, now_s: float) -> tuple[float, float]:
    """The beat before the latest and the latest one up to now; the very first one has nothing before it."""
    until_s = min(now_s, worker.gone_at_s)
    if worker.gone_at_s <= now_s and not worker.lost:
        return _regular(worker, until_s)[1], until_s
    return _regular(worker, until_s)


def _regular(worker: SimulatedWorker, until_s: float) -> tuple[float, float]:
    """As `_beats`, without the last word."""
    if until_s >= worker.drains_from_s:
        passed = (until_s - worker.drains_from_s) // BEAT_S
        latest_s = worker.drains_from_s + passed * BEAT_S
        if passed > 0:
            return worker.drains_from_s + (passed - 1) * BEAT_S, latest_s
        passed = (worker.drains_from_s - worker.ready_at_s) // BEAT_S
        return worker.ready_at_s + passed * BEAT_S, latest_s
    passed = (until_s - worker.ready_at_s) // BEAT_S
    return worker.ready_at_s + max(0.0, passed - 1) * BEAT_S, worker.ready_at_s + passed * BEAT_S
