"""Workers that leave, one after another, out of a pool that is never idle: each finishes what it holds, or it shows.

Two thirds go as in a scale-in (or a deployment that a controller sees): retired by the directive in the fleet's store,
and stopped once they report that they hold nothing; their jobs outlast their grace, so a SIGTERM in mid-work would cut
them off. One third go as in a deployment that nobody announces: SIGTERM in mid-work, with a grace that the jobs fit
into. Leases last an hour: what any of them left invisible is still in flight at the end.
"""

import os
import random
import signal
import tempfile
import threading
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.fleet import REGION, journals_in, open_fleet
from tidegate.aws.stand_in import QueueSender, create_queues, stand_in_clients
from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport, WorkerState
from tidegate.entrypoints.clock import SystemClock
from tidegate.sandbox.agent import Agent
from tidegate.sandbox.demo.ledger import Ledger, Messages, read_journals, reckon
from tidegate.sandbox.events import AgentEvent, EventKind
from tidegate.sandbox.platform import Phase
from tidegate.sandbox.sqs import QueueSnapshot, SqsServer
from tidegate.stores.file import FileStore

__all__ = ["QUEUE", "Outcome", "Turnover"]

QUEUE = "turnover"
_STEP_S = 0.2
_SLOTS = 4
_JOB_S = (1.6, 2.4)
_SHORT_STOP_S, _LONG_STOP_S = 3.0, 30.0
"""A stop timeout of 3 s leaves a grace of 1.5 s: less than any job. 30 s leave 25."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`scaled_in` and `deployed`: workers that left in either way with exit code 0."""

    scaled_in: int
    deployed: int
    took_s: float
    messages: Messages
    queue: QueueSnapshot
    bad_ends: list[AgentEvent]

    def told(self) -> str:
        """For people."""
        counts = self.messages
        left = f"{self.scaled_in} retired, {self.deployed} by SIGTERM in mid-work"
        done = (
            f"{counts.completed} done, {counts.lost} lost, {counts.interrupted} interrupted, {counts.duplicates} twice"
        )
        return (
            f"{self.scaled_in + self.deployed} workers left a busy pool in {self.took_s:.0f} s: {left};\n"
            f"  {counts.sent} messages sent, {done}, {self.queue.in_flight} left invisible"
        )


@dataclass
class _Leaving:
    """Who was told to go, and how."""

    retired: dict[str, bool] = field(default_factory=dict)
    """By worker: whether it was stopped already."""
    signalled: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.retired) + len(self.signalled)

    def __contains__(self, worker_id: str) -> bool:
        return worker_id in self.retired or worker_id in self.signalled

    def forget(self, gone: Collection[str]) -> None:
        self.retired = {name: stopped for name, stopped in self.retired.items() if name not in gone}
        self.signalled -= set(gone)


class Turnover:
    """`run` plays it once; every process that it starts has ended when it returns."""

    def __init__(self, workers: int, at_once: int, seed: int = 1) -> None:
        self._workers, self._at_once = workers, at_once
        self._rng = random.Random(seed)
        self._clock = SystemClock()
        self._ledger = Ledger(QUEUE)
        self._leaving = _Leaving()
        self._scaled_in: set[str] = set()
        self._deployed: set[str] = set()

    def run(self, leavings: int, limit_s: float) -> Outcome:
        """Until so many have left, or `limit_s` is over; then what is left in the queue is worked off."""
        with tempfile.TemporaryDirectory(prefix="tidegate-turnover-") as home, ExitStack() as stack:
            server = stack.enter_context(SqsServer(observer=self._ledger, region=REGION))
            clients = stand_in_clients(server.url, REGION)
            url = create_queues(clients, QUEUE, 3600, 100)
            store = FileStore(Path(home, "fleet"))
            options = {"--queue": url, "--slots": str(_SLOTS), "--poll-wait": "1", "--visibility-timeout": "1h"}
            options |= {"--heartbeat": "1s", "--state-dir": str(Path(home, "fleet"))}
            agent = open_fleet(stack, Path(home), self._workers, server.url, options, _stop_timeout_s)
            began_s = self._clock.now()
            agent.start()
            try:
                self._play(agent, store, server, QueueSender(clients, url), leavings, began_s + limit_s)
                took_s = self._clock.now() - began_s
                self._work_off(began_s + limit_s + 60.0)
            finally:
                agent.stop()
            queue = server.snapshot()[QUEUE]
            runs = read_journals(journals_in(Path(home)))
        messages = reckon(*self._ledger.accounts(), runs, set(), limit_s)
        ends = [event for event in agent.events() if event.kind is EventKind.STOPPED and event.exit_code != 0]
        return Outcome(len(self._scaled_in), len(self._deployed), took_s, messages, queue, ends)

    def _play(
        self, agent: Agent, store: FileStore, server: SqsServer, sender: QueueSender, leavings: int, until_s: float
    ) -> None:
        while len(self._scaled_in) + len(self._deployed) < leavings and self._clock.now() < until_s:
            once_each = _SLOTS * self._workers
            if server.snapshot()[QUEUE].visible < once_each:
                sender.send([f'{{"work_s": {self._rng.uniform(*_JOB_S):.3f}}}' for _ in range(once_each)])
            self._step(agent, store)
            self._clock.wait(threading.Event(), _STEP_S)
        store.direct(QUEUE, Directive())

    def _work_off(self, until_s: float) -> None:
        while self._ledger.open() and self._clock.now() < until_s:
            self._clock.wait(threading.Event(), _STEP_S)

    def _step(self, agent: Agent, store: FileStore) -> None:
        pids = {each.worker_id: each.pid for each in agent.workers() if each.phase is Phase.RUNNING and each.pid}
        self._bury(agent, set(pids))
        reports = [report for report in store.workers(QUEUE, self._clock.now()) if report.worker_id in pids]
        for report in reports:
            if report.state is WorkerState.RELEASED and self._leaving.retired.get(report.worker_id) is False:
                self._leaving.retired[report.worker_id] = True
                os.kill(pids[report.worker_id], signal.SIGTERM)
        self._choose(reports, pids, store)

    def _bury(self, agent: Agent, up: set[str]) -> None:
        gone = {name for name in [*self._leaving.retired, *self._leaving.signalled] if name not in up}
        if gone:
            clean = {event.worker_id for event in agent.events() if event.exit_code == 0}
            self._scaled_in |= {name for name in gone & clean if self._leaving.retired.get(name)}
            self._deployed |= self._leaving.signalled & gone & clean
            self._leaving.forget(gone)

    def _choose(self, reports: list[WorkerReport], pids: dict[str, int], store: FileStore) -> None:
        """Whoever is in mid-work may be next."""
        busy = [each.worker_id for each in reports if each.state is WorkerState.RUNNING and each.busy]
        before = set(self._leaving.retired)
        for name in busy:
            if name in self._leaving or len(self._leaving) >= self._at_once:
                continue
            if _stop_timeout_s(name) == _LONG_STOP_S:
                self._leaving.signalled.add(name)
                os.kill(pids[name], signal.SIGTERM)
            else:
                self._leaving.retired[name] = False
        if set(self._leaving.retired) != before:
            store.direct(QUEUE, Directive(retire=tuple(self._leaving.retired), changed_at_s=self._clock.now()))


def _stop_timeout_s(worker_id: str) -> float:
    """Every third is of those that are not retired."""
    return _LONG_STOP_S if int(worker_id.removeprefix("i-"), 16) % 3 == 0 else _SHORT_STOP_S
