"""How long handlers run by how many slots are in use: what is kept of it."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.downstream.test_step_effect import fleet
from tests.core.downstream.test_step_effect import level as busy_level
from tidegate.core.downstream.curve import POINTS_AT_MOST, charted, followed_curve, without_more
from tidegate.core.downstream.state import Curve, Level, Point
from tidegate.core.signals.fleet import FleetSignals
from tidegate.core.stored.codec import from_json, to_json

TICK_S = 10.0


def level(workers: int) -> Level:
    """Runs of two seconds, as many as keep all slots in use."""
    return busy_level(workers, 2.0 * workers, 2.0)


def told(taking: int, /, **changes: float) -> FleetSignals:
    return replace(fleet(taking), **changes)  # type: ignore[arg-type]  # fields of the signals


def after(curve: Curve, ticks: int, news: FleetSignals, at: Level | None = None, from_s: float = 0.0) -> Curve:
    for n in range(ticks):
        now_s = from_s + TICK_S * (n + 1)
        curve = followed_curve(curve, news, at or level(max(1, news.taking)), now_s, TICK_S)
    return curve


def test_runs_belong_to_the_slots_that_were_in_use_while_they_ran() -> None:
    (point,) = charted(after(Curve(), 20, told(8)))
    assert point.slots == pytest.approx(32.0)
    assert point.run_s == pytest.approx(2.0)
    assert point.rate_per_s == pytest.approx(16.0)
    assert point.full_runs == point.runs
    assert point.at_s == 200.0
    assert 0.03 < point.error < 0.05


def test_each_count_has_a_point_of_its_own_and_keeps_it_while_others_are_in_use() -> None:
    first = after(Curve(), 20, told(8))
    both = after(first, 20, told(16), from_s=200.0)
    assert [round(point.slots) for point in both.points] == [32, 64]
    assert both.points[0] == first.points[0]


def test_idle_slots_are_told_from_full_ones() -> None:
    (point,) = after(Curve(), 20, told(8, slots=64)).points
    assert point.full_runs == 0.0


@pytest.mark.parametrize(
    ("news", "at"),
    [
        (told(8, runs=0), level(8)),
        (told(8, busy=0), level(8)),
        (told(8, workers=10), level(8)),
        (told(8), Level(8, 0.0)),
        (told(8), busy_level(8, 10.0, 2.0)),
    ],
    ids=["none ended", "none in use", "some are leaving", "too little is known", "runs are getting longer"],
)
def test_what_has_not_settled_is_no_point(news: FleetSignals, at: Level) -> None:
    assert after(Curve(), 20, news, at).points == ()


def test_after_a_change_of_the_count_runs_are_left_out_for_four_service_times_and_a_heartbeat() -> None:
    steady = after(Curve(), 20, told(8))
    changed = after(steady, 5, told(12), from_s=200.0)
    assert changed.points == steady.points
    assert len(after(changed, 1, told(12), from_s=250.0).points) == 2


def test_while_slots_in_use_change_within_a_service_time_runs_belong_to_no_count() -> None:
    steady = after(Curve(), 20, told(8))
    assert after(steady, 1, told(8, busy=10), from_s=200.0).points == steady.points


def test_without_time_between_two_looks_nothing_is_added() -> None:
    assert followed_curve(Curve(), told(8), level(8), 10.0, 0.0) == Curve()


def test_a_point_that_was_not_visited_for_six_hours_is_forgotten() -> None:
    old = Curve((Point(30, 0.0, 100.0, 24_000.0, 200.0, 500.0, 100.0),))
    later = after(old, 20, told(8), from_s=6 * 3600.0)
    assert [point.band for point in later.points] == [19]


def test_what_was_seen_of_more_than_are_in_use_can_be_forgotten() -> None:
    both = after(after(Curve(), 20, told(16)), 30, told(8), from_s=200.0)
    assert [round(point.slots) for point in both.points] == [32, 64]
    assert [round(point.slots) for point in without_more(both).points] == [32]
    assert without_more(Curve()) == Curve()


@settings(max_examples=25)
@given(st.lists(st.integers(1, 4000), min_size=1, max_size=40))
def test_points_are_bounded_in_order_and_survive_json(counts: list[int]) -> None:
    curve = Curve()
    for n, workers in enumerate(counts):
        curve = after(curve, 6, told(workers), from_s=60.0 * n)
    bands = [point.band for point in curve.points]
    assert len(bands) <= POINTS_AT_MOST
    assert bands == sorted(set(bands))
    assert from_json(Curve, to_json(curve)) == curve
