"""The guard's parts: what is usual of a dependency, what a step bought, and when the cap is set and lifted."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tidegate.core.dependencies import NAMES_AT_MOST, accept_as_usual, learn_dependencies, signs_of
from tidegate.core.downstream_hold import FORGOTTEN_S, LONGEST_WAIT_S, Situation, next_hold
from tidegate.core.downstream_state import DependencyMemory, GuardMemory, Hold, Level, Sign
from tidegate.core.fleet import FleetSignals
from tidegate.core.reports import DependencyFigures
from tidegate.core.step_effect import Effect, compare, cost_completions, followed, in_doubt, mean_run_s

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


def level(workers: int, rate: float, mean_s: float, open_slots: int | None = None, span_s: float = 60.0) -> Level:
    """All slots of four a worker busy, unless `open_slots` says that there are more."""
    runs = rate * span_s
    slots = float(4 * workers if open_slots is None else open_slots)
    return Level(
        workers, 0.0, span_s, 4 * workers * span_s, slots * span_s, runs, runs, runs * mean_s, runs * mean_s**2 * 1.5
    )


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (level(8, 8.0, 4.0), level(16, 8.0, 8.0), Effect.NO_GAIN),
        (level(8, 8.0, 4.0), level(16, 6.0, 11.0), Effect.NO_GAIN),
        (level(8, 8.0, 4.0), level(16, 16.0, 4.0), Effect.GAIN),
        (level(8, 8.0, 4.0), level(16, 12.5, 5.2), Effect.GAIN),
        (level(8, 8.0, 4.0), level(16, 10.5, 6.1), Effect.UNKNOWN),
        (level(8, 8.0, 4.0), level(16, 8.1, 4.0), Effect.GAIN),
        (level(8, 8.0, 4.0), level(8, 4.0, 8.0), Effect.UNKNOWN),
        (level(8, 8.0, 4.0), level(16, 0.2, 80.0), Effect.UNKNOWN),
        (level(8, 8.0, 4.0), level(16, 8.0, 8.0, span_s=20.0), Effect.UNKNOWN),
        (level(8, 0.2, 4.0), level(16, 8.0, 8.0), Effect.UNKNOWN),
        (None, level(16, 8.0, 8.0), Effect.UNKNOWN),
        (replace(level(8, 8.0, 4.0), completions=0.0), level(16, 8.0, 8.0), Effect.NO_GAIN),
    ],
)
def test_a_step_bought_nothing_only_when_handlers_are_slower_and_complete_no_more(
    before: Level | None, after: Level, effect: Effect
) -> None:
    assert compare(before, after) is effect


@pytest.mark.parametrize(
    ("after_the_step_back", "wrong"),
    [
        (level(8, 4.0, 8.0), True),
        (level(8, 8.0, 4.0), False),
        (level(8, 4.0, 8.0, open_slots=64), False),
        (level(8, 0.1, 8.0), None),
        (level(15, 7.5, 8.0), None),
    ],
)
def test_a_step_back_was_wrong_when_all_slots_are_busy_and_less_is_done_at_the_same_pace(
    after_the_step_back: Level, wrong: bool | None
) -> None:
    assert cost_completions(after_the_step_back, level(16, 8.0, 8.0)) is wrong


def fleet(workers: int, completions: int = 40) -> FleetSignals:
    return FleetSignals(
        workers,
        4 * workers,
        4 * workers,
        workers,
        10.0,
        completions,
        completions,
        completions,
        80.0,
        200.0,
        None,
        taking=workers,
    )


def test_a_level_without_runs_has_no_mean() -> None:
    assert mean_run_s(Level(1, 0.0)) == 0.0


def test_levels_follow_the_workers_that_take_work() -> None:
    memory = GuardMemory()
    for n in range(6):
        memory = followed(memory, fleet(8), 10.0 * n, 10.0, 2.0)
    assert memory.level is not None
    assert memory.before is None
    rise = followed(memory, fleet(12), 60.0, 10.0, 2.0)
    assert (rise.before, rise.level) == (memory.level, Level(12, 60.0))
    more = followed(rise, fleet(16), 70.0, 10.0, 2.0)
    assert (more.before, more.level) == (memory.level, Level(16, 60.0)), "it belongs to the same step, still settling"
    settled = followed(more, fleet(16), 80.0, 10.0, 2.0)
    assert settled.level is not None
    assert settled.level.completions == 40
    fallen = followed(settled, fleet(9), 90.0, 10.0, 2.0)
    assert (fallen.before, fallen.level, fallen.above) == (None, Level(9, 90.0), None)


def test_what_was_stepped_back_from_is_kept_until_the_last_long_runs_have_ended() -> None:
    sick = GuardMemory(level=level(16, 8.0, 40.0), hold=HOLD)
    back = followed(sick, fleet(8), 100.0, 10.0, 20.0)
    assert back.above == sick.level
    waiting = followed(back, fleet(8), 290.0, 10.0, 20.0)
    assert waiting.level == Level(8, 100.0)
    settled = followed(back, fleet(8), 300.0, 10.0, 20.0)
    assert settled.level != Level(8, 100.0)
    assert followed(back, fleet(9), 300.0, 10.0, 20.0).above is None


HOLD = Hold(8, 8, Sign.NO_GAIN, "why", True, 0.0, 100.0, 100.0, 0.25, 0.0)
AT = Situation(now_s=50.0, running=10, better=10, need=30, least=1, most=60, interval_s=50.0)
NO_GAIN = (Sign.NO_GAIN, "it gained nothing")
SLOW = (Sign.SLOW, "it is slow")
FAILING = (Sign.FAILING, "it fails")


def test_the_first_sign_caps_at_what_runs_or_at_what_was_better_but_never_below_the_least() -> None:
    hold = next_hold(None, SLOW, Effect.UNKNOWN, AT)
    assert hold == Hold(10, 10, Sign.SLOW, "it is slow", True, 50.0, 150.0, 100.0, 0.25, 50.0)
    assert next_hold(None, NO_GAIN, Effect.NO_GAIN, replace(AT, better=6)) == replace(
        hold, cap=6, base=6, sign=Sign.NO_GAIN, why="it gained nothing"
    )
    capped = next_hold(None, NO_GAIN, Effect.NO_GAIN, replace(AT, better=6, least=7))
    assert capped is not None
    assert capped.cap == 7


TRYING = replace(HOLD, cap=10)
UP = {"now_s": 100.0}
"""The time to wait is up."""


@pytest.mark.parametrize(
    ("hold", "sign", "effect", "at", "expected"),
    [
        (HOLD, None, Effect.UNKNOWN, {}, {"cap": 8, "sick": True}),
        (HOLD, None, Effect.UNKNOWN, UP, {"cap": 10, "base": 8, "sick": False, "next_s": 250.0}),
        (HOLD, None, Effect.UNKNOWN, {**UP, "measured": False}, {"cap": 8, "next_s": 150.0}),
    ],
    ids=["too early", "time is up", "nothing to compare a step with yet"],
)
def test_after_a_step_that_gained_nothing_another_is_tried_when_its_time_has_come(
    hold: Hold, sign: tuple[Sign, str] | None, effect: Effect, at: dict[str, float], expected: dict[str, object]
) -> None:
    assert after(hold, sign, effect, at, expected) == expected


@pytest.mark.parametrize(
    ("sign", "effect", "at", "expected"),
    [
        (None, Effect.GAIN, {}, {"cap": 15, "base": 10, "share": 0.5, "sick": False, "next_s": 200.0}),
        (NO_GAIN, Effect.NO_GAIN, {}, {"cap": 8, "sick": True, "wait_s": 200.0, "next_s": 250.0}),
        (None, Effect.UNKNOWN, {**UP, "running": 8}, {"cap": 10, "base": 8, "next_s": 150.0}),
        (None, Effect.UNKNOWN, UP, {"cap": 15, "base": 10, "share": 0.5, "next_s": 250.0}),
        (None, Effect.UNKNOWN, {**UP, "strained": True}, {"cap": 8, "sick": True, "wait_s": 200.0}),
        (SLOW, Effect.UNKNOWN, UP, {"cap": 8, "sign": Sign.SLOW, "wait_s": 200.0, "next_s": 300.0}),
        (SLOW, Effect.UNKNOWN, {**UP, "running": 8}, {"cap": 10, "sign": Sign.SLOW}),
        (FAILING, Effect.UNKNOWN, {}, {"cap": 8, "sign": Sign.FAILING, "next_s": 150.0}),
    ],
    ids=[
        "gained",
        "gained nothing",
        "not needed",
        "no harm",
        "in doubt, and slow",
        "still slow",
        "unused",
        "fails now",
    ],
)
def test_a_step_that_is_tried_goes_on_when_it_gains_and_is_taken_back_for_longer_when_not(
    sign: tuple[Sign, str] | None, effect: Effect, at: dict[str, float], expected: dict[str, object]
) -> None:
    assert after(TRYING, sign, effect, at, expected) == expected


def test_the_wait_between_tries_has_an_end() -> None:
    long = replace(HOLD, wait_s=3000.0)
    assert after(long, NO_GAIN, Effect.NO_GAIN, {}, {"wait_s": 0, "next_s": 0}) == {
        "wait_s": LONGEST_WAIT_S,
        "next_s": 50.0 + LONGEST_WAIT_S,
    }


def test_nothing_is_tried_while_calls_fail_and_recovery_starts_when_they_do_not() -> None:
    failing = replace(HOLD, sign=Sign.FAILING)
    assert after(failing, FAILING, Effect.UNKNOWN, {"now_s": 500.0}, {"cap": 0, "next_s": 0}) == {
        "cap": 8,
        "next_s": 600.0,
    }
    assert after(failing, None, Effect.UNKNOWN, {}, {"cap": 0, "sick": 0, "next_s": 0}) == {
        "cap": 8,
        "sick": False,
        "next_s": 100.0,
    }


def test_slow_calls_are_tried_after_a_while() -> None:
    assert after(HOLD, SLOW, Effect.UNKNOWN, {}, {"cap": 0, "sign": 0}) == {"cap": 8, "sign": Sign.SLOW}
    assert after(HOLD, SLOW, Effect.UNKNOWN, UP, {"cap": 0, "next_s": 0}) == {"cap": 10, "next_s": 250.0}


def test_a_relapse_goes_back_to_the_last_good_count_and_waits_longer() -> None:
    recovering = replace(HOLD, sick=False, cap=20, base=14)
    relapsed = after(
        recovering, FAILING, Effect.UNKNOWN, {"running": 20, "better": 20}, {"cap": 0, "sick": 0, "wait_s": 0}
    )
    assert relapsed == {"cap": 14, "sick": True, "wait_s": 200.0}


def after(
    hold: Hold,
    sign: tuple[Sign, str] | None,
    effect: Effect,
    at: Mapping[str, float],
    asked: Mapping[str, object],
) -> dict[str, object]:
    """What the hold of the next tick has for the names in `asked`."""
    later = next_hold(hold, sign, effect, replace(AT, **at))  # type: ignore[arg-type]  # fields of the situation
    return {name: getattr(later, name) for name in asked}


def test_a_cap_ends_when_it_has_reached_the_ceiling_or_held_nothing_for_hours() -> None:
    assert next_hold(replace(HOLD, cap=80, base=60), None, Effect.UNKNOWN, AT) is None
    idle = replace(AT, need=3, now_s=FORGOTTEN_S + 1)
    assert next_hold(replace(HOLD, sick=True, next_s=1e9), None, Effect.UNKNOWN, idle) is None
    assert next_hold(HOLD, None, Effect.UNKNOWN, replace(AT, need=3)) == HOLD
    assert next_hold(None, None, Effect.GAIN, AT) is None


@pytest.mark.parametrize(
    ("after_the_step", "quick_s", "doubt"),
    [
        (level(16, 8.0, 8.0), 4.0, True),
        (level(16, 8.0, 8.0, span_s=5.0), 4.0, True),
        (level(16, 8.0, 4.8), 4.0, False),
        (level(16, 8.0, 8.0), 7.0, False),
        (level(16, 0.1, 8.0), 4.0, False),
    ],
)
def test_a_step_is_in_doubt_as_soon_as_handlers_take_much_longer_than_before_and_than_ever(
    after_the_step: Level, quick_s: float, doubt: bool
) -> None:
    assert in_doubt(level(8, 8.0, 4.0), after_the_step, quick_s) is doubt
    assert not in_doubt(None, after_the_step, quick_s)
