"""One tick: the state is saved before anything is set, and only the one that saved may set it."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.controller.pool_rig import Rig, always, decision, together
from tidegate.controller.shadow import ShadowStore
from tidegate.core.decision import Decision
from tidegate.core.model import Override, OverrideKind, Pool, PoolState
from tidegate.core.observation import Capacity, Observation
from tidegate.errors import CapacityChanged, StateConflict, StateUnreadable, Throttled, TidegateError
from tidegate.ports import StoredState
from tidegate.stores.memory import MemoryStore
from tidegate.testing import FakeCapacity

FREEZE = Override(OverrideKind.FREEZE, "ann@desk", since_s=1)


class Contested(MemoryStore):
    """Somebody else saves `others` in turn, each between this controller's load and its save."""

    def __init__(self, others: list[PoolState]) -> None:
        super().__init__()
        self.others = others

    def load(self, pool: str) -> StoredState:
        stored = super().load(pool)
        if self.others:
            super().save(pool, self.others.pop(0), stored.version)
        return stored


def test_a_tick_sets_the_count_that_was_decided_and_remembers_it() -> None:
    rig = Rig(decide=always(5))

    ticked = rig.tick().run({})

    assert ticked.wrote
    assert rig.capacity.writes == [5]
    assert rig.store.load("orders") == StoredState(PoolState(desired=5, raises=((rig.clock.now(), 3),)), version=1)


def test_when_the_count_is_right_already_the_platform_is_not_even_asked() -> None:
    class Untouchable(FakeCapacity):
        def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
            raise AssertionError("a call for nothing")

    rig = Rig(decide=always(2))
    rig.capacity = Untouchable(rig.clock, desired=2)

    assert not rig.tick().run({}).wrote


def test_the_state_is_saved_before_the_count_is_set() -> None:
    class Watched(FakeCapacity):
        def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
            saved.append(rig.store.load("orders").state.desired)
            return super().set_desired(desired, seen)

    saved: list[int | None] = []
    rig = Rig(decide=always(5))
    rig.capacity = Watched(rig.clock, desired=2)

    rig.tick().run({})

    assert saved == [5]


def test_settings_are_those_that_hold_at_the_time_of_the_observation() -> None:
    rig = Rig()

    rig.tick().run({})

    assert rig.asked_settings_at == [rig.clock.now()]


def test_a_freeze_saved_meanwhile_is_decided_on_anew_and_not_overwritten() -> None:
    seen_overrides: list[Override | None] = []

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        seen_overrides.append(state.override)
        desired = 2 if state.override else 5
        return decision(pool.name, seen.now_s, seen.capacity.desired, desired), replace(state, desired=desired)

    rig = Rig(decide=decide, store=Contested([PoolState(override=FREEZE)]))

    ticked = rig.tick().run({})

    assert seen_overrides == [None, FREEZE]
    assert ticked.decision.desired == 2
    assert rig.capacity.writes == []
    assert rig.store.load("orders").state == PoolState(override=FREEZE, desired=2)


def test_a_state_that_keeps_changing_ends_the_tick_without_setting_anything() -> None:
    rig = Rig(decide=always(5), store=Contested([PoolState(desired=n) for n in range(9)]))

    with pytest.raises(StateConflict):
        rig.tick().run({})

    assert rig.capacity.writes == []


def test_of_two_controllers_with_the_same_state_only_one_sets_the_count() -> None:
    both_decided = threading.Barrier(2, timeout=10)
    first_round = threading.local()

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        if not hasattr(first_round, "over"):
            first_round.over = True
            both_decided.wait()
        return always(seen.capacity.desired if state.desired else 5)(pool, state, seen)

    rig = Rig(decide=decide)

    assert together([lambda: rig.tick().run({}), lambda: rig.tick().run({})]) == [None, None]

    assert rig.capacity.writes == [5]
    assert rig.store.load("orders").version == 2


@pytest.mark.parametrize(
    "error",
    [
        CapacityChanged("fake:orders", 2, 9),
        Throttled("ecs:UpdateService", "prod/orders", "Rate exceeded"),
    ],
)
def test_a_count_that_could_not_be_set_is_not_remembered_as_asked_for(error: TidegateError) -> None:
    class Refusing(FakeCapacity):
        def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
            raise error

    rig = Rig(decide=always(5))
    rig.capacity = Refusing(rig.clock, desired=2)
    earlier = (rig.clock.now() - 10, 1)
    rig.store.save("orders", PoolState(desired=2, raises=(earlier,)), 0)

    with pytest.raises(type(error)) as raised:
        rig.tick().run({})

    assert raised.value is error
    assert rig.store.load("orders").state == PoolState(desired=2, raises=(earlier,))


def test_when_even_that_cannot_be_saved_the_first_error_is_raised_and_says_so() -> None:
    class Refusing(FakeCapacity):
        def set_desired(self, desired: int, seen: Capacity, leaving: Sequence[str] = ()) -> bool:
            stored = rig.store.load("orders")
            rig.store.save("orders", PoolState(override=FREEZE), stored.version)
            raise CapacityChanged("fake:orders", 2, 9)

    rig = Rig(decide=always(5))
    rig.capacity = Refusing(rig.clock, desired=2)

    with pytest.raises(CapacityChanged) as raised:
        rig.tick().run({})

    assert "state of pool orders is no longer at version 1" in raised.value.__notes__[0]
    assert rig.store.load("orders").state == PoolState(override=FREEZE)


def test_a_count_set_by_somebody_else_meanwhile_is_left_as_they_set_it() -> None:
    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        rig.capacity.change(desired=9)
        return always(5)(pool, state, seen)

    rig = Rig(decide=decide)

    with pytest.raises(CapacityChanged):
        rig.tick().run({})

    assert rig.capacity.read().desired == 9


def test_an_unreadable_state_is_neither_guessed_at_nor_replaced() -> None:
    class Damaged(MemoryStore):
        def load(self, pool: str) -> StoredState:
            raise StateUnreadable("state of pool orders", "not JSON")

    rig = Rig(store=Damaged())

    with pytest.raises(StateUnreadable):
        rig.tick().run({})

    assert rig.capacity.writes == []


def test_a_dry_run_decides_the_same_and_changes_neither_count_nor_state() -> None:
    rig = Rig(decide=always(5))
    rig.store.save("orders", PoolState(desired=2), 0)

    ticked = rig.tick(store=ShadowStore(rig.store)).run({})

    assert ticked.decision == rig.tick().run({}).decision
    assert not ticked.wrote


def test_a_dry_run_leaves_no_trace() -> None:
    rig = Rig(decide=always(5))
    rig.store.save("orders", PoolState(desired=2), 0)

    rig.tick(store=ShadowStore(rig.store)).run({})

    assert rig.capacity.writes == []
    assert rig.store.load("orders") == StoredState(PoolState(desired=2), version=1)


def test_a_dry_run_learns_from_tick_to_tick_but_never_believes_that_it_set_the_count() -> None:
    remembered: list[PoolState] = []

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        remembered.append(state)
        learned = replace(state, start_ups_s=(*state.start_ups_s, float(len(remembered))))
        return always(5)(pool, learned, seen)

    rig = Rig(decide=decide)
    tick = rig.tick(store=ShadowStore(rig.store))

    for _ in range(3):
        tick.run({})
        rig.clock.advance(10)

    assert remembered == [PoolState(), PoolState(start_ups_s=(1.0,)), PoolState(start_ups_s=(1.0, 2.0))]
