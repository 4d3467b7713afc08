"""What holds of `decide` in a world that its authors did not make: laws, not figures."""

from dataclasses import replace
from functools import cache

import pytest

from tests.outside.companies import scenarios as companies
from tests.outside.judge import LATE_SHARE, keda, ours, sight
from tests.outside.result import Result
from tests.outside.rivals import Little
from tests.outside.scenario import Scenario
from tests.outside.troubles import STEPS
from tests.outside.troubles import scenarios as troubles
from tests.outside.world import World

TROUBLED = (
    "prompt",
    "ticks of 30 s",
    "no reports, hints",
    "half report",
    "age counts in flight",
    "30 % of starts fail",
    "three deploys",
    "half of the sets refused",
    "fifo, 200 groups",
    "picked at random T=600",
)


def named(name: str) -> Scenario:
    return next(one for one in (*companies(), *troubles()) if one.name == name)


@cache
def seen() -> Result:
    return ours(STEPS)


def test_perfect_sight_of_the_present_is_on_time() -> None:
    assert sight(STEPS).late_share <= LATE_SHARE


@pytest.mark.parametrize("name", TROUBLED)
def test_nobody_is_late_where_perfect_sight_is_not(name: str) -> None:
    assert ours(named(name)).late_share <= LATE_SHARE


def test_it_is_no_dearer_than_keda_tuned_by_hindsight() -> None:
    theirs = keda(STEPS)
    assert theirs.late_share <= LATE_SHARE
    assert seen().cost <= theirs.cost


def test_it_is_no_dearer_than_the_plain_formula_that_is_told_the_truth() -> None:
    theirs = World(STEPS, Little()).run()
    assert theirs.late_share <= LATE_SHARE
    assert seen().cost <= theirs.cost


@pytest.mark.parametrize("name", ["three deploys", "half report", "spot, each lost within the hour"])
def test_workers_with_the_sdk_are_never_interrupted_by_scale_in_or_a_deploy(name: str) -> None:
    made = named(name)
    result = ours(made)
    assert result.interrupted == 0
    assert result.changes >= 2


def test_at_constant_load_the_count_hardly_moves() -> None:
    result = ours(named("calm"))
    assert result.turns <= 4


def test_a_pool_of_none_goes_back_to_none() -> None:
    woken = named("from zero to 15 slots and back")
    assert sight(woken).late_share <= LATE_SHARE
    assert ours(woken).late_share <= LATE_SHARE
    asleep = ours(replace(named("one an hour from none"), tick_s=30.0))
    assert asleep.mean < 0.25
    assert asleep.late_share <= 0.05


def test_a_count_that_takes_effect_late_costs_little() -> None:
    late = ours(named("counts take effect 25 s late"))
    assert late.late_share <= 2 * LATE_SHARE
    assert late.cost <= 1.2 * seen().cost


def test_no_more_than_the_maximum_and_no_less_than_a_schedule_asks_for() -> None:
    capped = ours(named("maximum reached"))
    assert capped.most <= 10
    dear = ours(named("a schedule"))
    assert dear.most >= 20
