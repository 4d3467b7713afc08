"""What holds of `decide` in a world that its authors did not make: laws, not figures."""

from dataclasses import replace
from functools import cache

import pytest

from tests.outside.companies import scenarios as companies
from tests.outside.judge import LATE_SHARE, Verdict, judge, ours, sight
from tests.outside.scenario import Scenario
from tests.outside.traffic import exponential, poisson, steps
from tests.outside.troubles import STEPS
from tests.outside.troubles import scenarios as troubles

SHORT = replace(STEPS, traffic=poisson(steps((0, 5), (900, 20), (2400, 5)), 3600, exponential(3)), hours=1.0)
"""An hour of the troubles' traffic."""

TROUBLED = (
    "prompt",
    "ticks of 30 s",
    "no reports, hints",
    "half report",
    "age counts in flight",
    "30 % of starts fail",
    "three deploys",
    "half of the sets refused",
)


def named(name: str) -> Scenario:
    found = next(one for one in (*companies(), *troubles()) if one.name == name)
    return replace(found, traffic=SHORT.traffic, hours=SHORT.hours) if found.name in TROUBLED else found


@cache
def judged() -> Verdict:
    return judge(SHORT)


@cache
def seen() -> float:
    return sight(SHORT).late_share


@pytest.mark.parametrize("name", TROUBLED)
def test_nobody_is_late_where_perfect_sight_is_not(name: str) -> None:
    assert seen() <= LATE_SHARE
    assert ours(named(name)).late_share <= LATE_SHARE


def test_it_is_no_dearer_than_keda_tuned_by_hindsight_or_the_plain_formula() -> None:
    verdict = judged()
    assert verdict.blameless
    for rival in (verdict.keda, verdict.little):
        ratio = verdict.ratio(rival)
        assert ratio is not None
        assert ratio <= 1.0


@pytest.mark.parametrize("name", ["three deploys", "half report", "spot, each lost within the hour"])
def test_workers_with_the_sdk_are_never_interrupted_by_scale_in_or_a_deploy(name: str) -> None:
    made = replace(named(name), traffic=SHORT.traffic, hours=1.0)
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
    late = ours(replace(named("counts take effect 25 s late"), traffic=SHORT.traffic, hours=1.0))
    assert late.late_share <= 2 * LATE_SHARE
    assert late.cost <= 1.2 * ours(SHORT).cost


def test_no_more_than_the_maximum_and_no_less_than_a_schedule_asks_for() -> None:
    capped = ours(replace(named("maximum reached"), traffic=SHORT.traffic, hours=1.0))
    assert capped.most <= 10
    dear = ours(replace(named("a schedule"), traffic=SHORT.traffic, hours=1.0))
    assert dear.most >= 20
