"""Retirement through real ticks: what workers are told, when the count is lowered, and whom the platform removes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tests.controller.pool_rig import POOL, Rig
from tests.core.observations import worker
from tidegate.controller.shadow import ShadowStore
from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Reason
from tidegate.core.directive import Directive
from tidegate.core.observation import Capacity
from tidegate.core.reports import WorkerState
from tidegate.errors import Throttled
from tidegate.ports import QueueCounts
from tidegate.stores.memory import MemoryStore
from tidegate.testing import FakeClock

HOLD_S = 60.0


@dataclass
class Pool:
    """Workers that report by hand: `busy` slots each, and what they were told."""

    rig: Rig
    store: MemoryStore
    busy: dict[str, int]

    def tick(self, visible: int = 0, *, unreadable: bool = False) -> Decision:
        self.rig.clock.advance(10)
        throttled = Throttled("sqs:GetQueueAttributes", "orders", "slow down")
        counts = QueueCounts(visible, sum(self.busy.values()), 0)
        self.rig.counts.queues["orders"] = throttled if unreadable else counts
        retired = self.told().retire
        for name, busy in self.busy.items():
            state = WorkerState.RUNNING
            if name in retired:
                state = WorkerState.DRAINING if busy else WorkerState.RELEASED
            now_s = self.rig.clock.now()
            report = worker(
                name, busy=busy, at_s=now_s, started_at_s=now_s - 1000, state=state, protected=True, host=f"i-{name}"
            )
            asyncio.run(self.store.put("orders", report, now_s + 30))
        tick = self.rig.tick()
        return replace(tick, sources=replace(tick.sources, directives=self.store)).run({}).decision

    def told(self) -> Directive:
        return asyncio.run(self.store.directive("orders"))


@pytest.fixture
def pool() -> Pool:
    store = MemoryStore()
    rig = Rig(clock=FakeClock(), store=store, fleet=store, decide=decide, desired=4)
    rig.settings_at = lambda now_s: replace(POOL, hold_s=HOLD_S)  # type: ignore[method-assign]
    return Pool(rig, store, {"a": 4, "b": 4, "c": 4, "d": 1})


def settle(pool: Pool, ticks: int = 12) -> Decision:
    last = pool.tick()
    for _ in range(ticks):
        last = pool.tick()
    return last


def test_a_busy_pool_of_long_jobs_scales_in_and_no_worker_that_holds_something_is_removed(pool: Pool) -> None:
    """Without retirement nobody could be stopped here: the handlers may take longer than the stop timeout."""
    decision = settle(pool)
    assert pool.told().retire == ("d", "a", "b") or len(pool.told().retire) == 3
    assert (decision.desired, decision.reason) == (4, Reason.RETIRING)
    assert "3 retired and not stopped before they hold nothing" in decision.sentence
    assert pool.rig.capacity.writes == []

    pool.busy["d"] = 0
    pool.tick()
    assert pool.rig.capacity.writes == [3]
    assert pool.rig.capacity.removed == ["i-d"]
    pool.tick()
    assert pool.rig.capacity.writes == [3]


def test_a_burst_takes_workers_back_before_anything_is_started(pool: Pool) -> None:
    settle(pool)
    decision = pool.tick(visible=4000)
    assert pool.told().retire == ()
    assert "taken back" in decision.sentence
    assert decision.desired >= 4


def test_the_directive_is_told_again_when_writing_it_failed_and_the_count_was_set_all_the_same(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(pool)
    pool.busy["d"] = 0

    def refuse(name: str, directive: Directive) -> None:
        raise Throttled("dynamodb:PutItem", "table fleet", "slow down")

    with monkeypatch.context() as patch:
        patch.setattr(pool.store, "direct", refuse)
        with pytest.raises(Throttled):
            pool.tick()
    assert pool.rig.capacity.writes == [3]
    before = pool.told()
    pool.tick(visible=4000)
    assert pool.told() != before


def test_a_count_that_could_not_be_lowered_is_tried_again_for_the_same_workers(pool: Pool) -> None:
    settle(pool)
    pool.busy["d"] = 0

    def refuse(desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
        raise Throttled("ecs:UpdateService", "orders", "slow down")

    working = pool.rig.capacity.set_desired
    pool.rig.capacity.set_desired = refuse  # type: ignore[method-assign]
    with pytest.raises(Throttled):
        pool.tick()
    pool.rig.capacity.set_desired = working  # type: ignore[method-assign]
    pool.tick()
    assert pool.rig.capacity.removed == ["i-d"]


def test_a_dry_run_tells_nobody_anything(pool: Pool) -> None:
    shadow = ShadowStore(pool.store)
    pool.rig.store = shadow
    settle(pool)
    assert pool.told() == Directive()


def test_nothing_is_lowered_or_retired_on_stale_counts_and_the_list_stays(pool: Pool) -> None:
    settle(pool)
    listed = pool.told().retire
    pool.busy["d"] = 0
    pool.tick(unreadable=True)
    assert pool.rig.capacity.writes == []
    assert pool.told().retire == listed
