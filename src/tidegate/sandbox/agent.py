"""Plays ECS or Auto Scaling: keeps as many real worker processes as the platform's desired count asks for.

A start is a delay (pending) and then a process (running). A stop is SIGTERM, the stop timeout, SIGKILL. A worker that
exits though it is wanted is replaced, later and later while new ones keep failing at once:
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/service-throttle-logic.html
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidegate.errors import TidegateError
from tidegate.ports import Clock
from tidegate.sandbox.events import AgentEvent, EventKind, Usage
from tidegate.sandbox.notices import Notices
from tidegate.sandbox.plan import plan
from tidegate.sandbox.platform import Identity, Phase, Platform, Wanted, WorkerView
from tidegate.sandbox.ticker import Ticker
from tidegate.sandbox.worker_process import Start, WorkerProcess

__all__ = ["Agent", "AgentSettings", "Environment"]

UNKILLABLE_S = 10.0
"""How long SIGKILL may take to have its effect before `stop` gives up."""

Environment = Callable[[Identity], Mapping[str, str]]
"""What the metadata server adds to a worker's environment (`MetadataServer.environment`)."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """`start_up_s` passes between asking for a worker and its process; an exit within `quick_exit_s` of its start
    delays the next start by `back_off_s`, doubled each time up to `back_off_most_s`."""

    start_up_s: float = 5.0
    stop_timeout_s: float = 30.0
    step_s: float = 0.2
    quick_exit_s: float = 3.0
    back_off_s: float = 1.0
    back_off_most_s: float = 60.0


class Agent:
    """`start()` runs it in a thread, `stop()` ends it and every worker; `step()` is one look, for tests.

    `on_event` is called from the agent's thread, outside its lock.
    """

    def __init__(
        self,
        platform: Platform,
        start_process: Start,
        notices: Notices,
        environment: Environment,
        clock: Clock,
        settings: AgentSettings = AgentSettings(),
        on_event: Callable[[AgentEvent], None] = lambda event: None,
    ) -> None:
        self._platform, self._start_process, self._clock, self._settings = platform, start_process, clock, settings
        self._notices, self._environment, self._on_event = notices, environment, on_event
        self._lock = threading.RLock()
        self._workers: dict[str, WorkerProcess] = {}
        self._events: list[AgentEvent] = []
        self._told = 0
        self._past = Usage()
        self._quick_exits = 0
        self._not_before_s = 0.0
        self._ticker = Ticker(f"agent of {platform.name}", self.step, lambda: settings.step_s, clock)

    # -- for the demo and for tests, from any thread ---------------------------------------------------------------

    def start(self) -> None:
        self._ticker.start()

    def stop(self) -> None:
        """SIGTERM to all, wait up to the stop timeout, SIGKILL to what is left; no process and no zombie remains.

        Raises what ended the agent's thread before its time, if anything did.
        """
        try:
            self._ticker.stop()
        finally:
            self._end_workers()

    def workers(self) -> tuple[WorkerView, ...]:
        """Every worker that is pending, running or stopping, oldest first."""
        with self._lock:
            return tuple(worker.view for worker in self._workers.values())

    def events(self) -> tuple[AgentEvent, ...]:
        with self._lock:
            return tuple(self._events)

    def usage(self) -> Usage:
        """Worker-seconds of all workers, past and present."""
        now_s = self._clock.now()
        with self._lock:
            return sum((worker.usage(now_s) for worker in self._workers.values()), self._past)

    def kill(self, worker_id: str) -> None:
        """kill -9, as a test does it; a pending worker has no process and is cancelled.

        Raises KeyError when there is no such worker.
        """
        with self._lock:
            if self._workers[worker_id].phase is Phase.PENDING:
                self._cancel(worker_id)
            else:
                self._workers[worker_id].kill("test")

    def interrupt_spot(self, worker_id: str, notice_s: float = 120.0) -> None:
        """Serve the spot notice now and terminate the worker `notice_s` later. Raises KeyError as `kill` does."""
        with self._lock:
            worker = self._workers[worker_id]
            worker.interrupt_at_s = self._clock.now() + notice_s
            self._notices.spot(worker_id, worker.interrupt_at_s)
            self._tell(EventKind.SPOT_NOTICE, worker)

    def rebalance(self, worker_id: str) -> None:
        """Serve the rebalance recommendation; nothing else happens to the worker. Raises KeyError as `kill` does."""
        with self._lock:
            self._notices.rebalance(worker_id, self._clock.now())
            self._tell(EventKind.REBALANCE_NOTICE, self._workers[worker_id])

    def target_lifecycle_state(self, worker_id: str, state: str) -> None:
        """What the worker's IMDS says that Auto Scaling wants of it: "InService", "Terminated", …"""
        self._notices.target_lifecycle_state(worker_id, state)

    def step(self) -> None:
        """One look: bury the dead, enforce deadlines, then start and stop towards what is wanted."""
        self._step(self._follow)

    # -- the agent's thread ----------------------------------------------------------------------------------------

    def _step(self, what: Callable[[float], None]) -> bool:
        """Do `what` under the lock, show the outcome, then tell it outside the lock; true while workers remain."""
        with self._lock:
            now_s = self._clock.now()
            self._bury(now_s)
            what(now_s)
            self._platform.show(self.workers())
            untold, self._told = self._events[self._told :], len(self._events)
            remaining = bool(self._workers)
        for event in untold:
            self._on_event(event)
        return remaining

    def _follow(self, now_s: float) -> None:
        wanted = self._wanted(now_s)
        step = plan(wanted, self.workers())
        for worker_id in step.cancel:
            self._cancel(worker_id)
        for worker_id in step.stop:
            self._stop_worker(worker_id, self._why(worker_id, wanted), now_s)
        for _ in range(step.start):
            self._admit(wanted.revision, now_s)
        for worker in list(self._workers.values()):
            if worker.phase is Phase.PENDING and now_s >= worker.ready_at_s:
                self._launch(worker, now_s)

    def _wanted(self, now_s: float) -> Wanted:
        wanted = self._platform.wanted()
        interrupted = {
            worker.worker_id
            for worker in self._workers.values()
            if worker.interrupt_at_s is not None and now_s >= worker.interrupt_at_s
        }
        protected = wanted.protected | self._notices.protected(now_s)
        return Wanted(wanted.count, wanted.revision, protected, wanted.doomed | interrupted)

    def _why(self, worker_id: str, wanted: Wanted) -> str:
        worker = self._workers[worker_id]
        if worker_id in wanted.doomed:
            return "spot interruption" if worker.interrupt_at_s is not None else "terminated"
        return "scale-in" if worker.revision == wanted.revision else "deployment"

    def _end_workers(self) -> None:
        give_up_at_s = self._clock.now() + self._settings.stop_timeout_s + UNKILLABLE_S
        while self._step(self._end_all):
            if self._clock.now() >= give_up_at_s:
                pids = [worker.pid for worker in self.workers()]
                raise TidegateError(f"workers {pids} of {self._platform.name} outlived SIGKILL; end them by hand")
            self._clock.wait(threading.Event(), self._settings.step_s)

    def _end_all(self, now_s: float) -> None:
        for worker in list(self._workers.values()):
            if worker.phase is Phase.PENDING:
                self._cancel(worker.worker_id)
            elif worker.phase is Phase.RUNNING:
                self._stop_worker(worker.worker_id, "the sandbox ends", now_s)

    def _admit(self, revision: str, now_s: float) -> None:
        identity = self._platform.admit()
        self._notices.register(identity)
        ready_at_s = max(now_s, self._not_before_s) + self._settings.start_up_s
        worker = WorkerProcess(identity, revision, now_s, ready_at_s)
        self._workers[worker.worker_id] = worker
        self._tell(EventKind.STARTING, worker)

    def _launch(self, worker: WorkerProcess, now_s: float) -> None:
        env = {
            "TIDEGATE_WORKER_ID": worker.worker_id,
            "ECS_CONTAINER_STOP_TIMEOUT": f"{self._settings.stop_timeout_s:g}s",
            **self._environment(worker.identity),
        }
        try:
            worker.start(self._start_process, env, now_s)
        except OSError as error:
            worker.reason = f"could not start: {error}"
            self._forget(worker, now_s, exit_code=None)
            self._back_off(worker, now_s)
        else:
            self._tell(EventKind.RUNNING, worker)

    def _cancel(self, worker_id: str) -> None:
        worker = self._workers.pop(worker_id)
        self._notices.forget(worker_id)
        self._past += worker.usage(self._clock.now())
        self._tell(EventKind.CANCELLED, worker)

    def _stop_worker(self, worker_id: str, reason: str, now_s: float) -> None:
        worker = self._workers[worker_id]
        if worker.identity.task_arn is None:
            self._notices.target_lifecycle_state(worker_id, "Terminated")
        worker.stop(reason, now_s + self._settings.stop_timeout_s, now_s)
        self._tell(EventKind.STOPPING, worker)

    def _bury(self, now_s: float) -> None:
        for worker in list(self._workers.values()):
            worker.enforce(now_s)
            exit_code = worker.exit_code()
            if exit_code is None:
                if worker.phase is Phase.RUNNING and now_s - worker.since_s >= self._settings.quick_exit_s:
                    self._quick_exits = 0
                continue
            unasked = worker.phase is Phase.RUNNING and worker.killed_by is None
            worker.reason = worker.reason or ("killed by a test" if worker.killed_by else "exited by itself")
            quick = now_s - worker.since_s < self._settings.quick_exit_s
            self._forget(worker, now_s, exit_code)
            if unasked and quick:
                self._back_off(worker, now_s)

    def _forget(self, worker: WorkerProcess, now_s: float, exit_code: int | None) -> None:
        del self._workers[worker.worker_id]
        self._notices.forget(worker.worker_id)
        self._past += worker.usage(now_s)
        self._tell(EventKind.STOPPED, worker, exit_code)

    def _back_off(self, worker: WorkerProcess, now_s: float) -> None:
        wait_s = min(self._settings.back_off_most_s, self._settings.back_off_s * 2**self._quick_exits)
        self._quick_exits += 1
        self._not_before_s = now_s + wait_s
        worker.reason = f"{self._quick_exits} in a row ended at once; the next start waits {wait_s:g} s"
        self._tell(EventKind.BACKING_OFF, worker)

    def _tell(self, kind: EventKind, worker: WorkerProcess, exit_code: int | None = None) -> None:
        event = AgentEvent(
            at_s=self._clock.now(),
            kind=kind,
            worker_id=worker.worker_id,
            pid=worker.pid,
            reason=worker.reason,
            exit_code=exit_code,
            killed_by=worker.killed_by,
        )
        self._events.append(event)
