"""The formulas, against known values and as laws."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.sizing.erlang import erlang_c, late_share, littles_law_slots, slots_for_target, workers_for


@pytest.mark.parametrize(
    ("load", "at_once", "one_service_time", "three_service_times"),
    [(2, 0.29, 0.40, 0.50), (10, 0.53, 0.71, 0.83), (50, 0.74, 0.93, 0.96), (200, 0.85, 0.98, 0.99)],
)
def test_small_loads_bear_little_utilization_and_large_ones_much(
    load: float, at_once: float, one_service_time: float, three_service_times: float
) -> None:
    found = [load / slots_for_target(load, target_s, 1.0, 1.0, 0.01, most=1000) for target_s in (0.0, 1.0, 3.0)]
    assert found == pytest.approx([at_once, one_service_time, three_service_times], abs=0.006)


def test_erlang_c_is_the_utilization_of_a_single_slot() -> None:
    assert erlang_c(0.7, 1) == pytest.approx(0.7)


@given(st.floats(0, 500), st.floats(0, 1e5), st.floats(0.001, 100), st.floats(1, 3600), st.floats(0.05, 1))
def test_more_of_anything_never_needs_fewer_slots(
    rate: float, backlog: float, service_s: float, drain_s: float, utilization: float
) -> None:
    slots = littles_law_slots(rate, backlog, drain_s, service_s, utilization)
    assert slots <= littles_law_slots(rate + 1, backlog, drain_s, service_s, utilization)
    assert slots <= littles_law_slots(rate, backlog + 1, drain_s, service_s, utilization)
    assert slots <= littles_law_slots(rate, backlog, drain_s, service_s * 1.1, utilization)


@given(st.floats(0.01, 300), st.floats(0, 60), st.floats(0.01, 30), st.floats(0, 4))
def test_automatic_slots_are_enough_and_one_fewer_is_not(
    load: float, target_s: float, service_s: float, variation: float
) -> None:
    slots = slots_for_target(load, target_s, service_s, variation, 0.005, most=10_000)
    assert slots > load
    assert late_share(load, slots, target_s, service_s, variation) <= 0.005
    if slots - 1 > load:
        assert late_share(load, slots - 1, target_s, service_s, variation) > 0.005


@pytest.mark.parametrize(("load", "found"), [(0.0, 0), (-1.0, 0), (50.5, 51), (5e6, 5_000_000), (19.9, 21), (10.0, 14)])
def test_beyond_what_may_be_had_it_does_not_look(load: float, found: int) -> None:
    assert slots_for_target(load, 1.0, 1.0, 1.0, 0.01, most=20) == found


@given(st.floats(0, 1e6), st.integers(1, 100))
def test_whole_workers_hold_the_slots_and_not_one_worker_more(slots: float, per_worker: int) -> None:
    workers = workers_for(slots, per_worker)
    assert workers * per_worker >= slots * (1 - 1e-8) - 1e-6
    assert (workers - 1) * per_worker < slots or workers == 0
    assert workers == math.ceil(round(slots / per_worker, 9))
