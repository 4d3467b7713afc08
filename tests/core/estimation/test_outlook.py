"""What the rate of one blind window tells of the next: headroom in lulls where bursts come in trains."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.core.estimation.arrivals import window_pair_per_s
from tidegate.core.estimation.outlook import learn_outlook, to_bear_per_s
from tidegate.core.model import Outlook, Sample

BLIND_S = 100.0
TICK_S = 10.0
GROWTH = 4.0
QUARTER = 0.25
"""The part of a blind window that the target leaves unanswered."""


def lived(rate_per_s: Callable[[float], float], hours: float = 2.0) -> Outlook:
    """What a pool has learned of arrivals at such a rate, with ten minutes of samples at each tick."""
    samples, arrived, known = [Sample(0.0, 0.0, 0.0, 0.0)], 0.0, Outlook()
    for tick in range(1, int(hours * 3600 / TICK_S)):
        at_s = tick * TICK_S
        arrived += TICK_S * rate_per_s(at_s)
        samples = [*samples[-60:], Sample(at_s, arrived, 0.0, 0.0)]
        known = learn_outlook(known, window_pair_per_s(samples, BLIND_S), BLIND_S, TICK_S)
    return known


def train(at_s: float) -> float:
    """Ten a second for a blind window, and nothing for three."""
    return 10.0 if at_s % (4 * BLIND_S) < BLIND_S else 0.0


def bear(known: Outlook, rate_per_s: float) -> float:
    return to_bear_per_s(known, rate_per_s, GROWTH, QUARTER)


def test_a_pool_that_has_seen_nothing_yet_bears_a_multiple_of_its_rate() -> None:
    assert bear(Outlook(), 8.0) == 8.0 * GROWTH * QUARTER
    assert bear(lived(lambda _: 5.0, hours=BLIND_S / 3600), 8.0) == 8.0 * GROWTH * QUARTER


def test_where_bursts_come_in_trains_a_lull_keeps_headroom_and_a_peak_expects_no_multiple_of_itself() -> None:
    known = lived(train)
    assert bear(known, 0.0) > 0.5
    assert bear(known, 10.0) < 0.5 * bear(Outlook(), 10.0)


def test_a_rate_that_lasts_is_expected_to_last_without_headroom_for_what_never_came() -> None:
    known = lived(lambda _: 5.0)
    assert 5.0 * QUARTER <= bear(known, 5.0) < 1.5 * 5.0 * QUARTER


def test_a_drift_is_followed_for_it_does_not_fall_back() -> None:
    known = lived(lambda at_s: 5.0 + at_s / 1000, hours=3)
    assert bear(known, 15.0) > 0.9 * 15.0 * QUARTER
    assert bear(known, 5.0) < 0.8 * bear(known, 15.0)


def test_what_is_beyond_anything_seen_is_borne_as_by_a_pool_that_has_seen_nothing() -> None:
    assert bear(lived(train), 1000.0) == pytest.approx(bear(Outlook(), 1000.0), rel=0.05)


def test_one_burst_in_a_calm_life_makes_nobody_stand_by_for_more_than_half_of_the_work() -> None:
    known = lived(lambda at_s: 100.0 if 1800 <= at_s < 1900 else 0.1, hours=1)
    assert bear(known, 0.1) < 0.5 * (0.1 + 100.0 * 100 / 3600)


@pytest.mark.parametrize(("elapsed_s", "history_s"), [(0.0, 600.0), (10.0, 190.0), (10.0, 0.0)])
def test_without_time_or_two_blind_windows_of_history_nothing_is_learned(elapsed_s: float, history_s: float) -> None:
    samples = [Sample(at_s, at_s, 0.0, 0.0) for at_s in range(0, int(history_s), 10)]
    known = lived(train)
    assert learn_outlook(known, window_pair_per_s(samples, BLIND_S), BLIND_S, elapsed_s) == known


def test_one_look_after_ten_hours_away_outweighs_nothing_that_was_lived_through() -> None:
    known = lived(train)
    pair = window_pair_per_s([Sample(0.0, 0.0, 0.0, 0.0), Sample(36_000.0, 90_000.0, 0.0, 0.0)], BLIND_S)
    assert pair is not None
    after = learn_outlook(known, pair, BLIND_S, 36_000.0)
    assert bear(after, 10.0) == pytest.approx(bear(known, 10.0), rel=0.1)


@settings(max_examples=25)
@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=12),
    st.lists(st.floats(0, 1000), min_size=2, max_size=2),
    st.floats(0, 1),
)
def test_a_higher_rate_never_needs_less_whatever_was_lived_through(
    lives: list[float], two: list[float], share: float
) -> None:
    known = lived(lambda at_s: lives[int(at_s / 300) % len(lives)], hours=0.5)
    low, high = (to_bear_per_s(known, rate, GROWTH, share) for rate in sorted(two))
    assert 0 <= low <= high + 1e-9
