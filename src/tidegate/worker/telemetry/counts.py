"""What a worker has done, counted as it happens: the figures that the controller sizes with.

Every handler run is a completion or a failure once it ends. A completion is a run that returned while the message's
lease ran; a run that raised, or returned when its lease was already lost, is a failure. Runs that are told to stop
because the worker leaves are neither. `uncertain_deletes` counts deletes that SQS did not confirm within the lease.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Final, Protocol, TypeVar

from tidegate.core.reports import (
    WAIT_BOUNDS_S,
    ClassFigures,
    DependencyFigures,
    WorkerReport,
    WorkerState,
    WorkFigures,
    counted_as,
)
from tidegate.worker.telemetry.dependencies import DependencyLog

__all__ = ["Telemetry", "WorkWatch", "figures_since"]

Figures = TypeVar("Figures", WorkFigures, ClassFigures)
Numbers = TypeVar("Numbers", WorkFigures, ClassFigures, DependencyFigures)

_NEWEST_COUNTS: Final = 0.1
"""The share of the newest run in the usual service time: about the last twenty runs count."""


class _Counts:
    """Running sums of one class, or of all: changed in place, because a quick worker counts thousands a second."""

    __slots__ = ("completions", "failures", "square_sum_s2", "starts", "sum_s", "waits")

    def __init__(self) -> None:
        self.starts = self.completions = self.failures = 0
        self.sum_s = self.square_sum_s2 = 0.0
        self.waits: list[int] = []

    def started(self, wait_s: float | None) -> None:
        """None: a wait that is none of the fleet's making."""
        self.starts += 1
        if wait_s is not None:
            if not self.waits:
                self.waits = [0] * (len(WAIT_BOUNDS_S) + 1)
            self.waits[bisect_left(WAIT_BOUNDS_S, max(0.0, wait_s))] += 1

    def finished(self, service_time_s: float, completed: bool) -> None:
        if completed:
            self.completions += 1
        else:
            self.failures += 1
        self.sum_s += service_time_s
        self.square_sum_s2 += service_time_s**2

    def figures(self) -> ClassFigures:
        return ClassFigures(
            starts=self.starts,
            completions=self.completions,
            failures=self.failures,
            service_time_sum_s=self.sum_s,
            service_time_square_sum_s2=self.square_sum_s2,
            waits=tuple(self.waits),
        )


class WorkWatch(Protocol):
    """Hears of each handler's start and end as it is counted."""

    def started(self, wait_s: float | None) -> None:
        """`wait_s` None: a message that was received before."""
        ...

    def ended(self, service_time_s: float, *, completed: bool) -> None: ...


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
        self._answered_at_s: float | None = None
        self._all = _Counts()
        self._classes: dict[str, _Counts] = {}
        self._redeliveries = self._leases_lost = self._uncertain_deletes = self._retries_held = 0
        self._reported = WorkFigures(span_s=0.0)
        self.watches: list[WorkWatch] = []
        self.usual_service_time_s: float | None = None
        """What handlers have taken lately, on average; None before the first has ended."""

    @property
    def has_polled(self) -> bool:
        """Whether a receive call was ever sent."""
        return self._first_receive_at_s is not None

    def polled(self) -> bool:
        """A receive call is about to be sent. True for the first one."""
        first = self._first_receive_at_s is None
        if first:
            self._first_receive_at_s = self._wall()
        return first

    def answered(self) -> None:
        """A receive call has been answered, with messages or without."""
        self._answered_at_s = self._wall()

    def started(self, sent_at_s: float, receive_count: int, job_class: str = "") -> None:
        """A handler starts on a message. A wait that clocks make negative counts as none.

        Only a first receive has a wait to measure: what came back after a failure or a lapsed lease was hidden
        meanwhile, for its backoff or another worker's lease, and no further worker would have started it sooner.
        """
        again = receive_count > 1
        self._redeliveries += again
        wait_s = None if again else self._wall() - sent_at_s
        self._all.started(wait_s)
        for watch in self.watches:
            watch.started(wait_s)
        if job_class:
            self._class(job_class).started(wait_s)

    def finished(self, service_time_s: float, *, completed: bool, job_class: str = "") -> None:
        """A handler has ended after running for so long."""
        self._all.finished(service_time_s, completed)
        for watch in self.watches:
            watch.ended(service_time_s, completed=completed)
        if job_class:
            self._class(job_class).finished(service_time_s, completed)
        usual_s = self.usual_service_time_s
        self.usual_service_time_s = (
            service_time_s if usual_s is None else usual_s + _NEWEST_COUNTS * (service_time_s - usual_s)
        )

    def _class(self, name: str) -> _Counts:
        return self._classes.setdefault(counted_as(name, self._classes), _Counts())

    def lease_lost(self) -> None:
        self._leases_lost += 1

    def uncertain_delete(self) -> None:
        self._uncertain_deletes += 1

    def retry_held(self) -> None:
        """A message comes back later than its backoff, for the fleet's retry budget."""
        self._retries_held += 1

    def _total(self, span_s: float) -> WorkFigures:
        counts = self._all
        return WorkFigures(
            span_s=span_s,
            starts=counts.starts,
            completions=counts.completions,
            failures=counts.failures,
            redeliveries=self._redeliveries,
            leases_lost=self._leases_lost,
            uncertain_deletes=self._uncertain_deletes,
            retries_held=self._retries_held,
            service_time_sum_s=counts.sum_s,
            service_time_square_sum_s2=counts.square_sum_s2,
            waits=tuple(counts.waits),
            classes={name: each.figures() for name, each in self._classes.items()},
            dependencies=self.calls.totals(),
        )

    def report(self, state: WorkerState, reason: str, busy: int, buffered: int = 0) -> WorkerReport:
        """The heartbeat as of now; its `recent` covers the time since the last one that was `delivered`."""
        now_s = self._wall()
        total = self._total(max(0.0, now_s - self._started_at_s))
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
            buffered=buffered,
            answered_at_s=self._answered_at_s,
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
