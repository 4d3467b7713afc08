"""The garbage collector is away while something lasting is made, and back afterwards."""

import gc
from collections.abc import Iterator

import pytest

from tidegate.entrypoints.collector import paused


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def test_nothing_is_collected_meanwhile_and_everything_again_afterwards() -> None:
    with paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_it_is_back_after_a_failure_too() -> None:
    with pytest.raises(ZeroDivisionError), paused():
        _ = 1 / 0
    assert gc.isenabled()


def test_who_has_turned_it_off_keeps_it_off() -> None:
    gc.disable()
    with paused():
        pass
    assert not gc.isenabled()
