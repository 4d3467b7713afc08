"""Synthetic traces have the course that their names promise; scenarios offer the load that was asked for."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidegate.lab.scenario import Downstream, Scenario
from tidegate.lab.traces import (
    LONGEST_S,
    SHORTEST_S,
    SYNTHETIC,
    Bin,
    ServiceShape,
    load_trace,
    scenario_from_trace,
    service_times,
    synthetic,
)


def rates(name: str, *, length_s: float = 86_400, bin_s: float = 60.0) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([each.count / bin_s for each in synthetic(name, 3, mean_per_s=20, length_s=length_s, bin_s=bin_s)])


@pytest.mark.parametrize("name", SYNTHETIC)
def test_a_synthetic_trace_covers_its_length_at_its_mean_the_same_each_time(name: str) -> None:
    bins = synthetic(name, 7, mean_per_s=20, length_s=7200, bin_s=5)
    assert (bins[0].begin_s, bins[-1].end_s, len(bins)) == (0, 7200, 1440)
    assert all(one.end_s == other.begin_s for one, other in pairwise(bins))
    assert sum(each.count for each in bins) == pytest.approx(20 * 7200, rel=0.01)
    assert bins == synthetic(name, 7, mean_per_s=20, length_s=7200, bin_s=5)
    assert bins != synthetic(name, 8, mean_per_s=20, length_s=7200, bin_s=5)


def test_a_name_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no trace is named surge; there are constant, step, spike"):
        synthetic("surge", 1)


def test_constant_traffic_spreads_no_more_than_chance_does() -> None:
    counts = rates("constant") * 60
    assert np.var(counts) / np.mean(counts) == pytest.approx(1.0, rel=0.1)


def test_a_step_is_to_three_times_as_much_in_the_middle() -> None:
    halves = np.array_split(rates("step"), 2)
    assert halves[1].mean() / halves[0].mean() == pytest.approx(3, rel=0.02)


def test_a_spike_is_eight_times_as_much_for_a_twentieth_of_the_time() -> None:
    per_s = rates("spike")
    high = per_s > 3 * np.median(per_s)
    assert high.mean() == pytest.approx(0.05, abs=0.003)
    assert per_s[high].mean() / per_s[~high].mean() == pytest.approx(8, rel=0.02)


@pytest.mark.parametrize("length_s", [86_400.0, 3_600.0])
def test_a_day_is_nine_times_as_busy_at_noon_as_at_midnight(length_s: float) -> None:
    hours = np.array([part.mean() for part in np.array_split(rates("diurnal", length_s=length_s), 24)])
    assert 9 <= hours.argmax() <= 14
    assert hours.max() / hours[0] == pytest.approx(9, rel=0.15)


def test_bursts_come_and_go_about_every_twelve_minutes() -> None:
    per_s = rates("bursty")
    high = per_s > (per_s.min() + per_s.max()) / 2
    assert high.mean() == pytest.approx(120 / 720, abs=0.08)
    assert 60 < np.count_nonzero(np.diff(high.astype(int)) == 1) < 240


def test_cron_traffic_comes_at_the_quarters_and_most_at_the_full_hours() -> None:
    bins = synthetic("cron", 3, mean_per_s=20, length_s=86_400, bin_s=10)
    shares = [sum(b.count for b in bins if b.begin_s % every_s < 30) / (20 * 86_400) for every_s in (900, 3600)]
    assert shares[0] == pytest.approx(0.9, abs=0.02)
    assert shares[1] > 0.5


def test_dumps_are_rare_and_nothing_comes_between_them() -> None:
    per_s = rates("dumps")
    assert (per_s == 0).mean() > 0.9
    assert per_s.max() > 20 * per_s.mean()


@pytest.mark.parametrize(
    ("shape", "variation", "expected"),
    [
        ("deterministic", 4.0, 0.0),
        ("exponential", 4.0, 1.0),
        ("gamma", 0.5, 0.5),
        ("gamma", 4.0, 4.0),
        ("lognormal", 2, 2),
    ],
)
def test_service_times_have_the_mean_and_the_variation(shape: ServiceShape, variation: float, expected: float) -> None:
    drawn = service_times(shape, 3.0, variation, 400_000, np.random.default_rng(1))
    assert drawn.mean() == pytest.approx(3.0, rel=0.02)
    assert drawn.var() / drawn.mean() ** 2 == pytest.approx(expected, rel=0.1)


def make(bins: list[Bin], load: float, *, seed: int = 1, **how: Any) -> Scenario:
    return scenario_from_trace(bins, name="t", load_slots=load, target_wait_s=60, start_up_s=60, seed=seed, **how)


HOUR = [Bin(10.0 * n, 10.0 * n + 10, 20 + n % 7) for n in range(360)]  # 2.3 a second


def test_the_whole_of_a_short_trace_is_kept_message_by_message() -> None:
    made = make(HOUR, load=20)
    edges = np.arange(361) * 10.0
    assert np.histogram(made.arrivals_s, edges)[0].tolist() == [each.count for each in HOUR]
    assert made.length_s == 3600
    assert made.mean_service_s == pytest.approx(20 / 2.3, rel=0.05)
    assert made.load_slots == pytest.approx(20, rel=0.05)


@pytest.mark.parametrize(("load", "mean_s", "factor"), [(0.1, SHORTEST_S, 0.5 / 2.3), (600, LONGEST_S, 10 / 2.3)])
def test_messages_are_thinned_or_multiplied_where_service_times_would_be_out_of_range(
    load: float, mean_s: float, factor: float
) -> None:
    made = make(HOUR, load)
    assert made.mean_service_s == pytest.approx(mean_s, rel=0.05)
    assert len(made.arrivals_s) == pytest.approx(2.3 * 3600 * factor, rel=0.06)
    assert made.load_slots == pytest.approx(load, rel=0.06)


def test_a_window_of_a_long_trace_is_drawn_by_the_seed_and_keeps_within_messages_and_length() -> None:
    week = [Bin(60.0 * n, 60.0 * n + 60, 100 + n % 1440) for n in range(10_080)]
    by_messages = [make(week, 20, seed=seed, max_messages=50_000) for seed in range(4)]
    assert all(12_000 < len(made.arrivals_s) <= 50_000 for made in by_messages)
    assert len({made.length_s for made in by_messages} | {len(made.arrivals_s) for made in by_messages}) > 4
    by_length = make(week, 20, max_length_s=3_000, min_length_s=600)
    assert by_length.length_s == pytest.approx(3_000, abs=120)
    assert np.array_equal(make(week, 20, seed=5).arrivals_s, make(week, 20, seed=5).arrivals_s)


def test_a_window_is_never_too_short_to_scale_in() -> None:
    dense = [Bin(600.0 * n, 600.0 * n + 600, 120_000) for n in range(144)]  # 200 a second
    made = make(dense, 200)
    assert made.length_s == pytest.approx(7_200, abs=600)
    assert len(made.arrivals_s) <= 100_000
    assert made.mean_service_s == pytest.approx(14.4, rel=0.05)


def test_silent_windows_are_passed_over() -> None:
    """Nine tenths of this trace are silent, and its windows a hundredth of it: most would hold nothing."""
    mostly_silent = [Bin(60.0 * n, 60.0 * n + 60, 600 if n % 1000 < 100 else 0) for n in range(10_000)]
    for seed in range(5):
        made = make(mostly_silent, 5, seed=seed, max_length_s=6_000)
        assert made.length_s == 6_000
        assert 5 / 5 < made.load_slots < 5 * 2.2


def test_where_all_windows_but_one_are_silent_that_one_is_found() -> None:
    lonely = [Bin(60.0 * n, 60.0 * n + 60, 300_000 if n == 77_777 else 0) for n in range(100_000)]
    made = make(lonely, 5, max_length_s=3_000, min_length_s=60, max_messages=50_000)
    assert len(made.arrivals_s) == pytest.approx(50_000, rel=0.02)
    assert np.ptp(made.arrivals_s) < 60


def test_a_trace_without_messages_is_refused() -> None:
    with pytest.raises(ValueError, match="trace t holds no messages"):
        make([Bin(0, 1, 0), Bin(1, 2, 0)], 5)


def test_the_run_begins_with_workers_for_the_first_minutes_unless_told_otherwise() -> None:
    assert make(HOUR, 28).initial_workers == 10  # 28 slots of load, 70 % busy, four slots a worker
    assert make(HOUR, 28, initial_workers=3).initial_workers == 3
    assert make(HOUR, 28, max_workers=6).initial_workers == 6
    assert make(HOUR, 28, slots_per_worker=1).initial_workers == 40


def test_everything_else_goes_to_the_scenario() -> None:
    made = make(HOUR, 5, order="fifo", downstream=Downstream(3.0), count_error=0.0)
    assert (made.order, made.downstream, made.count_error) == ("fifo", Downstream(3.0), 0.0)


def test_a_trace_from_a_file_makes_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("t_s,count\n" + "".join(f"{60 * n},{30}\n" for n in range(60)))
    assert len(make(load_trace(path), 5).arrivals_s) == 1800
