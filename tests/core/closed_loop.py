"""A pool in virtual time around the real `decide`: a queue, workers that start late, counts, metrics and heartbeats.

Everything goes in steps of one second, exact and without chance, so that a test can say what must come out. What a trap
is about (counts that lag, a metric that is missing, workers that never start) is done to the observation or the world.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.core.observations import NOW_S, POOL, capacity, queue, reading
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import WAIT_BOUNDS_S, Fleet, WorkerReport, WorkerState, WorkFigures
from tidegate.core.stored.codec import from_json, to_json

PLAIN = replace(
    POOL, policy="littles-law", utilization=None, drain_target_s=None, target_wait_s=60, hold_s=None, max_workers=100
)
WAIT = replace(PLAIN, policy="wait")
POLICIES = (PLAIN, WAIT)

JSON_EVERY = 10
"""Ticks from one trip of the state through JSON to the next: it costs more than the decision."""

_BUCKETS = len(WAIT_BOUNDS_S) + 1


@dataclass
class Worker:
    """One that was asked for: takes work from `ready_at_s` on (never, when that is None)."""

    worker_id: str
    asked_at_s: float
    ready_at_s: float | None
    free_at_s: list[float]
    recent: dict[str, float] = field(default_factory=lambda: {"starts": 0, "completions": 0, "sum": 0.0})
    total: dict[str, float] = field(default_factory=lambda: {"starts": 0, "completions": 0, "sum": 0.0})
    waits: list[int] = field(default_factory=lambda: [0] * _BUCKETS)


@dataclass
class World:
    """`rate_per_s` messages a second of `service_s` each; `sdk` False: workers that do not report."""

    pool: Pool = PLAIN
    rate_per_s: Callable[[float], float] = lambda _: 0.0
    service_s: float = 0.8
    start_up_s: float | None = 20.0
    workers_at_first: int = 1
    sdk: bool = True
    protected: bool = False
    """Retired workers take no more work, and the platform stops those that hold none."""
    queue_name: str = "orders"
    groups: int | None = None
    look: Callable[["World", Observation], Observation] = lambda _, seen: seen
    set_desired: Callable[["World", int], int] = lambda _, desired: desired
    """What the platform's desired count is after tidegate asked for this."""
    beat_s: float | None = None
    """The workers' heartbeat; None: one a tick. `recent` tells of the last one only."""
    delayed: int = 0
    stuck_in_flight: int = 0
    """Received by nobody's slot: messages that back off."""
    now_s: float = NOW_S
    state: PoolState = field(default_factory=PoolState)
    decisions: list[Decision] = field(default_factory=list)
    late: int = 0
    started: int = 0

    def __post_init__(self) -> None:
        self.sent_s: deque[float] = deque()
        self.workers: list[Worker] = []
        self.desired = 0
        self.made = 0
        self._due = 0.0
        self._ages: list[tuple[float, float | None]] = []
        self._scale(self.workers_at_first, ready=True)

    @property
    def elapsed_s(self) -> float:
        return self.now_s - NOW_S

    @property
    def counts(self) -> list[int]:
        return [decision.desired for decision in self.decisions]

    @property
    def last(self) -> Decision:
        return self.decisions[-1]

    @property
    def taking(self) -> int:
        """Workers that take work: not told to retire."""
        return sum(not self._retired(worker) for worker in self.workers)

    def dump(self, count: int, age_s: float = 0.0) -> None:
        """So many messages at once, sent so long ago: at the head of the queue when old."""
        if age_s > 0:
            self.sent_s.extendleft([self.now_s - age_s] * count)
        else:
            self.sent_s.extend([self.now_s] * count)

    def run(self, seconds: float) -> "World":
        """Second by second, with a decision at every tick."""
        return self._pass(seconds, watched=True)

    def unwatched(self, seconds: float) -> "World":
        """The same without a controller: workers work and report."""
        return self._pass(seconds, watched=False)

    def _pass(self, seconds: float, *, watched: bool) -> "World":
        end_s, beat_s = self.now_s + seconds, self.beat_s or self.pool.tick_s
        while self.now_s < end_s:
            self._second()
            if watched and self.elapsed_s % self.pool.tick_s == 0:
                self._tick()
            elif self.elapsed_s % beat_s == 0:
                self.observe()  # a heartbeat that nobody reads
        return self

    def _second(self) -> None:
        self._due += self.rate_per_s(self.elapsed_s)
        self.sent_s.extend([self.now_s] * int(self._due))
        self._due -= int(self._due)
        self.now_s += 1.0
        for worker in self.workers:
            if worker.ready_at_s is not None and worker.ready_at_s <= self.now_s and not self._retired(worker):
                self._serve(worker)
        if self.now_s % 60 == 0:
            self._ages.append((self.now_s, self.now_s - self.sent_s[0] if self.sent_s else None))

    def _serve(self, worker: Worker) -> None:
        for slot, free_at_s in enumerate(worker.free_at_s):
            free = max(free_at_s, self.now_s - 1.0)
            while free < self.now_s and self.sent_s and (self.groups is None or self._busy() < self.groups):
                wait_s = max(0.0, free - self.sent_s.popleft())
                self.started += 1
                self.late += wait_s > self.pool.target_wait_s
                worker.waits[next((i for i, edge in enumerate(WAIT_BOUNDS_S) if wait_s <= edge), _BUCKETS - 1)] += 1
                free += self.service_s
                worker.free_at_s[slot] = free
                for figures in (worker.recent, worker.total):
                    figures["starts"] += 1
                    figures["completions"] += 1
                    figures["sum"] += self.service_s

    def _retired(self, worker: Worker) -> bool:
        return worker.worker_id in self.state.directive.retire

    def _state_of(self, worker: Worker) -> WorkerState:
        if not self._retired(worker):
            return WorkerState.RUNNING
        return WorkerState.RETIRING if max(worker.free_at_s) > self.now_s else WorkerState.RELEASED

    def _busy(self) -> int:
        return sum(free > self.now_s for worker in self.workers for free in worker.free_at_s)

    def _tick(self) -> None:
        observation = self.look(self, self.observe())
        decision, state = decide(self.pool, self.state, observation)
        kept_as_json = len(self.decisions) % JSON_EVERY == 0
        self.state = from_json(PoolState, to_json(state)) if kept_as_json else state
        self.decisions.append(decision)
        self._scale(self.set_desired(self, decision.desired))

    def observe(self) -> Observation:
        """Everything as it is; CloudWatch's age a minute and more later."""
        live = [w for w in self.workers if w.ready_at_s is not None and w.ready_at_s <= self.now_s]
        known = [(at_s, age) for at_s, age in self._ages if at_s <= self.now_s - 60.0][-1:]
        seen = queue(
            len(self.sent_s),
            self._busy() + self.stuck_in_flight,
            self.delayed,
            at_s=self.now_s,
            name=self.queue_name,
        )
        for at_s, age_s in known:
            seen = replace(seen, age_s=reading(age_s, at_s))
        absence = None if self.sdk else Absence.MISSING
        reports = tuple(self._report(worker) for worker in live) if self.sdk else ()
        return Observation(
            self.now_s,
            (seen,),
            capacity(self.desired, running=len(live), pending=self.desired - len(live), at_s=self.now_s),
            Fleet(self.now_s, reports, absence),
        )

    def _report(self, worker: Worker) -> WorkerReport:
        beat_s = self.beat_s or self.pool.tick_s
        recent = _figures(worker.recent, beat_s, self.service_s, tuple(worker.waits))
        total = _figures(worker.total, self.now_s - worker.asked_at_s, self.service_s, ())
        worker.recent = {"starts": 0, "completions": 0, "sum": 0.0}
        worker.waits = [0] * _BUCKETS
        return WorkerReport(
            worker.worker_id,
            self._state_of(worker),
            "",
            self.now_s,
            worker.asked_at_s,
            worker.ready_at_s,
            len(worker.free_at_s),
            sum(free > self.now_s for free in worker.free_at_s),
            recent,
            total,
            beat_s,
            protected=self.protected,
        )

    def _scale(self, desired: int, *, ready: bool = False) -> None:
        """New workers start; of those beyond the desired count the least busy go, retired ones first, then starting."""
        self.desired = desired
        while len(self.workers) < desired:
            self.made += 1
            begins = 0.0 if ready else self.start_up_s
            ready_at_s = None if begins is None else self.now_s + begins
            self.workers.append(Worker(f"w{self.made}", self.now_s, ready_at_s, [0.0] * self.pool.slots_per_worker))
        self.workers.sort(
            key=lambda w: (self._retired(w), w.ready_at_s is None, -sum(free > self.now_s for free in w.free_at_s))
        )
        del self.workers[desired:]


def _figures(counts: dict[str, float], span_s: float, service_s: float, waits: tuple[int, ...]) -> WorkFigures:
    return WorkFigures(
        span_s=span_s,
        starts=int(counts["starts"]),
        completions=int(counts["completions"]),
        service_time_sum_s=counts["sum"],
        service_time_square_sum_s2=counts["sum"] * service_s,
        waits=waits if any(waits) else (),
    )
