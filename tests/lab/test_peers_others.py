"""Queue-latency stepping, the worker pod autoscaler, fixed fleets and the plain formula."""

import random
from dataclasses import replace

import pytest

from tests.lab.sights import Present, scenario, seen
from tidegate.lab.peers.fixed import FixedFleet, workers_for_mean, workers_for_peak
from tidegate.lab.peers.latency_stepping import LatencyStepping
from tidegate.lab.peers.plain_formula import plain_formula
from tidegate.lab.peers.wpa import PractoWpa


def stepping() -> LatencyStepping:
    peer = LatencyStepping(40.0)
    peer.reset(scenario(), random.Random(1))
    return peer


def test_latency_above_the_range_adds_one_every_three_minutes() -> None:
    peer = stepping()
    current, counts = 5, []
    for at_s in range(0, 400, 10):
        current = peer.step(current, 41.0, at_s)
        counts.append(current)
    assert counts == [6] * 18 + [7] * 18 + [8] * 4


def test_latency_within_the_range_changes_nothing() -> None:
    peer = stepping()
    assert {peer.step(5, latency_s, at_s) for at_s, latency_s in enumerate([10.0, 25.0, 40.0] * 500)} == {5}


def test_latency_below_the_range_takes_one_every_ten_minutes() -> None:
    peer = stepping()
    current, counts = 5, []
    for at_s in range(0, 1210, 10):
        current = peer.step(current, 9.9, at_s)
        counts.append(current)
    assert counts == [5] * 60 + [4] * 60 + [3]


def test_one_latency_within_the_range_begins_the_ten_minutes_anew() -> None:
    peer = stepping()
    for at_s in range(0, 600, 10):
        assert peer.step(5, 1.0, at_s) == 5
    assert peer.step(5, 10.0, 600) == 5
    assert peer.step(5, 1.0, 610) == 5
    assert peer.step(5, 1.0, 1209) == 5
    assert peer.step(5, 1.0, 1210) == 4


def test_latency_stepping_reads_the_exact_head_and_keeps_one_worker() -> None:
    peer = stepping()
    assert peer.desired(seen(0, 3), Present(head_age_s=41.0)) == 4
    assert peer.desired(seen(10, 0), Present(head_age_s=0.0)) == 1


@pytest.mark.parametrize(
    ("current", "messages", "sent_per_minute", "wanted"),
    [
        (5, 100, 0, 10),
        (10, 105, 0, 10),  # within a tenth of ten a worker
        (10, 112, 0, 12),
        (10, 0, 600, 10),  # 600 a minute of 4 s each on 4 slots are ten workers, whatever waits
        (0, 1, 0, 1),
    ],
)
def test_the_pod_autoscaler_formula(current: int, messages: float, sent_per_minute: float, wanted: int) -> None:
    peer = PractoWpa(10.0)
    peer.reset(scenario(service_s=4.0), random.Random(1))
    assert peer.wanted(current, messages, sent_per_minute) == wanted


def test_the_pod_autoscaler_goes_in_ten_minutes_after_its_last_change() -> None:
    peer = PractoWpa(10.0)
    peer.reset(scenario(), random.Random(1))
    assert peer.desired(seen(0, 5, visible=60, in_flight=40), Present()) == 10
    assert peer.desired(seen(580, 10, visible=20), Present()) == 10
    assert peer.desired(seen(600, 10, visible=20), Present()) == 2


def test_an_unreadable_count_leaves_the_pod_autoscaler_where_it_is() -> None:
    peer = PractoWpa(10.0)
    peer.reset(scenario(), random.Random(1))
    assert peer.desired(seen(0, 5, visible=None), Present()) == 5


def test_a_fixed_fleet_for_the_mean_has_a_seventh_and_more_to_spare() -> None:
    work = scenario([float(at) for at in range(0, 3600, 2)], service_s=28.0)  # 14 slots busy on average
    assert workers_for_mean(work) == 5  # 14 / 0.7 / 4


def test_a_fixed_fleet_for_the_peak_covers_what_runs_at_once() -> None:
    work = scenario([100.0] * 41 + [2000.0] * 7, service_s=60.0)
    assert workers_for_peak(work) == 11  # 41 slots, for 60 s of the hour
    assert workers_for_peak(work, quantile=0.5) == 1
    assert FixedFleet(11).desired(seen(0, 3), Present()) == 11


def test_the_plain_formula_is_the_core_at_a_fixed_utilization() -> None:
    peer = plain_formula(0.7)
    peer.reset(replace(scenario(), service_time_hint_s=2.8), random.Random(1))
    peer.desired(seen(0, 1, visible=100), Present())
    assert peer.last is not None
    size = next(step for step in peer.last.steps if step.name == "size")
    assert size.values["utilization"] == 0.7
    assert size.values["drain_s"] == 60
    assert size.values["slots"] == pytest.approx(100 / 60 * 2.8 / 0.7, abs=0.01)
