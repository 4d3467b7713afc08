"""Job classes: the service time is that of the mix that arrives, and a class that crowds out another is named."""

from dataclasses import replace

import pytest

from tests.core.observations import NOW_S, POOL, observe, queue, worker
from tidegate.core.decide import decide
from tidegate.core.decision import Decision
from tidegate.core.estimation.classes import class_mean_s, hinted, learn_classes, mixed
from tidegate.core.estimation.estimate import Estimate
from tidegate.core.explain.health import crowding
from tidegate.core.memory import ClassMemory
from tidegate.core.model import Pool, PoolState
from tidegate.core.reports import OTHER_CLASS, UNCLASSED, ClassFigures, WorkerReport
from tidegate.core.signals.fleet import sum_fleet

AUTO = replace(POOL, policy="littles-law", utilization=None, service_time_hint_s=None)
HINTED = replace(AUTO, class_hints_s={"export": 600.0, "mail": 0.5})
OVERALL = (Estimate(0.5, "workers"), 1.0)


def report(starts: int, completions: int, sum_s: float, classes: dict[str, ClassFigures], at_s: float) -> WorkerReport:
    base = worker("w1", busy=4, at_s=at_s)
    figures = replace(
        base.recent,
        starts=starts,
        completions=completions,
        service_time_sum_s=sum_s,
        service_time_square_sum_s2=sum_s,
        classes=classes,
    )
    return replace(base, recent=figures, total=figures)


def estimated(decision: Decision, name: str) -> object:
    return next(step for step in decision.steps if step.name == "estimate").values[name]


def test_long_jobs_that_begin_to_arrive_raise_the_mean_before_the_first_of_them_ends() -> None:
    mail = ClassFigures(starts=90, completions=90, service_time_sum_s=45.0, service_time_square_sum_s2=22.5)
    only = report(90, 90, 45.0, {"mail": mail}, NOW_S)
    decision, state = decide(HINTED, PoolState(), observe(queue(0), workers=(only,)))
    assert estimated(decision, "service_time_s") == pytest.approx(0.5)
    both = {"mail": mail, "export": ClassFigures(starts=10)}
    second = replace(only, reported_at_s=NOW_S + 10, recent=replace(only.recent, starts=100, classes=both))
    second = replace(second, total=replace(second.recent, starts=190, completions=180))
    decision, _ = decide(HINTED, state, observe(queue(0, at_s=NOW_S + 10), workers=(second,), at_s=NOW_S + 10))
    # ten of some 190 starts are exports of ten minutes
    assert 25 < float(str(estimated(decision, "service_time_s"))) < 35
    assert estimated(decision, "service_time_from") == "workers, by class"


def test_before_anything_is_measured_the_classes_hints_stand_for_each_alike() -> None:
    assert hinted(HINTED) == (Estimate(300.25, "hint"), 1.0)
    assert hinted(AUTO) is None
    decision, _ = decide(HINTED, PoolState(), observe(queue(5)))
    assert estimated(decision, "service_time_s") == 300.25


@pytest.mark.parametrize(
    ("pool", "name", "memory", "mean_s"),
    [
        (HINTED, "mail", ClassMemory(), 0.5),
        (HINTED, "mail", ClassMemory(runs=5.0, sum_s=7.5), 1.0),
        (HINTED, "mail", ClassMemory(runs=50.0, sum_s=75.0), 1.5),
        (AUTO, "mail", ClassMemory(runs=5.0, sum_s=7.5), 1.5),
        (AUTO, "mail", ClassMemory(), 0.7),
    ],
    ids=["hint", "both", "measured", "no hint", "nothing known: as all"],
)
def test_a_classes_mean_is_its_hint_until_it_is_measured(
    pool: Pool, name: str, memory: ClassMemory, mean_s: float
) -> None:
    assert class_mean_s(pool, name, memory, overall_s=0.7) == pytest.approx(mean_s)


