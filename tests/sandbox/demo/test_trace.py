"""A trace becomes send times."""

import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tidegate.config.trace import Bin
from tidegate.errors import ConfigError
from tidegate.sandbox.demo.settings import DemoSettings
from tidegate.sandbox.demo.trace import plan, send_times, spike


def test_the_spike_goes_from_five_a_second_to_forty_and_back() -> None:
    rates = [(each.count / (each.end_s - each.begin_s), each.begin_s, each.end_s) for each in spike(90)]
    assert [round(rate) for rate, _, _ in rates] == [5, 40, 5]
    assert (rates[0][1], rates[-1][2]) == (0, 90)


def test_every_message_is_sent_within_its_bin_and_in_order() -> None:
    bins = [Bin(0, 1, 20), Bin(1, 4, 50), Bin(4, 5, 0), Bin(5, 6, 10)]
    times = list(send_times(bins, length_s=100, rng=random.Random(7)))
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert [sum(each.begin_s <= t < each.end_s for t in times) for each in bins] == [20, 50, 0, 10]


def test_nothing_is_sent_after_the_end() -> None:
    bins = [Bin(0, 10, 1000), Bin(10, 20, 1000)]
    times = list(send_times(bins, length_s=5, rng=random.Random(7)))
    assert max(times) < 5
    assert 400 < len(times) < 600


def test_the_plan_of_a_seed_is_always_the_same() -> None:
    assert plan(DemoSettings()) == plan(DemoSettings())
    assert plan(DemoSettings()) != plan(replace(DemoSettings(), seed=2))


@pytest.mark.parametrize(
    ("length_s", "speed", "expected"),
    [(None, 1.0, (30.0, 0)), (None, 10.0, (3.0, 0)), (20.0, 1.0, (20.0, 7)), (60.0, 1.0, (60.0, 0))],
)
def test_a_trace_sets_the_length_and_what_is_cut_off_is_counted(
    length_s: float | None, speed: float, expected: tuple[float, int], tmp_path: Path
) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("t_s,count\n0,5\n10,6\n20,7\n")
    found = plan(replace(DemoSettings(), trace=path, speed=speed, length_s=length_s))
    assert (found.length_s, found.left_out) == expected
    assert len(found.times_s) == 18 - found.left_out


def test_without_a_trace_it_is_ninety_seconds() -> None:
    assert plan(DemoSettings()).length_s == 90.0


def test_a_trace_with_more_than_a_demo_can_send_is_refused_before_it_is_planned(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text("t_s,count\n0,1e12\n1,1\n")
    with pytest.raises(ConfigError, match="the demo takes 1,000,000 at most; send for less long"):
        plan(replace(DemoSettings(), trace=path))
