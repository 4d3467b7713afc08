"""What a worker has done, counted as it happens: the figures that the controller sizes with.

Every handler run is a completion or a failure once it ends. A completion is a run that returned while the message's
lease ran; a run that raised, or returned when its lease was already lost, is a failure. Runs that are told to stop
because the worker leaves are neither. `uncertain_deletes` counts deletes that SQS did not confirm within the lease.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

from tidegate.core.reports import (
    WAIT_BOUNDS_S,
    ClassFigures,
    DependencyFigures,
    WorkerReport,
    WorkerState,
    WorkFigures,
)
from tidegate.worker.dependencies import DependencyLog

__all__ = ["Telemetry", "figures_since"]

Figures = TypeVar("Figures", WorkFigures, ClassFigures)
Numbers = TypeVar("Numbers", WorkFigures, ClassFigures, DependencyFigures)

_NO_WAITS = (0,) * (len(WAIT_BOUNDS_S) + 1)


class Telemetry:
    """Running totals of one worker. `wall` is the time of day, which is what reports are stamped with.

    `calls` is what handlers count their dependencies' calls in; they do so from threads of their own.
    """

    def __init__(
        self,
        worker_id: str,
        slots: int,
        heartbeat_s: float,
        wall: Callable[[], float],
        calls: DependencyLog | None = None,
    ) -> None:
        self._worker_id = worker_id
        self._slots = slots
        self._heartbeat_s = heartbeat_s
        self._wall = wall
        self.calls = DependencyLog(wall) if calls is None else calls
        self._started_at_s = wall()
        self._first_receive_at_s: float | None = None
        self._total = WorkFigures(span_s=0.0)
        self._reported = self._total

    def polled(self) -> bool:
        """A receive call is about to be sent. True for the first one."""
        first = self._first_receive_at_s is None
        if first:
            self._first_receive_at_s = self._wall()
        return first

    def started(self, sent_at_s: float, receive_count: int) -> None:
        """A handler starts on a message. A wait that clocks make negative counts as none.

        Only a first receive has a wait to measure: what came back after a failure or a lapsed lease was hidden
        meanwhile, for its backoff or another worker's lease, and no further worker would have started it sooner.
        """
        again = receive_count > 1
        self._total = replace(
            self._total,
            starts=self._total.starts + 1,
            redeliveries=self._total.redeliveries + again,
            waits=self._total.waits if again else self._with_wait(self._wall() - sent_at_s),
        )

    def _with_wait(self, wait_s: float) -> tuple[int, ...]:
        waits = list(self._total.waits or _NO_WAITS)
        waits[bisect_left(WAIT_BOUNDS_S, max(0.0, wait_s))] += 1
        return tuple(waits)

    def finished(self, service_time_s: float, *, completed: bool) -> None:
        """A handler has ended after running for so long."""
        self._total = replace(
            self._total,
            completions=self._total.completions + completed,
            failures=self._total.failures + (not completed),
            service_time_sum_s=self._total.service_time_sum_s + service_time_s,
            service_time_square_sum_s2=self._total.service_time_square_sum_s2 + service_time_s**2,
        )

    def lease_lost(self) -> None:
        self._total = replace(self._total, leases_lost=self._total.leases_lost + 1)

    def uncertain_delete(self) -> None:
        self._total = replace(self._total, uncertain_deletes=self._total.uncertain_deletes + 1)

    def report(self, state: WorkerState, reason: str, busy: int) -> WorkerReport:
        """The heartbeat as of now; its `recent` covers the time since the last one that was `delivered`."""
        now_s = self._wall()
        span_s = max(0.0, now_s - self._started_at_s)
        total = replace(self._total, span_s=span_s, dependencies=self.calls.totals())
        return WorkerReport(
            worker_id=self._worker_id,
            state=state,
            reason=reason,
            reported_at_s=now_s,
            started_at_s=self._started_at_s,
            first_receive_at_s=self._first_receive_at_s,
            slots=self._slots,
            busy=busy,
            recent=figures_since(self._reported, total),
            total=total,
            heartbeat_s=self._heartbeat_s,
        )

    def delivered(self, report: WorkerReport) -> None:
        """This report has arrived: the next one's `recent` starts where it ended, so a lost report loses no work."""
        self._reported = report.total


def figures_since(earlier: WorkFigures, later: WorkFigures) -> WorkFigures:
    """What happened between two totals of one worker."""
    none, uncalled = ClassFigures(), DependencyFigures()
    classes = {name: _since(earlier.classes.get(name, none), now) for name, now in later.classes.items()}
    calls = {name: _more(earlier.dependencies.get(name, uncalled), now) for name, now in later.dependencies.items()}
    return replace(
        _since(earlier, later),
        classes={name: news for name, news in classes.items() if news != none},
        dependencies={name: news for name, news in calls.items() if news != uncalled},
    )


def _since(earlier: Figures, later: Figures) -> Figures:
    """Each number less what it was before. Of waits that nothing was added to, nothing is left."""
    before = earlier.waits or (0,) * len(later.waits)
    waits = tuple(after - seen for after, seen in zip(later.waits, before, strict=True))
    return replace(_more(earlier, later), waits=waits if any(waits) else ())


def _more(earlier: Numbers, later: Numbers) -> Numbers:
    sums = {
        field.name: getattr(later, field.name) - getattr(earlier, field.name)
        for field in fields(later)
        if isinstance(getattr(later, field.name), int | float)
    }
    return replace(later, **sums)
