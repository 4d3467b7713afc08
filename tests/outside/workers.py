"""One worker: slots, what it has done, and what it tells of that every ten seconds."""

from bisect import bisect_left
from dataclasses import dataclass, field

from tests.outside.sqs import Message
from tidegate.core.reports import WAIT_BOUNDS_S, ClassFigures, WorkerReport, WorkerState, WorkFigures

__all__ = ["HEARTBEAT_S", "Tally", "Worker"]

HEARTBEAT_S = 10.0


@dataclass(slots=True)
class Tally:
    """Running sums; the difference of two is what a heartbeat tells."""

    starts: int = 0
    completions: int = 0
    failures: int = 0
    redeliveries: int = 0
    sum_s: float = 0.0
    square_sum_s2: float = 0.0
    waits: list[int] = field(default_factory=lambda: [0] * (len(WAIT_BOUNDS_S) + 1))

    def begin(self, wait_s: float | None) -> None:
        """A handler starts; `wait_s` None: not for the first time."""
        self.starts += 1
        if wait_s is None:
            self.redeliveries += 1
        else:
            self.waits[bisect_left(WAIT_BOUNDS_S, wait_s)] += 1

    def end(self, took_s: float, *, failed: bool) -> None:
        """A handler's run ends."""
        self.failures += failed
        self.completions += not failed
        self.sum_s += took_s
        self.square_sum_s2 += took_s * took_s

    def copy(self) -> "Tally":
        """As it is now."""
        return Tally(
            self.starts,
            self.completions,
            self.failures,
            self.redeliveries,
            self.sum_s,
            self.square_sum_s2,
            [*self.waits],
        )

    def since(self, before: "Tally") -> "Tally":
        """What has been added since."""
        return Tally(
            self.starts - before.starts,
            self.completions - before.completions,
            self.failures - before.failures,
            self.redeliveries - before.redeliveries,
            self.sum_s - before.sum_s,
            self.square_sum_s2 - before.square_sum_s2,
            [now - then for now, then in zip(self.waits, before.waits, strict=True)],
        )

    def told(self) -> ClassFigures:
        """For one class of messages."""
        return ClassFigures(
            self.starts, self.completions, self.failures, self.sum_s, self.square_sum_s2, self._waits_told()
        )

    def _waits_told(self) -> tuple[int, ...]:
        return tuple(self.waits) if any(self.waits) else ()

    def figures(self, span_s: float, classes: dict[str, ClassFigures]) -> WorkFigures:
        """For all messages together."""
        return WorkFigures(
            span_s=span_s,
            starts=self.starts,
            completions=self.completions,
            failures=self.failures,
            redeliveries=self.redeliveries,
            service_time_sum_s=self.sum_s,
            service_time_square_sum_s2=self.square_sum_s2,
            waits=self._waits_told(),
            classes=classes,
        )


@dataclass(slots=True, eq=False)
class Worker:
    """`ready_s` None: it is starting. `reports` False: it does not use the SDK."""

    name: str
    asked_s: float
    slots: int
    reports: bool
    revision: int
    ready_s: float | None = None
    state: WorkerState = WorkerState.RUNNING
    stopping: bool = False
    running: set[Message] = field(default_factory=set)
    tally: Tally = field(default_factory=Tally)
    classes: dict[str, Tally] = field(default_factory=dict)
    report: WorkerReport | None = None
    _told: Tally = field(default_factory=Tally)
    _told_classes: dict[str, Tally] = field(default_factory=dict)

    @property
    def takes(self) -> bool:
        """Whether it polls."""
        return self.ready_s is not None and self.state is WorkerState.RUNNING and not self.stopping

    @property
    def free(self) -> int:
        """Slots in which a handler could start."""
        return self.slots - len(self.running) if self.takes else 0

    @property
    def protected(self) -> bool:
        """The SDK keeps it so from before the first receive until it has drained."""
        return self.reports and self.state not in (WorkerState.RELEASED, WorkerState.STOPPED)

    def tallies(self, message: Message) -> list[Tally]:
        """Where this message counts."""
        if not message.job_class:
            return [self.tally]
        return [self.tally, self.classes.setdefault(message.job_class, Tally())]

    def tell(self, now_s: float) -> None:
        """A heartbeat."""
        if self.ready_s is None or not self.reports:
            return
        span_s = now_s - (self.report.reported_at_s if self.report else self.ready_s)
        none = Tally()
        recent = {name: one.since(self._told_classes.get(name, none)).told() for name, one in self.classes.items()}
        total = {name: one.told() for name, one in self.classes.items()}
        self.report = WorkerReport(
            worker_id=self.name,
            state=self.state,
            reason="",
            reported_at_s=now_s,
            started_at_s=self.ready_s,
            first_receive_at_s=self.ready_s,
            slots=self.slots,
            busy=len(self.running),
            recent=self.tally.since(self._told).figures(span_s, recent),
            total=self.tally.figures(now_s - self.ready_s, total),
            heartbeat_s=HEARTBEAT_S,
            protected=self.protected,
            host=self.name,
            answered_at_s=now_s if self.takes else None,
        )
        self._told = self.tally.copy()
        self._told_classes = {name: one.copy() for name, one in self.classes.items()}
