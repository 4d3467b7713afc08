"""Tuning by hindsight, on fleets whose cost and lateness are plain."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from tests.lab.sights import scenario
from tidegate.core.observation import Observation
from tidegate.lab.policy import Policy, Truth
from tidegate.lab.rivals import Make, Rival
from tidegate.lab.scenario import Scenario
from tidegate.lab.tune import LATE_ALLOWED, Miss, Score, attempt, score, tune


class Fleet:
    """So many workers; remembers being asked for."""

    tick_s = 60.0
    reads_fleet = False

    def __init__(self, workers: int) -> None:
        self.workers, self.name = workers, f"fleet of {workers}"

    def reset(self, scenario: Scenario, rng: random.Random) -> None:
        """Nothing to forget."""

    def desired(self, seen: Observation, truth: Truth) -> int:
        return self.workers


def steady(seed: int = 1) -> Scenario:
    """Ten slots' worth of work for an hour, from a fleet of four workers of four."""
    arrivals_s = np.sort(np.random.default_rng(seed).uniform(0, 3600, 1800))
    return scenario(arrivals_s.tolist(), service_s=20.0, target_s=30.0, initial=4)


def fleets(ladder: Sequence[float], asked: list[int] | None = None) -> Rival:
    def make(knob: float) -> Make:
        def built(_: Scenario) -> Policy:
            if asked is not None:
                asked.append(round(knob))
            return Fleet(round(knob))

        return built

    return Rival("fleet", "a fleet", "workers", make(4.0), ladder, make)


def test_the_cheapest_rung_that_is_on_time_is_found() -> None:
    windows = [steady(1), steady(2)]
    late = {workers: score(fleets(()).make(workers), windows).late_share for workers in range(1, 9)}
    least = min(workers for workers, share in late.items() if share <= LATE_ALLOWED)
    found = tune(fleets([float(workers) for workers in range(1, 9)]), windows)
    assert 1 < least < 8
    assert found is not None
    assert found.policy == f"fleet of {least}"
    assert found.met


def test_between_two_rungs_it_looks_closer() -> None:
    found = tune(fleets([1.0, 12.0]), [steady()])
    assert found is not None
    assert found.knob == pytest.approx(12**0.5, rel=0.01)  # √(1 × 12) holds, √(1 × 3.46) does not


def test_no_rung_that_holds_is_no_answer_though_all_were_tried() -> None:
    asked: list[int] = []
    assert tune(fleets([1.0, 2.0, 1.0001, 2.0001], asked), [steady()]) is None
    assert len(asked) == 4


def test_where_lateness_does_not_fall_from_rung_to_rung_every_rung_is_tried() -> None:
    found = tune(fleets([1.0, 5.0, 1.1, 1.2, 1.3]), [steady()])
    assert found is not None
    assert found.policy == "fleet of 5"


def test_no_knob_value_is_simulated_twice() -> None:
    asked: list[int] = []
    tune(fleets([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], asked), [steady()])
    assert len(asked) == len(set(asked)) + 2  # the two looks between 2 and 3 round to fleets that were tried


def test_a_run_that_can_not_be_on_time_any_more_is_given_up() -> None:
    asked: list[int] = []
    windows = [steady(seed) for seed in range(5)]
    assert attempt(fleets((), asked).make(1.0), windows, 1.0, LATE_ALLOWED, 100.0) is Miss.LATE
    assert len(asked) == 1


def test_a_run_that_costs_too_much_is_given_up() -> None:
    assert attempt(fleets(()).make(40.0), [steady()], 40.0, LATE_ALLOWED, 5.0) is Miss.DEAR
    assert isinstance(attempt(fleets(()).make(6.0), [steady()], 6.0, LATE_ALLOWED, 5.0), Score)


def test_a_given_up_run_is_late_by_the_full_count_too() -> None:
    full = score(fleets(()).make(3.0), [steady()])
    just_enough, too_few = full.late_share + 1e-9, full.late_share - 2 / 1800
    assert full.late_share > 0
    assert isinstance(attempt(fleets(()).make(3.0), [steady()], 3.0, just_enough, 100.0), Score)
    assert attempt(fleets(()).make(3.0), [steady()], 3.0, too_few, 100.0) is Miss.LATE


def test_a_score_pools_its_windows() -> None:
    one, two = steady(1), steady(2)
    both = score(fleets(()).make(3.0), [one, two])
    first = score(fleets(()).make(3.0), [one])
    assert both.wait_max_s >= first.wait_max_s
    assert both.cost == pytest.approx(3 * both_hours(both) / (2 * 1800 * 20.0 / 4 / 3600), rel=0.02)


def both_hours(pooled: Score) -> float:
    """The hours that three workers were paid for."""
    return pooled.worker_hours / 3
