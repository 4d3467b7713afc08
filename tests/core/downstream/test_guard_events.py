"""The guard in closed loop, job by job: jobs that change are no sick dependency, and one that drowns is left alone."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.core.event_plant import EventPlant, exponential
from tests.core.plant import POOL
from tidegate.core.decision import Decision, Reason

WAIT = replace(POOL, policy="wait", target_wait_s=120, utilization=None, drain_target_s=None, hold_s=None)
WAIT = replace(WAIT, service_time_hint_s=None)
Jobs = Callable[[random.Random], float]


def held(decisions: list[Decision]) -> int:
    return sum(decision.reason is Reason.DOWNSTREAM for decision in decisions)


def about(mean_s: float) -> Jobs:
    return lambda rng: mean_s * rng.uniform(0.9, 1.1)


def test_in_slots_that_all_begin_at_once_short_jobs_end_first() -> None:
    plant = EventPlant(exponential(60.0), rate_per_s=20.0, workers_at_first=25)
    plant.pool = replace(POOL, min_workers=25, max_workers=25)
    begun_s = plant.now_s
    plant.run(30)
    assert plant.mean_ended_s(begun_s) < 0.4 * 60.0
    plant.run(600)
    assert plant.mean_ended_s(plant.now_s - 300.0) == pytest.approx(60.0, rel=0.1)


@pytest.mark.parametrize("jobs", [exponential, about], ids=["of all lengths", "about as long"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jobs_that_become_longer_for_good_are_no_sick_dependency(jobs: Callable[[float], Jobs], seed: int) -> None:
    plant = EventPlant(jobs(4.0), rate_per_s=8.0, seed=seed, pool=WAIT)
    plant.run(1800)
    plant.job_s = jobs(10.0)
    assert held(plant.run(1200)) == 0
    assert plant.desired >= 20


@pytest.mark.parametrize("seed", [1, 2])
def test_a_dependency_that_drowns_is_found_in_minutes_though_jobs_are_of_all_lengths(seed: int) -> None:
    plant = EventPlant(exponential(4.0), rate_per_s=5.0, seed=seed, pool=WAIT, limit_slots=30.0, dependency="payments")
    plant.run(1800)
    plant.rate_per_s = 10.0
    plant.run(900)
    drowning = plant.run(1800)
    assert held(drowning) > 100
    assert max(decision.desired for decision in drowning) <= 11
