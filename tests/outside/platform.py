"""What ECS does with a desired count: it starts tasks, takes its time, and stops those that are not protected."""

import math
import random
from collections.abc import Collection
from dataclasses import dataclass

from tests.outside.crew import Crew
from tests.outside.scenario import Scenario
from tests.outside.workers import Worker
from tidegate.core.observation import Capacity
from tidegate.core.reports import WorkerState

__all__ = ["LOOK_EVERY_S", "Platform"]

LOOK_EVERY_S = 5.0
_BURST, _PER_S = 100.0, 20.0
"""Launches: a hundred at once, then twenty a second."""


@dataclass(eq=False)
class Platform:
    """`kind`: the least busy first, for rivals that have no way to choose; their workers report nothing."""

    scenario: Scenario
    crew: Crew
    chance: random.Random
    kind: bool = False
    desired: int = 0
    revision: int = 0
    launched: int = 0
    most: int = 0
    _tokens: float = _BURST
    _looked_s: float = 0.0

    @property
    def alive(self) -> list[Worker]:
        """Those that count: starting or running."""
        return [worker for worker in self.crew.all if not worker.stopping]

    def capacity(self, now_s: float) -> Capacity:
        """As DescribeServices tells."""
        alive = self.alive
        running = sum(worker.ready_s is not None for worker in alive)
        old = [worker for worker in alive if worker.revision != self.revision]
        return Capacity(
            "own",
            now_s,
            desired=self.desired,
            running=running,
            pending=len(alive) - running,
            deploying=bool(old),
            outdated=sum(worker.ready_s is not None for worker in old),
        )

    def look(self, now_s: float) -> None:
        """The scheduler's round. In a deployment there may be twice the desired count, and must be all of it."""
        self._tokens = min(_BURST, self._tokens + _PER_S * (now_s - self._looked_s))
        self._looked_s = now_s
        alive = self.alive
        new = [worker for worker in alive if worker.revision == self.revision]
        old = [worker for worker in alive if worker.revision != self.revision]
        self._launch(now_s, min(self.desired - len(new), 2 * self.desired - len(alive)))
        ready = sum(worker.ready_s is not None for worker in new)
        self._stop(old, len(old) - max(0, self.desired - ready))
        self._stop(new, len(new) - self.desired)
        self.most = max(self.most, len(self.crew.all))

    def _launch(self, now_s: float, count: int) -> None:
        share = self.scenario.signals.reporting
        for _ in range(min(count, math.floor(self._tokens))):
            self._tokens -= 1
            self.launched += 1
            reports = math.floor(self.launched * share) > math.floor((self.launched - 1) * share)
            slots = self.scenario.pool.slots_per_worker
            self.crew.begin(Worker(f"w{self.launched}", now_s, slots, reports and not self.kind, self.revision))

    def _stop(self, among: Collection[Worker], count: int) -> None:
        if count <= 0:
            return
        able = [worker for worker in among if worker.ready_s is None or not worker.protected]
        self.chance.shuffle(able)
        for worker in sorted(able, key=self._rank)[:count]:
            worker.stopping = True
            self.crew.stop(worker)

    def _rank(self, worker: Worker) -> tuple[int, int]:
        """Starting ones first, then those that have let go of all."""
        if worker.ready_s is None:
            return (0, 0)
        return (1 if worker.state is WorkerState.RELEASED else 2, len(worker.running) if self.kind else 0)
