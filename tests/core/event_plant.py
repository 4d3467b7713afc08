"""A pool in virtual time, job by job: what ends first is short, which flows (`tests.core.plant`) cannot show."""

import heapq
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.core.observations import NOW_S, capacity, observe, queue, worker
from tests.core.plant import POOL
from tidegate.core.decide import decide
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.core.reports import DependencyFigures, WorkerReport, WorkerState, WorkFigures


def exponential(mean_s: float) -> Callable[[random.Random], float]:
    """Jobs of all lengths, `mean_s` on average."""
    return lambda rng: rng.expovariate(1.0 / mean_s)


@dataclass(eq=False)
class Server:
    """A worker: the jobs that it runs, and what ended since it last reported."""

    worker_id: str
    ready_at_s: float
    busy: int = 0
    ended_s: list[float] = field(default_factory=list)
    total: int = 0


@dataclass
class EventPlant:
    """Poisson arrivals, each job of its own length; `job_s` draws it when the job begins.

    A job that begins while b slots are busy (its own included) runs max(1, b / `limit_slots`) ** `strain` times as
    long. All of it is spent in calls of `dependency`, where that has a name.
    """

    job_s: Callable[[random.Random], float]
    rate_per_s: float
    seed: int = 1
    pool: Pool = POOL
    limit_slots: float = 1e9
    strain: float = 1.5
    dependency: str = ""
    start_up_s: float = 40.0
    workers_at_first: int = 4
    now_s: float = NOW_S
    state: PoolState = field(default_factory=PoolState)
    decisions: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.waiting_s: deque[float] = deque()
        self.running: list[tuple[float, int, Server, float]] = []
        """(end, number, worker, seconds) of each job, as a heap."""
        self.servers = [Server(f"w{n}", self.now_s) for n in range(self.workers_at_first)]
        self.desired = self.made = self.workers_at_first
        self.begun = 0
        self.ended: list[tuple[float, float]] = []
        """(when, seconds) of each job that ended."""
        self._next_s = self.now_s

    @property
    def busy(self) -> int:
        """Slots in use."""
        return len(self.running)

    def run(self, seconds: float) -> list[Decision]:
        """The decisions of so much time."""
        before = len(self.decisions)
        for _ in range(int(seconds / self.pool.tick_s)):
            self._advance(self.now_s + self.pool.tick_s)
            decision, self.state = decide(self.pool, self.state, self._observation())
            self.decisions.append(decision)
            self._set(decision.desired)
        return self.decisions[before:]

    def mean_ended_s(self, since_s: float) -> float:
        """Of the jobs that ended since then."""
        lengths = [seconds for at_s, seconds in self.ended if at_s > since_s]
        return sum(lengths) / len(lengths)

    def _advance(self, until_s: float) -> None:
        while True:
            ready_s = min((it.ready_at_s for it in self.servers if it.ready_at_s > self.now_s), default=until_s)
            self.now_s = min(until_s, self._next_s, ready_s, self.running[0][0] if self.running else until_s)
            if self.now_s >= until_s:
                return
            if self.now_s >= self._next_s:
                self.waiting_s.append(self.now_s)
                self._next_s += self.rng.expovariate(self.rate_per_s)
            while self.running and self.running[0][0] <= self.now_s:
                self._end()
            self._begin()

    def _end(self) -> None:
        _, _, server, seconds = heapq.heappop(self.running)
        server.busy -= 1
        server.ended_s.append(seconds)
        self.ended.append((self.now_s, seconds))

    def _begin(self) -> None:
        for server in self.servers:
            while self.waiting_s and self._takes(server) and server.busy < self.pool.slots_per_worker:
                self.waiting_s.popleft()
                server.busy += 1
                self.begun += 1
                longer = max(1.0, (self.busy + 1) / self.limit_slots) ** self.strain
                seconds = self.job_s(self.rng) * longer
                heapq.heappush(self.running, (self.now_s + seconds, self.begun, server, seconds))

    def _takes(self, server: Server) -> bool:
        return server.ready_at_s <= self.now_s and not self._retired(server)

    def _retired(self, server: Server) -> bool:
        return server.worker_id in self.state.directive.retire

    def _observation(self) -> Observation:
        ready = [server for server in self.servers if server.ready_at_s <= self.now_s]
        seen = capacity(self.desired, running=len(ready), pending=len(self.servers) - len(ready), at_s=self.now_s)
        counts = queue(len(self.waiting_s), self.busy, at_s=self.now_s)
        return observe(counts, workers=tuple(map(self._report, ready)), seen=seen, at_s=self.now_s)

    def _report(self, server: Server) -> WorkerReport:
        runs, sum_s = len(server.ended_s), sum(server.ended_s)
        server.total += runs
        calls = {self.dependency: DependencyFigures(runs, time_sum_s=sum_s)} if self.dependency else {}
        recent = WorkFigures(
            span_s=self.pool.tick_s, starts=runs, completions=runs, service_time_sum_s=sum_s,
            service_time_square_sum_s2=sum(seconds**2 for seconds in server.ended_s), dependencies=calls,
        )  # fmt: skip
        server.ended_s = []
        retired = WorkerState.RETIRING if server.busy else WorkerState.RELEASED
        report = worker(
            server.worker_id,
            busy=server.busy,
            at_s=self.now_s,
            started_at_s=server.ready_at_s,
            first_receive_at_s=server.ready_at_s,
            state=retired if self._retired(server) else WorkerState.RUNNING,
            protected=True,
        )
        return replace(
            report, recent=recent, total=replace(recent, starts=server.total + server.busy, completions=server.total)
        )

    def _set(self, desired: int) -> None:
        """Those that start go first, then those that were told to and hold nothing."""
        while len(self.servers) < desired:
            self.servers.append(Server(f"w{self.made}", self.now_s + self.start_up_s))
            self.made += 1
        for server in sorted(self.servers, key=lambda it: -it.ready_at_s):
            starting = server.ready_at_s > self.now_s
            if len(self.servers) > desired and (starting or (self._retired(server) and not server.busy)):
                self.servers.remove(server)
        self.desired = desired
