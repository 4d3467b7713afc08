import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import pytest

from tests.lab.sights import Present, scenario, seen
from tidegate.core.observation import Observation
from tidegate.core.reports import WorkFigures
from tidegate.lab.peers.fixed import FixedFleet
from tidegate.lab.peers.plain_formula import plain_formula
from tidegate.lab.policy import Tidegate, Truth
from tidegate.lab.simulator import simulate
from tidegate.lab.stress import (
    STRESS_RUNS,
    STRESSES,
    Misled,
    Overseen,
    Strained,
    base_scenario,
    run_stress,
    run_stresses,
    strained,
)


def stress(name: str) -> int:
    return [each.name for each in STRESSES].index(name)


def test_a_misled_policy_sees_scaled_counts_and_service_times() -> None:
    told = Misled(Tidegate(), service_time=0.7, counts=0.6)
    told.reset(replace(scenario(), service_time_hint_s=None), random.Random(1))
    looked = seen(10, 1, visible=100, in_flight=10)
    worked = WorkFigures(10.0, completions=100, service_time_sum_s=300.0, service_time_square_sum_s2=1000.0)
    looked = replace(looked, fleet=replace(looked.fleet, workers=(replace(looked.fleet.workers[0], recent=worked),)))
    told.desired(looked, Present())
    last = told.policy.last  # type: ignore[attr-defined]  # the policy is Tidegate, which keeps its decision
    values = {name: value for step in last.steps for name, value in step.values.items()}
    assert values["waiting"] == 60
    assert values["service_time_s"] == pytest.approx(2.1)


def test_each_change_changes_what_it_says() -> None:
    base = scenario([float(at) for at in range(1, 3600)], service_s=4.0)
    doubled = STRESSES[stress("service time doubles half-way")].change(base)
    assert doubled.service_s[0] == 4.0
    assert doubled.service_s[-1] == 8.0
    uneven = STRESSES[stress("service times very uneven (CV² 4)")].change(base)
    assert uneven.service_s.mean() == pytest.approx(4.0, rel=0.15)
    assert uneven.service_s.var() / uneven.service_s.mean() ** 2 == pytest.approx(4.0, rel=0.6)
    assert STRESSES[stress("three starts in ten fail")].change(base).failed_start_share == 0.3


def test_rows_are_the_same_each_time_and_agree_with_the_run() -> None:
    first, again = next(run_stresses(hours=1.2, seed=3)), next(run_stresses(hours=1.2, seed=3))
    assert first == again
    assert first.stress == "nothing goes wrong"
    assert 0 <= first.late_share_settled <= 1
    assert first.cost > 1


def test_a_run_by_its_number_is_the_row_of_that_place() -> None:
    _, second = islice(run_stresses(hours=1.02, seed=3), 2)
    assert run_stress(1, hours=1.02, seed=3) == second
    assert (second.stress, second.policy) == (STRESSES[0].name, plain_formula().name)


def test_messages_that_were_never_started_count_as_late() -> None:
    work = scenario([1.0, 4000.0], service_s=1.0, length_s=4100.0)
    row = strained("nobody there", work, simulate(work, FixedFleet(0), 0))
    assert row.late_share_settled == 1.0
    assert row.peak_workers == 0


def test_ours_adds_single_tries_to_a_dependency_over_its_limit_and_ends_a_collapse_that_others_make() -> None:
    number = 3 * stress("dependency slows down above 1.5 × the load")
    ours, plain = (run_stress(number + n, hours=1.5, seed=2) for n in (0, 1))
    assert ours.added_into_strain is not None
    assert ours.added_into_strain <= 4
    assert ours.cost < plain.cost / 4
    assert ours.late_share < plain.late_share - 0.2


def test_a_dependency_that_more_workers_still_help_is_not_taken_for_one_that_drowns() -> None:
    number = 3 * stress("dependency slows down above half the load, but more workers still help")
    ours = run_stress(number, hours=1.5, seed=2)
    unguarded = _unguarded(number, hours=1.5, seed=2)
    assert ours.added_into_strain is None
    assert ours.late_share <= 2 * unguarded.late_share, "a hold until it is known; in the mean of many runs far less"


def _unguarded(number: int, hours: float, seed: int) -> Strained:
    work = STRESSES[number // 3].change(base_scenario(hours, seed))
    return strained("unguarded", work, simulate(work, Tidegate(downstream_guard=False), seed))


def test_workers_added_count_only_after_a_minute_over_the_limit() -> None:
    overseen = Overseen(FixedFleet(0), limit_slots=1.0)
    overseen.reset(scenario(), random.Random(1))
    asked = iter([2, 4, 5, 7, 9])
    overseen.policy = Scripted(asked)
    for now_s, busy in ((0.0, 1), (10.0, 2), (70.0, 2), (80.0, 2), (90.0, 1)):
        overseen.desired(seen(now_s, 1), Present(now_s=now_s, free_in_s=[5.0] * busy))
    assert overseen.added == 2


class Scripted(FixedFleet):
    def __init__(self, asked: Iterator[int]) -> None:
        super().__init__(0)
        self.asked = asked

    def desired(self, seen: Observation, truth: Truth) -> int:
        return next(self.asked)


@pytest.mark.parametrize(("row", "workers"), [(0, 1), (1, 5)])
def test_constant_load_changes_the_count_at_most_twice_an_hour(row: int, workers: int) -> None:
    steady = run_stress(STRESS_RUNS - 4 + row, hours=3.0)
    assert steady.stress == f"constant load, about {workers} workers"
    assert steady.changes_per_hour_settled <= 2
    assert steady.late_share <= 0.01