def test_the_mix_has_a_wider_spread_than_its_parts() -> None:
    classes = {
        "mail": ClassMemory(starts=90.0, runs=90.0, sum_s=90.0, square_sum_s2=90.0),
        "export": ClassMemory(starts=10.0, runs=10.0, sum_s=910.0, square_sum_s2=82_810.0),
    }
    mean, variation = mixed(AUTO, classes, OVERALL)
    assert mean.value == pytest.approx(10.0)
    # (0.9 × 1 + 0.1 × 8281) ÷ 10² − 1
    assert variation == pytest.approx(7.29)
    assert mixed(AUTO, {}, OVERALL) == OVERALL
    assert mixed(AUTO, {"mail": ClassMemory(starts=1.0, runs=9.0)}, OVERALL)[1] == 1.0


def test_what_carries_no_class_is_one_of_its_own_and_classes_beyond_the_bound_are_one() -> None:
    classes = {f"c{n}": ClassFigures(starts=1, completions=1, service_time_sum_s=1.0) for n in range(12)}
    seen = observe(workers=(report(20, 16, 20.0, classes, NOW_S),))
    fleet = sum_fleet(PoolState(), seen.fleet, NOW_S, 30.0)
    assert fleet is not None
    assert fleet.classes[UNCLASSED].starts == 8
    assert fleet.classes[UNCLASSED].completions == 4
    assert fleet.classes[UNCLASSED].service_time_sum_s == pytest.approx(8.0)
    learned = learn_classes({}, fleet, 10.0)
    assert len(learned) == 9
    assert OTHER_CLASS in learned
    assert sum(memory.starts for memory in learned.values()) == 20
    assert learn_classes(learned, None, 10.0) is learned


def test_starts_fade_only_while_there_are_newer_ones() -> None:
    ended = report(0, 1, 1.0, {"mail": ClassFigures(completions=1)}, NOW_S)
    fleet = sum_fleet(PoolState(), observe(workers=(ended,)).fleet, NOW_S, 30)
    known = {"mail": ClassMemory(starts=10.0, runs=4.0, sum_s=4.0)}
    learned = learn_classes(known, fleet, 300.0)
    assert learned["mail"].starts == 10.0
    assert learned["mail"].runs == pytest.approx(4.0 / 2.71828 + 1, rel=1e-3)


MIX = {
    "mail": ClassMemory(starts=90.0, runs=90.0, sum_s=45.0),
    "export": ClassMemory(starts=10.0, runs=10.0, sum_s=6000.0),
    UNCLASSED: ClassMemory(),
}


@pytest.mark.parametrize(
    ("classes", "rate_per_s", "slots", "said"),
    [
        (MIX, 0.1, 12, "class export can fill this pool for 600 s, longer than class mail may wait (30 s)"),
        (MIX, 0.1, 100, ""),
        (MIX, 0.001, 12, ""),
        ({"export": MIX["export"]}, 0.1, 12, ""),
        ({"mail": MIX["mail"]}, 100.0, 12, ""),
        ({}, 1.0, 12, ""),
        (MIX, 1.0, 0, ""),
    ],
    ids=["crowds", "slots enough", "hardly ever there", "alone", "short jobs only", "no classes", "no slots"],
)
def test_a_class_that_can_fill_the_pool_for_longer_than_another_may_wait_is_named(
    classes: dict[str, ClassMemory], rate_per_s: float, slots: int, said: str
) -> None:
    named = crowding(AUTO, classes, rate_per_s, slots, overall_s=1.0)
    assert named.removesuffix(": split it into a pool of its own") == said


def test_a_decision_advises_to_split_such_a_pool() -> None:
    figures = {"mail": ClassFigures(900, 900, 0, 450.0, 225.0), "export": ClassFigures(100, 10, 0, 6000.0, 3.6e6)}
    seen = observe(queue(50), workers=(report(1000, 910, 6450.0, figures, NOW_S),))
    decision, _ = decide(AUTO, PoolState(), seen)
    assert not decision.health.advice
    state = decide(AUTO, PoolState(ticked_at_s=NOW_S - 10), observe(queue(50, at_s=NOW_S - 10), at_s=NOW_S - 10))[1]
    decision, _ = decide(AUTO, state, seen)
    assert "class export can fill this pool" in decision.health.advice[-1]
