"""What is usual of a dependency, and when it is worse than that."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tidegate.core.downstream.dependencies import NAMES_AT_MOST, accept_as_usual, learn_dependencies, signs_of
from tidegate.core.downstream.state import DependencyMemory, Sign
from tidegate.core.reports import DependencyFigures

WELL = DependencyFigures(calls=100, time_sum_s=20.0)
Known = Mapping[str, DependencyMemory]


def learned(known: Known, figures: DependencyFigures, ticks: int, elapsed_s: float = 10.0) -> Known:
    for _ in range(ticks):
        known = learn_dependencies(known, {"pay": figures}, elapsed_s)
    return known


@pytest.mark.parametrize(
    ("figures", "sign"),
    [
        (WELL, None),
        (replace(WELL, errors=4), None),
        (replace(WELL, errors=10), Sign.FAILING),
        (replace(WELL, timeouts=10), Sign.FAILING),
        (replace(WELL, throttled=10), Sign.FAILING),
        (replace(WELL, time_sum_s=38.0), None),
        (replace(WELL, time_sum_s=60.0), Sign.SLOW),
    ],
)
def test_a_dependency_is_sick_when_it_fails_more_or_is_twice_as_slow_as_usual(
    figures: DependencyFigures, sign: Sign | None
) -> None:
    known = learned(learned({}, WELL, 30), figures, 12)
    assert [kind for kind, _ in signs_of(known)] == ([] if sign is None else [sign])


def test_it_is_well_again_only_when_it_is_clearly_so() -> None:
    sick = learned(learned({}, WELL, 30), replace(WELL, errors=10, time_sum_s=60.0), 12)
    half = learned(sick, replace(WELL, errors=4, time_sum_s=34.0), 30)
    assert (half["pay"].failing, half["pay"].slow) == (True, True)
    well = learned(sick, WELL, 30)
    assert (well["pay"].failing, well["pay"].slow) == (False, False)


def test_a_few_calls_say_nothing_and_silence_ends_a_sign() -> None:
    few = learned({}, DependencyFigures(calls=1, errors=1, time_sum_s=1.0), 5)
    assert few["pay"].usual_s is None
    sick = learned(learned({}, WELL, 30), replace(WELL, errors=50), 12)
    fading = learned(sick, DependencyFigures(), 20)
    assert fading["pay"].failing
    silent = learned(sick, DependencyFigures(), 60)
    assert not silent["pay"].failing


def test_what_is_usual_follows_better_times_in_minutes_and_worse_ones_in_hours() -> None:
    usual = learned({}, WELL, 1)
    assert learned(usual, replace(WELL, time_sum_s=10.0), 90)["pay"].usual_s == pytest.approx(0.1, rel=0.15)
    worse = replace(WELL, time_sum_s=100.0, errors=20)
    soon, late = learned(usual, worse, 60), learned(usual, worse, 3 * 360)
    assert soon["pay"].usual_s == pytest.approx(0.22, rel=0.05)
    assert late["pay"].usual_s == pytest.approx(1.0, rel=0.05)
    assert (soon["pay"].failing, late["pay"].failing) == (True, False)
    assert learned(late, WELL, 60)["pay"].usual_bad < 0.05


def test_while_a_hold_stands_slower_calls_never_become_usual_and_quicker_ones_do() -> None:
    usual = learned({}, WELL, 1)
    slow = usual
    for _ in range(3 * 360):
        slow = learn_dependencies(slow, {"pay": replace(WELL, time_sum_s=100.0)}, 10.0, held=True)
    assert slow["pay"].usual_s == usual["pay"].usual_s
    assert slow["pay"].slow
    for _ in range(90):
        slow = learn_dependencies(slow, {"pay": replace(WELL, time_sum_s=10.0)}, 10.0, held=True)
    assert slow["pay"].usual_s == pytest.approx(0.1, rel=0.15)


def test_a_dependency_that_fails_from_the_start_is_not_usual() -> None:
    assert learned({}, replace(WELL, errors=50), 1)["pay"].failing


def test_calls_that_take_no_time_are_never_slow() -> None:
    assert not learned({}, DependencyFigures(calls=100), 5)["pay"].slow
    assert (DependencyMemory().mean_s, DependencyMemory().bad_share) == (0.0, 0.0)


def test_names_are_bounded_and_the_most_called_are_kept() -> None:
    calls = {f"d{n}": DependencyFigures(calls=100 + n) for n in range(NAMES_AT_MOST + 4)}
    assert list(learn_dependencies({}, calls, 10.0)) == [f"d{n}" for n in range(4, NAMES_AT_MOST + 4)]


def test_slow_calls_are_accepted_as_usual_and_others_left_alone() -> None:
    sick = learned(learned({}, WELL, 30), replace(WELL, time_sum_s=60.0), 12)
    accepted = accept_as_usual({**sick, "other": DependencyMemory(usual_s=0.5)})
    assert accepted["pay"].usual_s == pytest.approx(sick["pay"].mean_s)
    assert accepted["other"].usual_s == 0.5
