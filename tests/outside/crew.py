"""The life of workers: they start, report, hear what the pool is told, drain, are lost, and leave."""

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.outside.events import Events
from tests.outside.polls import Polls
from tests.outside.scenario import Scenario
from tests.outside.sqs import Message
from tests.outside.workers import HEARTBEAT_S, Worker
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport, WorkerState

__all__ = ["Crew"]

_EAGER_S = 2.0
"""How often a retired worker looks whether it is taken back."""
_SPOT_NOTICE_S = 120.0
_REPORTS_KEPT_S = 120.0
_LISTED = (WorkerState.RETIRING, WorkerState.RELEASED)


@dataclass(eq=False)
class Crew:
    """`offer` is called when somebody polls, `back` with what a killed worker held. `kind`: nobody is ever killed."""

    scenario: Scenario
    events: Events
    chance: random.Random
    polls: Polls
    offer: Callable[[], None]
    back: Callable[[Worker, Message], None]
    kind: bool = False
    all: list[Worker] = field(default_factory=list)
    directive: Directive = field(default_factory=Directive)
    paid_s: float = 0.0
    interrupted: int = 0
    _reports: dict[str, WorkerReport] = field(default_factory=dict)

    @property
    def busy(self) -> int:
        """Slots in use."""
        return sum(len(worker.running) for worker in self.all)

    def begin(self, worker: Worker) -> None:
        """One was launched."""
        self.all.append(worker)
        spread = self.scenario.start_up_spread
        takes_s = self.scenario.start_up_s * math.exp(spread * self.chance.gauss(0, 1) - spread * spread / 2)
        self.events.after(takes_s if self.events.now_s else 0.0, self._ready, worker)

    def _ready(self, worker: Worker) -> None:
        if worker.stopping:
            return
        faults, now_s = self.scenario.faults, self.events.now_s
        if now_s and self.chance.random() < faults.failed_starts:
            worker.stopping = True
            self._gone(worker)
            return
        worker.ready_s = now_s
        if faults.spot_losses_per_hour:
            self.events.after(self.chance.expovariate(faults.spot_losses_per_hour / 3600.0), self._spot, worker)
        self.polls.note(worker)
        self.offer()
        if worker.reports:
            self.events.after(self.chance.random() * HEARTBEAT_S, self._heartbeat, worker)

    def _spot(self, worker: Worker) -> None:
        if not worker.stopping:
            worker.stopping = True
            self._drain(worker, _SPOT_NOTICE_S)

    def stop(self, worker: Worker) -> None:
        """SIGTERM: it takes nothing more, and is killed after the stop timeout."""
        if worker.ready_s is None:
            self._gone(worker)
        else:
            self._drain(worker, math.inf if self.kind else self.scenario.pool.stop_timeout_s)

    def _drain(self, worker: Worker, at_most_s: float) -> None:
        worker.state = WorkerState.DRAINING
        self.polls.note(worker)
        self.let_go(worker)
        if worker.running and not math.isinf(at_most_s):
            self.events.after(at_most_s, self._kill, worker)

    def _kill(self, worker: Worker) -> None:
        for message in sorted(worker.running, key=lambda one: one.comes_s):
            self.interrupted += 1
            self.back(worker, message)
        worker.running.clear()
        self._gone(worker)

    def let_go(self, worker: Worker) -> None:
        """Has it been told to leave, and does it hold nothing any more?"""
        if worker.running or worker.ready_s is None:
            return
        if worker.stopping:
            self._gone(worker)
        elif worker.state is WorkerState.RETIRING:
            worker.state = WorkerState.RELEASED
            self._tell(worker)

    def _gone(self, worker: Worker) -> None:
        if worker.state is WorkerState.STOPPED:
            return
        self.all.remove(worker)
        self.paid_s += self.events.now_s - worker.asked_s
        worker.state = WorkerState.STOPPED
        self._tell(worker)

    def _heartbeat(self, worker: Worker) -> None:
        if worker.state is not WorkerState.STOPPED:
            self._tell(worker)
            self._hear(worker)
            self.events.after(HEARTBEAT_S, self._heartbeat, worker)

    def _tell(self, worker: Worker) -> None:
        worker.tell(self.events.now_s)
        if worker.report is not None:
            self._reports[worker.name] = worker.report

    def _hear(self, worker: Worker) -> None:
        """What the pool is told: to take no more work, or to take it again."""
        listed = worker.name in self.directive.retire
        if listed and worker.takes:
            worker.state = WorkerState.RETIRING
            self.polls.note(worker)
            self.let_go(worker)
            self.events.after(_EAGER_S, self._look_again, worker)
        elif not listed and worker.state in _LISTED and not worker.stopping:
            worker.state = WorkerState.RUNNING
            self.polls.note(worker)
            self._tell(worker)
            self.offer()

    def _look_again(self, worker: Worker) -> None:
        if not worker.stopping and worker.state in _LISTED:
            self._hear(worker)
            self.events.after(_EAGER_S, self._look_again, worker)

    def heard(self) -> tuple[WorkerReport, ...]:
        """The table of heartbeats; entries expire."""
        old_s = self.events.now_s - _REPORTS_KEPT_S
        self._reports = {name: one for name, one in self._reports.items() if one.reported_at_s >= old_s}
        return tuple(self._reports.values())
