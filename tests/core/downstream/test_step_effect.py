"""What a step out, or a step back, bought."""

from dataclasses import replace

import pytest

from tidegate.core.downstream.levels import lengthening, mean_run_s, outgrown
from tidegate.core.downstream.state import DependencyMemory, GuardMemory, Hold, Level, Past, Sign
from tidegate.core.downstream.step_effect import compare, cost_completions, followed, in_doubt
from tidegate.core.downstream.stretch import Effect
from tidegate.core.signals.fleet import FleetSignals

HOLD = Hold(8, 8, Sign.NO_GAIN, "why", True, 0.0, 100.0, 100.0, 0.25, 0.0)


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
        (level(8, 4.0, 8.0, open_slots=64), None),
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


def steady(workers: int) -> FleetSignals:
    """As many slot-seconds end in runs as are used: the runs that end are like those that begin."""
    return replace(
        fleet(workers), service_time_sum_s=40.0 * workers, service_time_square_sum_s2=60.0 * workers * workers
    )


def test_in_slots_that_have_just_begun_nothing_is_told_yet_that_a_step_could_be_compared_with() -> None:
    old = replace(level(8, 8.0, 4.0), since_s=-100.0)
    step = GuardMemory(level=old)
    assert followed(step, steady(12), 0.0, 10.0, 4.0).before == old
    only_short_ones = replace(old, sum_s=0.6 * old.busy_s)
    for young in (
        only_short_ones,
        replace(old, since_s=-5.0),
        replace(old, changed_s=-5.0),
        replace(old, variation=50),
    ):
        assert followed(GuardMemory(level=young), steady(12), 0.0, 10.0, 4.0).before is None


def with_past(now: Level, rate: float, slots: float, span_s: float = 240.0) -> Level:
    """The level, with what went before it."""
    return replace(now, past=Past(now.span_s + span_s, now.busy_s + slots * span_s, now.runs + rate * span_s))


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (with_past(level(8, 6.0, 5.0), rate=8.0, slots=32.0), True),
        (with_past(level(8, 6.0, 4.0), rate=8.0, slots=32.0), True),
        (with_past(level(8, 8.0, 4.0), rate=8.0, slots=32.0), False),
        (with_past(level(8, 9.0, 3.6), rate=8.0, slots=32.0), False),
        (with_past(level(8, 7.6, 4.2), rate=8.0, slots=32.0), False),
        (with_past(level(8, 6.0, 5.0), rate=8.0, slots=26.0), False),
        (with_past(replace(level(8, 6.0, 5.0), variation=40.0), rate=8.0, slots=32.0), False),
        (with_past(level(8, 6.0, 5.0), rate=8.0, slots=32.0, span_s=2.0), False),
        (with_past(level(8, 6.0, 5.0), rate=8.0, slots=0.0), False),
        (with_past(level(8, 0.1, 5.0), rate=8.0, slots=32.0), False),
        (level(8, 6.0, 5.0), False),
    ],
    ids=[
        "longer",
        "still running",
        "as long",
        "shorter",
        "hardly longer",
        "more at a time",
        "all lengths",
        "no past",
        "told of no slots",
        "few runs",
        "unknown past",
    ],
)
def test_the_work_has_changed_where_fewer_runs_end_in_as_many_slots(now: Level, expected: bool) -> None:
    assert lengthening(now) is expected


def test_a_step_that_is_made_while_runs_get_longer_is_not_judged() -> None:
    steady_past = with_past(replace(level(8, 6.0, 5.3), since_s=-300.0), rate=6.0, slots=32.0)
    assert followed(GuardMemory(level=steady_past), steady(12), 0.0, 10.0, 4.0).before == steady_past
    growing = with_past(replace(level(8, 6.0, 5.3), since_s=-300.0), rate=8.0, slots=32.0)
    later = followed(GuardMemory(level=growing), steady(12), 0.0, 10.0, 4.0)
    assert later.before is None
    assert later.level is not None
    assert later.level.workers == 12


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (level(10, 5.0, 8.0), True),
        (level(10, 6.5, 6.2), False),
        (level(10, 10.0, 4.0), False),
        (level(16, 4.0, 15.0), False),
        (level(10, 0.3, 40.0), False),
    ],
    ids=["twice as long", "as their square, about", "as long", "a large step", "too few runs"],
)
def test_runs_that_grow_by_more_than_the_square_of_a_step_grow_for_another_reason(now: Level, expected: bool) -> None:
    assert outgrown(level(8, 8.0, 4.0), now) is expected
    assert not outgrown(level(8, 0.2, 4.0), now), "nothing is known of before"


