"""A pool in virtual time for closed loops: a queue, workers that start late, and a dependency that can be degraded."""

from dataclasses import dataclass, field, replace

from tests.core.observations import NOW_S, capacity, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Alarm
from tidegate.core.reports import DependencyFigures, WorkerReport
from tidegate.core.signals.news import digest

SLOTS = 4

POOL = Pool(
    "orders",
    target_wait_s=60,
    min_workers=1,
    max_workers=60,
    slots_per_worker=SLOTS,
    utilization=0.7,
    drain_target_s=120,
    hold_s=60,
    tick_s=10,
    service_time_hint_s=2.0,
)


@dataclass
class Plant:
    """Flows instead of messages: exact, and the same each time.

    The service time is `service_s` while at most `limit_slots` are busy, and grows with the overload to the power of
    `strain` above (1: more slots buy nothing; more than 1: they cost completions).
    """

    pool: Pool = POOL
    arrivals_per_s: float = 5.0
    service_s: float = 2.0
    limit_slots: float = 1e9
    strain: float = 1.5
    start_up_s: float = 40.0
    dependency: str = ""
    bad_share: float = 0.0
    alarms: tuple[Alarm, ...] = ()
    now_s: float = NOW_S
    waiting: float = 0.0
    desired: int = 4
    running: int = 4
    state: PoolState = field(default_factory=PoolState)
    decisions: list[Decision] = field(default_factory=list)
    _starting: list[float] = field(default_factory=list)
    _done: float = 0.0
    _completed: int = 0

    @property
    def busy(self) -> float:
        """Slots in use."""
        return min(float(self.running * SLOTS), self.arrivals_per_s * self.strained_s + self.waiting)

    @property
    def strained_s(self) -> float:
        """The service time of the moment."""
        over = max(1.0, self.running * SLOTS / self.limit_slots)
        return self.service_s * float(over**self.strain)

    def run(self, seconds: float) -> list[Decision]:
        """The decisions of so much time."""
        before = len(self.decisions)
        for _ in range(int(seconds / self.pool.tick_s)):
            self._tick()
        return self.decisions[before:]

    def _tick(self) -> None:
        self.now_s += self.pool.tick_s
        ready = [at_s for at_s in self._starting if at_s <= self.now_s]
        self._starting = [at_s for at_s in self._starting if at_s > self.now_s]
        self.running += len(ready)
        completed = self._serve()
        seen = observe(
            queue(round(self.waiting), round(self.busy), at_s=self.now_s),
            workers=self._reports(completed),
            seen=capacity(self.desired, running=self.running, pending=len(self._starting), at_s=self.now_s),
            at_s=self.now_s,
        )
        decision, self.state = decide(self.pool, self.state, replace(seen, alarms=self.alarms))
        self.decisions.append(decision)
        self._set(decision.desired)

    def _serve(self) -> int:
        """Whole messages that have ended in this tick."""
        rate = min(self.busy / self.strained_s, self.arrivals_per_s + self.waiting / self.pool.tick_s)
        self._done += rate * self.pool.tick_s
        self.waiting = max(0.0, self.waiting + (self.arrivals_per_s - rate) * self.pool.tick_s)
        completed = int(self._done) - self._completed
        self._completed += completed
        return completed

    def _reports(self, completed: int) -> tuple[WorkerReport, ...]:
        return tuple(self._report(n, completed) for n in range(self.running))

    def _report(self, n: int, completed: int) -> WorkerReport:
        mine = completed // self.running + (n < completed % self.running)
        busy = min(SLOTS, round(self.busy / self.running))
        report = worker(
            f"w{n}",
            busy=busy,
            completions=mine,
            mean_s=self.strained_s,
            at_s=self.now_s,
            started_at_s=NOW_S - 1000,
        )
        known = self.state.known_workers.get(digest(f"w{n}"))
        total = (known.completions if known else 0) + mine
        figures = report.recent
        if self.dependency:
            calls = DependencyFigures(mine, errors=round(mine * self.bad_share), time_sum_s=mine * self.strained_s)
            figures = replace(figures, dependencies={self.dependency: calls})
        return replace(report, recent=figures, total=replace(report.total, starts=total, completions=total))

    def _set(self, desired: int) -> None:
        while len(self._starting) + self.running > desired and self._starting:
            self._starting.pop()
        self.running = min(self.running, desired)
        self._starting += [self.now_s + self.start_up_s] * (desired - self.running - len(self._starting))
        self.desired = desired
