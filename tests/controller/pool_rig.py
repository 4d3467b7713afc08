"""One pool and everything around it as fakes; a test says only what it is about."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field, replace
from typing import Any, ParamSpec, TypeVar

from tidegate.controller.controller import Controller
from tidegate.controller.metrics import MinuteMetrics
from tidegate.controller.observe import PoolSources, queue_metrics
from tidegate.controller.tick import Decide, PoolTick
from tidegate.core.decision import Action, Decision, Reason
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.ports import FleetReader, Publisher, QueueCounts, StateStore
from tidegate.stores.memory import MemoryStore
from tidegate.testing import FakeCapacity, FakeClock, FakeMetricsReader, FakeQueueReader, RecordedEvents

P = ParamSpec("P")
T = TypeVar("T")

POOL = Pool("orders", target_wait_s=30, min_workers=1, max_workers=10, slots_per_worker=4, service_time_hint_s=1.0)


class InlineExecutor(Executor):
    """Runs what is submitted at once, in the caller's thread: for tests in virtual time."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  the future raises it
            future.set_exception(error)
        return future


class LastMinuteExecutor(Executor):
    """Runs what is submitted only when somebody waits for it: what nobody waits for never happens."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return _LastMinuteFuture(lambda: fn(*args, **kwargs))


class _LastMinuteFuture(Future[T]):
    def __init__(self, run: Callable[[], T]) -> None:
        super().__init__()
        self._run = run

    def result(self, timeout: float | None = None) -> T:
        if not self.done():
            self.set_result(self._run())
        return super().result(timeout)


def decision(pool: str, at_s: float, current: int, desired: int) -> Decision:
    action = Action.OUT if desired > current else Action.IN if desired < current else Action.HOLD
    return Decision(pool, at_s, current, desired, action, Reason.NEED, f"{pool}: {current} → {desired}")


def always(desired: int) -> Decide:
    """A `decide` that wants `desired` workers and remembers it as the core does."""

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        current = seen.capacity.desired
        raises = (*state.raises, (seen.now_s, desired - current)) if desired > current else state.raises
        after = replace(state, desired=desired, raises=raises)
        return decision(pool.name, seen.now_s, current, desired), after

    return decide


@dataclass
class Rig:
    """`tick()` is a PoolTick over all of it; `controller()` one over several rigs that share clock and events."""

    name: str = "orders"
    clock: FakeClock = field(default_factory=FakeClock)
    counts: FakeQueueReader = field(default_factory=FakeQueueReader)
    metrics: FakeMetricsReader = field(default_factory=FakeMetricsReader)
    events: RecordedEvents = field(default_factory=RecordedEvents)
    store: StateStore = field(default_factory=MemoryStore)
    decide: Decide = field(default_factory=lambda: always(2))
    fleet: FleetReader | None = None
    desired: int = 2
    lease_heartbeat_s: float | None = None
    capacity: FakeCapacity = field(init=False)
    asked_settings_at: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.capacity = FakeCapacity(self.clock, desired=self.desired, name=f"fake:{self.name}")
        self.counts.queues.setdefault(self.name, QueueCounts(0, 0, 0))

    def settings_at(self, now_s: float) -> Pool:
        self.asked_settings_at.append(now_s)
        return replace(POOL, name=self.name)

    def sources(self, **changes: Any) -> PoolSources:
        sources = PoolSources(
            self.name, (self.name,), self.settings_at, self.counts, self.capacity, self.fleet, self.lease_heartbeat_s
        )
        return replace(sources, **changes)

    def tick(self, **changes: Any) -> PoolTick:
        return replace(PoolTick(self.sources(), self.store, self.clock, self.decide), **changes)


def controller_of(
    rigs: Sequence[Rig],
    executor: Executor,
    background: Executor | None = None,
    publisher: Publisher | None = None,
) -> Controller:
    """With `executor` for the CloudWatch pass too, if no other is given."""
    first = rigs[0]
    metrics = MinuteMetrics(first.metrics, [metric for rig in rigs for metric in queue_metrics(rig.name)])
    return Controller(
        [rig.tick() for rig in rigs], metrics, first.events, executor, background or executor, first.clock, publisher
    )


def together(actions: Sequence[Callable[[], object]]) -> list[BaseException | None]:
    """Run all at the same time; what each raised."""
    raised: list[BaseException | None] = [None] * len(actions)

    def run(index: int) -> None:
        try:
            actions[index]()
        except BaseException as error:  # noqa: BLE001  handed to the test
            raised[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(actions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    return raised
