"""A dry run's store: what is stored is its beginning, and stays as it is."""

import pytest

from tidegate.controller.shadow import ShadowStore
from tidegate.core.model import Override, OverrideKind, PoolState
from tidegate.errors import StateConflict
from tidegate.ports import StoredState
from tidegate.stores.memory import MemoryStore


def test_it_begins_with_what_is_stored_and_goes_on_with_its_own() -> None:
    stored = MemoryStore()
    stored.save("orders", PoolState(desired=3), 0)
    shadow = ShadowStore(stored)

    assert shadow.load("orders") == StoredState(PoolState(desired=3), 1)
    assert shadow.save("orders", PoolState(lean=0.5), 1) == 2
    assert shadow.load("orders") == StoredState(PoolState(lean=0.5), 2)
    assert stored.load("orders") == StoredState(PoolState(desired=3), 1)


def test_an_override_set_or_lifted_after_it_began_shows_at_once() -> None:
    stored, freeze = MemoryStore(), Override(OverrideKind.FREEZE, "ann@desk", since_s=1)
    shadow = ShadowStore(stored)
    shadow.save("orders", PoolState(lean=0.5), 0)

    stored.save("orders", PoolState(override=freeze), 0)
    assert shadow.load("orders").state == PoolState(lean=0.5, override=freeze)

    stored.save("orders", PoolState(), 1)
    assert shadow.load("orders").state == PoolState(lean=0.5)


def test_two_savers_of_one_version_conflict_as_in_any_store() -> None:
    shadow = ShadowStore(MemoryStore())
    shadow.save("orders", PoolState(), 0)

    with pytest.raises(StateConflict):
        shadow.save("orders", PoolState(desired=1), 0)


def test_pools_are_kept_apart() -> None:
    shadow = ShadowStore(MemoryStore())
    shadow.save("orders", PoolState(lean=0.5), 0)

    assert shadow.load("mail") == StoredState()


def test_what_it_decides_was_never_asked_for_so_that_whoever_sets_the_count_undoes_nothing() -> None:
    shadow = ShadowStore(MemoryStore())
    shadow.save("orders", PoolState(desired=7, lean=0.5), 0)

    assert shadow.load("orders").state == PoolState(lean=0.5)
