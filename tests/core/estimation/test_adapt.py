"""What a pool learns of itself: lean is earned slowly and lost at once, surges are followed."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.estimation.adapt import blind_s, calm_share, growth, learn_lean, learn_margin, learn_surge
from tidegate.core.estimation.arrivals import window_pair_per_s
from tidegate.core.model import PoolState, Sample
from tidegate.core.reports import WAIT_BOUNDS_S
from tidegate.core.signals.news import Waits
from tidegate.core.signals.read import Signals, read_signals

MINUTES = replace(POOL, target_wait_s=60)


def waits(early: int, late: int = 0, age_s: float | None = None) -> Signals:
    """`early` starts after less than 50 ms, `late` ones after two minutes."""
    buckets = tuple(early if i == 0 else late if edge == 180 else 0 for i, edge in enumerate((*WAIT_BOUNDS_S, 0)))
    seen = observe(queue(0, age_s=age_s), workers=(worker(busy=4, completions=early + late, waits=buckets),))
    return read_signals(MINUTES, PoolState(), seen)


def silent(age_s: float | None = None) -> Signals:
    return read_signals(MINUTES, PoolState(), observe(queue(1, age_s=age_s)))


def surged(
    surge: float, samples: tuple[Sample, ...], blind: float, elapsed_s: float, count_error: float = 0.0
) -> float:
    return learn_surge(surge, window_pair_per_s(samples, blind), samples, blind, elapsed_s, count_error)


def test_a_rise_that_the_counts_error_explains_is_no_surge() -> None:
    rising = rates(5.0, 7.0)[:51]
    standing = tuple([sample._replace(waiting=500.0) for sample in rising])
    assert surged(0.0, rising, 100.0, 10.0, 0.2) > 0.0
    assert surged(0.0, standing, 100.0, 10.0, 0.0) > 0.0
    assert surged(0.0, standing, 100.0, 10.0, 0.2) == 0.0


def test_ten_minutes_of_waits_in_time_earn_all_of_the_standing_wait() -> None:
    lean = 0.0
    for _ in range(60):
        lean = learn_lean(MINUTES, lean, waits(100), 10.0)
    assert lean == pytest.approx(1.0)
    assert learn_lean(MINUTES, lean, waits(100), 10.0) == 1.0


@pytest.mark.parametrize(
    ("signals", "after"),
    [
        (waits(100, late=2), 0.4),
        (waits(1000, late=2), 0.8 + 1 / 60),
        (waits(100, age_s=59), 0.0),
        (waits(100, age_s=30), 0.8 + 1 / 60),
        (silent(age_s=30), 0.8 + 1 / 60),
        (silent(), 0.8),
    ],
)
def test_late_waits_halve_it_an_old_head_ends_it_and_silence_leaves_it(signals: Signals, after: float) -> None:
    assert learn_lean(MINUTES, 0.8, signals, 10.0) == pytest.approx(after)


def test_a_pool_that_asks_for_prompt_waits_earns_nothing() -> None:
    assert learn_lean(replace(MINUTES, economy="prompt"), 0.8, waits(100), 10.0) == 0.0


def rates(*per_s: float) -> tuple[Sample, ...]:
    """Forty ticks of ten seconds at each rate."""
    samples, arrived = [Sample(NOW_S, 0.0, 0, 0)], 0.0
    for tick in range(40 * len(per_s)):
        arrived += 10 * per_s[tick // 40]
        samples.append(Sample(NOW_S + 10 * (tick + 1), arrived, 0, 0))
    return tuple(samples)


def test_calm_traffic_wears_the_surge_off_and_a_rise_beyond_it_puts_nineteen_times_as_much_on() -> None:
    calm = surged(0.4, rates(5.0), 100.0, 10.0)
    assert calm == pytest.approx(0.4 - 0.02 * 0.05)
    assert surged(0.4, rates(5.0, 50.0)[:51], 100.0, 10.0) == pytest.approx(0.4 + 0.02 * 0.95)


def test_without_two_blind_windows_of_history_nothing_is_learned() -> None:
    assert surged(0.4, (), 100.0, 10.0) == 0.4
    assert surged(0.4, rates(5.0), 600.0, 10.0) == 0.4


def test_the_blind_window_is_the_lag_a_tick_and_a_start_up() -> None:
    assert blind_s(POOL, 60.0) == 100.0
    assert growth(0.5) == 2.25


def test_late_waits_raise_the_margin_and_waits_in_time_take_it_back_slowly() -> None:
    late = Waits(starts=10, late_share=0.5, p99_s=120.0)
    raised = learn_margin(0.0, late, 10.0, 1.0, 10.0, limited=False)
    assert raised == pytest.approx(0.495 * 10 / 300)
    in_time = Waits(starts=10, late_share=0.0, p99_s=1.0)
    after = learn_margin(raised, in_time, 10.0, 1.0, 10.0, limited=False)
    assert raised * 0.9 < after < raised
    assert learn_margin(0.99, Waits(10_000, 1.0, 120.0), 10.0, 1.0, 10.0, limited=False) == 1.0
    assert learn_margin(0.0, in_time, 10.0, 1.0, 10.0, limited=False) == 0.0


def test_a_burst_that_wakes_an_idle_pool_is_worth_no_more_than_the_time_that_it_took() -> None:
    burst = Waits(starts=1000, late_share=1.0, p99_s=300.0)
    assert learn_margin(0.0, burst, 10.0, 0.1, 10.0, limited=False) == pytest.approx(0.995 * 10 / 300)


def test_after_a_gap_in_the_ticks_late_waits_are_worth_no_more_than_the_time_that_they_tell_of() -> None:
    burst = Waits(starts=1000, late_share=1.0, p99_s=300.0)
    assert learn_margin(0.0, burst, 10.0, 0.1, 600.0, limited=False) == pytest.approx(0.995 * 10 / 300)


def test_what_could_not_be_had_winds_nothing_up() -> None:
    late = Waits(starts=10, late_share=0.5, p99_s=120.0)
    assert learn_margin(0.1, late, 10.0, 1.0, 10.0, limited=True) == pytest.approx(0.1, rel=0.01)
    assert learn_margin(0.1, None, 0.0, 1.0, 10.0, limited=False) == pytest.approx(0.1, rel=0.01)
    assert learn_margin(0.1, late, 10.0, 0.0, 10.0, limited=False) == pytest.approx(0.1, rel=0.01)


def test_chance_explains_all_of_a_calm_pools_surges_and_little_of_a_bursty_ones() -> None:
    assert calm_share(0.0, 10.0, 100.0) == calm_share(9e-304, 10.0, 100.0) == 1.0  # whose square is none
    shares = [calm_share(surge, 10.0, 100.0) for surge in (0.03, 0.1, 0.4, 3.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == 1.0
    assert shares[-1] < 0.001
