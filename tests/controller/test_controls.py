"""An operator's hand: kept in the pool's state, with who and until, whatever else saves at the same time."""

from dataclasses import replace

import pytest

from tests.controller.pool_rig import POOL
from tidegate.controller.controls import freeze, pin, resume
from tidegate.core.model import Override, OverrideKind, PoolState, Sample
from tidegate.errors import ConfigError, StateConflict
from tidegate.ports import StoredState
from tidegate.stores.memory import MemoryStore

NOW_S = 1_000.0
LEARNED = PoolState(samples=(Sample(990, 5, 1, 1),), start_ups_s=(12.0,), desired=3)


class Contested(MemoryStore):
    """A controller saves `times` in turn between the load and the save of the operator's change."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def load(self, pool: str) -> StoredState:
        stored = super().load(pool)
        if self.times:
            self.times -= 1
            super().save(pool, replace(stored.state, desired=self.times), stored.version)
        return stored


def stored(state: PoolState) -> MemoryStore:
    store = MemoryStore()
    store.save("orders", state, 0)
    return store


@pytest.mark.parametrize(("for_s", "until_s"), [(None, None), (7200.0, 8200.0), (0.0, 1000.0)])
def test_a_freeze_says_who_and_until_and_keeps_all_that_was_learned(for_s: float | None, until_s: float | None) -> None:
    store = stored(LEARNED)

    override = freeze(store, "orders", "ann@desk", NOW_S, for_s)

    assert override == Override(OverrideKind.FREEZE, "ann@desk", NOW_S, until_s)
    assert store.load("orders") == StoredState(replace(LEARNED, override=override), 2)


def test_a_pin_says_how_many() -> None:
    store = stored(LEARNED)

    override = pin(store, POOL, 7, "ann@desk", NOW_S, 60)

    assert override == Override(OverrideKind.PIN, "ann@desk", NOW_S, 1060, workers=7)
    assert store.load("orders").state == replace(LEARNED, override=override)


@pytest.mark.parametrize("workers", [0, POOL.min_workers, POOL.max_workers])
def test_a_pin_may_stop_a_pool_or_fill_it(workers: int) -> None:
    assert pin(stored(LEARNED), POOL, workers, "ann@desk", NOW_S).workers == workers


def test_a_pin_above_the_maximum_is_refused_and_names_the_fix() -> None:
    store = stored(LEARNED)

    with pytest.raises(ConfigError) as raised:
        pin(store, replace(POOL, limits_from="schedule 'office hours'"), 11, "ann@desk", NOW_S)

    assert str(raised.value) == (
        "pin orders = 11: above max_workers = 10 (from schedule 'office hours'); "
        "pin to 0 … 10, or raise pools.orders.max_workers first"
    )
    assert store.load("orders") == StoredState(LEARNED, 1)


def test_a_pin_below_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"pin orders = -1: fewer than no workers; pin to 0 … 10$"):
        pin(stored(LEARNED), POOL, -1, "ann@desk", NOW_S)


def test_resume_lifts_the_override_says_which_it_was_and_keeps_the_rest() -> None:
    override = Override(OverrideKind.FREEZE, "ann@desk", NOW_S)
    store = stored(replace(LEARNED, override=override))

    assert resume(store, "orders") == override
    assert store.load("orders").state == LEARNED


def test_resume_of_a_pool_that_nobody_holds_saves_nothing() -> None:
    store = stored(LEARNED)

    assert resume(store, "orders") is None
    assert store.load("orders").version == 1


def test_a_later_hand_replaces_the_earlier_one() -> None:
    store = stored(LEARNED)
    freeze(store, "orders", "ann@desk", NOW_S)

    override = pin(store, POOL, 4, "bob@desk", NOW_S + 5)

    assert store.load("orders").state.override == override


def test_a_change_that_meets_the_controllers_save_is_made_on_top_of_it() -> None:
    store = Contested(times=3)

    override = freeze(store, "orders", "ann@desk", NOW_S)

    assert store.load("orders").state == PoolState(desired=0, override=override)


def test_a_change_that_never_gets_through_is_said() -> None:
    with pytest.raises(StateConflict):
        freeze(Contested(times=1000), "orders", "ann@desk", NOW_S)