def test_a_step_into_the_minute_in_which_jobs_become_longer_is_not_judged_where_no_dependency_is_named() -> None:
    memory = GuardMemory(before=level(8, 8.0, 4.0), level=level(10, 5.0, 8.0))
    assert followed(memory, steady(10), 100.0, 10.0, 4.0).before is None
    named = replace(memory, dependencies={"payments": DependencyMemory()})
    assert followed(named, steady(10), 100.0, 10.0, 4.0).before == memory.before
    held = replace(memory, hold=HOLD)
    assert followed(held, steady(10), 100.0, 10.0, 4.0).before == memory.before


def test_what_a_level_did_before_outlasts_what_it_does_now() -> None:
    memory = GuardMemory()
    for n in range(60):
        memory = followed(memory, steady(8), 10.0 * n, 10.0, 2.0)
    assert memory.level is not None
    assert memory.level.past is not None
    assert memory.level.past.runs > 3 * memory.level.runs
    assert memory.level.past.busy_s == pytest.approx(32.0 * memory.level.past.span_s)


def test_slots_that_fill_have_just_begun_but_for_chance() -> None:
    memory = GuardMemory(level=replace(level(8, 4.0, 4.0, open_slots=64), busy_s=16 * 60.0))
    filled = followed(memory, replace(steady(8), busy=30), 70.0, 10.0, 4.0)
    assert filled.level is not None
    assert filled.level.changed_s == 70.0
    chance = followed(memory, replace(steady(8), busy=20), 70.0, 10.0, 4.0)
    assert chance.level is not None
    assert chance.level.changed_s is None


def test_a_step_that_shows_nothing_in_minutes_is_open_no_longer() -> None:
    memory = GuardMemory(before=level(8, 8.0, 4.0), level=level(16, 10.0, 6.0))
    assert followed(memory, steady(16), 290.0, 10.0, 4.0).before == memory.before
    assert followed(memory, steady(16), 300.0, 10.0, 4.0).before is None
    assert followed(replace(memory, hold=HOLD), steady(16), 300.0, 10.0, 4.0).before == memory.before


def test_no_verdict_comes_of_runs_that_differ_so_much_or_of_a_step_that_has_just_been_made() -> None:
    before, after = level(8, 8.0, 4.0), level(16, 8.0, 8.0)
    assert compare(before, after) is Effect.NO_GAIN
    assert compare(replace(before, variation=100.0), replace(after, variation=100.0)) is Effect.UNKNOWN
    assert compare(before, replace(after, busy_s=2.0 * after.busy_s)) is Effect.UNKNOWN


def test_levels_follow_the_workers_that_take_work() -> None:
    memory = GuardMemory()
    for n in range(6):
        memory = followed(memory, steady(8), 10.0 * n, 10.0, 2.0)
    assert memory.level is not None
    assert memory.before is None
    rise = followed(memory, steady(12), 60.0, 10.0, 2.0)
    assert (rise.before, rise.level) == (memory.level, Level(12, 60.0))
    more = followed(rise, steady(16), 70.0, 10.0, 2.0)
    assert (more.before, more.level) == (memory.level, Level(16, 60.0)), "it belongs to the same step, still settling"
    settled = followed(more, steady(16), 80.0, 10.0, 2.0)
    assert settled.level is not None
    assert settled.level.completions == 40
    fallen = followed(settled, steady(9), 90.0, 10.0, 2.0)
    assert (fallen.before, fallen.level, fallen.above) == (None, Level(9, 90.0), None)


def test_what_was_stepped_back_from_is_kept_until_the_last_long_runs_have_ended() -> None:
    sick = GuardMemory(level=level(16, 8.0, 40.0), hold=HOLD)
    back = followed(sick, steady(8), 100.0, 10.0, 20.0)
    assert back.above == sick.level
    waiting = followed(back, steady(8), 290.0, 10.0, 20.0)
    assert waiting.level == Level(8, 100.0)
    settled = followed(back, steady(8), 300.0, 10.0, 20.0)
    assert settled.level != Level(8, 100.0)
    assert settled.above == sick.level
    assert followed(back, steady(8), 410.0, 10.0, 20.0).above == sick.level
    assert followed(back, steady(8), 420.0, 10.0, 20.0).above is None, "it has shown nothing in minutes"
    assert followed(back, steady(9), 300.0, 10.0, 20.0).above is None


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
