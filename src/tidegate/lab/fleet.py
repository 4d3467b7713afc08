"""The platform: starts workers, late; lets them go when they are done; and keeps the bill."""

import random
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf

from tidegate.lab.scenario import Scenario
from tidegate.lab.simulator_queue import SimulatedQueue

__all__ = ["Platform", "SimulatedWorker"]

_HOUR_S = 3600.0


@dataclass(slots=True, eq=False)
class SimulatedWorker:
    """One worker's life. Its slots are numbered `number` × slots per worker, and on."""

    number: int
    asked_at_s: float
    ready_at_s: float
    fails: bool = False
    drains_from_s: float = inf
    gone_at_s: float = inf
    lost: bool = False


class Platform:
    """Keeps starting + running workers at the desired count, as an ECS service does.

    In: those that start are cancelled first, the latest first; then the least busy drain: they take no more messages,
    finish what they hold, and are paid until then. A worker that fails to start or is lost is replaced at once.
    """

    def __init__(self, scenario: Scenario, queue: SimulatedQueue, seed: int) -> None:
        self._scenario = scenario
        self._queue = queue
        self._start_up = random.Random(f"{seed} start-up times")
        self._faults = random.Random(f"{seed} failed starts and losses")
        self._events: list[tuple[float, int]] = []  # (at, worker): ready when starting, lost when running
        self.workers: list[SimulatedWorker] = []
        """Every worker there ever was; a worker's number is its place."""
        self.starting: dict[int, SimulatedWorker] = {}
        self.running: dict[int, SimulatedWorker] = {}
        self._left: list[SimulatedWorker] = []
        self.desired = scenario.initial_workers
        self.lost: list[tuple[int, float]] = []
        """(message, the end that its run will not reach) of each run that was lost, until somebody takes them."""
        self.stops = 0
        for _ in range(scenario.initial_workers):
            self._run(self._new_worker(0.0, 0.0))

    @property
    def next_event_s(self) -> float:
        return self._events[0][0] if self._events else inf

    def pass_event(self, now_s: float) -> None:
        """A worker is ready, or fails to be; or a running one is lost."""
        number = heappop(self._events)[1]
        worker = self.workers[number]
        if number in self.starting:
            del self.starting[number]
            if worker.fails:
                worker.gone_at_s = now_s
            else:
                self._run(worker)
        elif number in self.running:
            del self.running[number]
            worker.gone_at_s, worker.lost = now_s, True
            self._left.append(worker)
            self.lost += self._queue.lose(self.slots_of(worker))
        self._reconcile(now_s)

    def set_desired(self, desired: int, now_s: float) -> None:
        """Ask for so many workers."""
        self.desired = desired
        self._reconcile(now_s)

    def slots_of(self, worker: SimulatedWorker) -> range:
        each = self._scenario.slots_per_worker
        return range(worker.number * each, (worker.number + 1) * each)

    def present_since(self, since_s: float) -> list[SimulatedWorker]:
        """Workers that run, or ran or drained after `since_s` (rising from call to call), in the order of the asks."""
        self._left = [worker for worker in self._left if worker.gone_at_s > since_s]
        return sorted([*self.running.values(), *self._left], key=lambda worker: worker.number)

    def paid_worker_seconds(self, end_s: float) -> float:
        """From each ask to the worker's end, or to `end_s`; the minimum applies to each."""
        return sum(
            max(min(worker.gone_at_s, end_s) - worker.asked_at_s, self._scenario.billing_minimum_s)
            for worker in self.workers
            if worker.asked_at_s < end_s
        )

    def _reconcile(self, now_s: float) -> None:
        missing = self.desired - len(self.starting) - len(self.running)
        for _ in range(missing):
            self._start(now_s)
        if missing < 0:
            self._let_go(-missing, now_s)

    def _new_worker(self, asked_at_s: float, ready_at_s: float, *, fails: bool = False) -> SimulatedWorker:
        worker = SimulatedWorker(len(self.workers), asked_at_s, ready_at_s, fails)
        self.workers.append(worker)
        return worker

    def _start(self, now_s: float) -> None:
        spread = self._scenario.start_up_spread
        start_up_s = self._scenario.start_up_s * self._start_up.uniform(1 - spread, 1 + spread)
        fails = self._scenario.failed_start_share > 0 and self._faults.random() < self._scenario.failed_start_share
        worker = self._new_worker(now_s, now_s + start_up_s, fails=fails)
        self.starting[worker.number] = worker
        heappush(self._events, (worker.ready_at_s, worker.number))

    def _run(self, worker: SimulatedWorker) -> None:
        self.running[worker.number] = worker
        self._queue.open(self.slots_of(worker))
        if self._scenario.spot_losses_per_hour > 0:
            lives_s = self._faults.expovariate(self._scenario.spot_losses_per_hour / _HOUR_S)
            heappush(self._events, (worker.ready_at_s + lives_s, worker.number))

    def _let_go(self, count: int, now_s: float) -> None:
        self.stops += count
        cancelled = [*self.starting.values()][::-1][:count]
        for worker in cancelled:
            del self.starting[worker.number]
            worker.gone_at_s = now_s
        leaving = [self.running.pop(number) for number in self._least_busy(count - len(cancelled), now_s)]
        done_s = self._queue.close([self.slots_of(worker) for worker in leaving])
        for worker, gone_at_s in zip(leaving, done_s, strict=True):
            worker.drains_from_s, worker.gone_at_s = now_s, gone_at_s
            self._left.append(worker)

    def _least_busy(self, count: int, now_s: float) -> list[int]:
        """The fewest busy slots first; among equals the one that is done first, then the newest."""
        if count == 0:
            return []
        busy = dict.fromkeys(self.running, 0)
        done_at_s = dict.fromkeys(self.running, now_s)
        for free_s, slot in self._queue.slots_free_at():
            number = slot // self._scenario.slots_per_worker
            if free_s > now_s:
                busy[number] += 1
                done_at_s[number] = max(done_at_s[number], free_s)
        return sorted(self.running, key=lambda number: (busy[number], done_at_s[number], -number))[:count]
