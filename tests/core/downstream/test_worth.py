"""How many slots are worth having, by the curve."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.downstream.state import Curve, Level, Point
from tidegate.core.downstream.worth import Worth, bought_at, worth

SLOTS = (12.0, 16.0, 24.0, 32.0, 40.0, 48.0, 60.0)


def point(slots: float, run_s: float, runs: float = 2000.0, full: float = 1.0) -> Point:
    """Runs that vary by as much as their mean."""
    return Point(round(slots), 0.0, runs, runs * slots, runs * run_s, 2 * runs * run_s**2, full * runs)


def curve(limit: float, strain: float, slots: tuple[float, ...] = SLOTS) -> Curve:
    """Of a dependency that gets slower above `limit` slots, by the excess to the power of `strain`."""
    return Curve(tuple(point(each, 4.0 * max(1.0, each / limit) ** strain) for each in slots))


def level(slots: float, run_s: float) -> Level:
    span_s, runs = 120.0, slots * 120.0 / run_s
    return Level(8, 0.0, span_s, slots * span_s, slots * span_s, runs, runs, runs * run_s, 2 * runs * run_s**2)


def test_without_points_nothing_is_known() -> None:
    assert worth(Curve(), level(32, 4.0)) == Worth()
    assert worth(Curve((point(32, 4.0, runs=10.0),)), level(32, 4.0)) == Worth()
    assert not bought_at(Curve(), 0.0)
    assert Worth().workers(4) is None


@pytest.mark.parametrize("strain", [1.0, 1.5, 3.0], ids=["queues", "thrashes", "collapses"])
def test_where_more_slots_buy_nothing_those_below_are_best_and_more_are_the_knee(strain: float) -> None:
    it = worth(curve(30.0, strain), level(32, 4.4))
    assert it.slots is not None
    assert it.knee is not None
    assert 24.0 <= it.slots <= 32.0
    assert it.slots < it.knee <= 60.0
    assert it.workers(4) in {6, 8}
    assert not it.buys


@pytest.mark.parametrize("strain", [0.0, 0.25, 0.4, 0.5])
def test_where_runs_get_longer_by_less_than_slots_are_more_they_still_buy(strain: float) -> None:
    it = worth(curve(10.0, strain), level(60, 4.0 * 6.0**strain))
    assert (it.slots, it.knee, it.more, it.buys) == (60.0, None, False, True)
    assert it.workers(4) is None
    below = worth(curve(10.0, strain), level(16, 4.0 * 1.6**strain))
    assert (below.more, below.buys) == (True, True)


def test_below_a_known_knee_more_complete_more_and_that_is_no_leave_to_go_on() -> None:
    it = worth(curve(30.0, 1.5), level(16, 4.0))
    assert (it.more, it.buys) == (True, False)
    assert not worth(curve(30.0, 1.5), level(16, 30.0)).buys


def test_a_level_that_is_not_known_yet_says_nothing_of_itself() -> None:
    for unknown in (None, Level(8, 0.0)):
        it = worth(curve(10.0, 0.25), unknown)
        assert (it.slots, it.more, it.buys) == (60.0, False, False)


def test_slots_that_are_idle_make_no_knee() -> None:
    """Where some are idle, many are in use because runs happen to be long, and not the other way round."""
    points = tuple(point(each, 4.0 * max(1.0, each / 30.0) ** 1.5, full=0.2) for each in SLOTS)
    assert worth(Curve(points), level(32, 4.4)).knee is None


def test_counts_far_apart_tell_nothing_of_the_last_slots() -> None:
    """With a sixth of them and no strain there may be a peak in between."""
    assert not worth(Curve((point(8, 4.0), point(48, 8.0))), level(48, 8.0)).buys


def test_what_was_bought_at_a_count_needs_as_many_in_use() -> None:
    assert bought_at(curve(10.0, 0.4), 60.0)
    assert not bought_at(curve(10.0, 0.4), 61.0)
    assert not bought_at(curve(30.0, 1.5), 48.0)


@given(st.floats(8.0, 60.0), st.floats(0.0, 3.0), st.floats(12.0, 60.0))
def test_slots_never_buy_where_more_of_them_are_known_to_cost(limit: float, strain: float, slots: float) -> None:
    it = worth(curve(limit, strain), level(slots, 4.0 * max(1.0, slots / limit) ** strain))
    assert it.slots is not None
    assert not (it.buys and it.knee is not None)
    assert it.knee is None or it.knee > it.slots
