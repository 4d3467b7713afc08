"""Ticks on a grid, in virtual time."""

import threading

from hypothesis import given
from hypothesis import strategies as st

from tests.controller.pool_rig import InlineExecutor, LastMinuteExecutor, Rig, always, controller_of
from tidegate.controller.loop import next_due, run_times, run_until_stopped
from tidegate.core.decision import Decision
from tidegate.core.model import Pool, PoolState
from tidegate.core.observation import Observation
from tidegate.testing import FakeClock

START_S = 1_000_000.0


def ticks_of(rig: Rig, tick_s: float, stop_at_s: float) -> list[float]:
    """When each tick was decided, from the start of the loop."""
    stop = threading.Event()
    rig.clock.at(START_S + stop_at_s, stop.set)
    run_until_stopped(controller_of([rig], InlineExecutor()), tick_s, rig.clock, stop, rig.events)
    return [decided.at_s - START_S for decided, _ in rig.events.decisions]


def rig_taking(*seconds: float) -> Rig:
    """A pool whose ticks take that long each, the last one for ever after."""
    left = list(seconds)

    def decide(pool: Pool, state: PoolState, seen: Observation) -> tuple[Decision, PoolState]:
        rig.clock.advance(left.pop(0) if len(left) > 1 else left[0])
        return always(2)(pool, state, seen)

    rig = Rig(decide=decide, clock=FakeClock(START_S))
    return rig


def test_it_ticks_at_once_and_then_on_the_grid() -> None:
    assert ticks_of(rig_taking(0), tick_s=10, stop_at_s=35) == [0, 10, 20, 30]


def test_the_time_a_tick_takes_does_not_shift_the_next() -> None:
    assert ticks_of(rig_taking(3), tick_s=10, stop_at_s=35) == [0, 10, 20, 30]


def test_an_overrunning_tick_is_said_and_what_it_missed_is_never_made_up_for() -> None:
    rig = rig_taking(0, 25, 0)

    assert ticks_of(rig, tick_s=10, stop_at_s=55) == [0, 10, 40, 50]
    assert rig.events.overruns == [(None, 2)]


def test_a_tick_that_takes_exactly_its_interval_misses_none() -> None:
    rig = rig_taking(10)

    assert ticks_of(rig, tick_s=10, stop_at_s=35) == [0, 10, 20, 30]
    assert rig.events.overruns == []


def test_a_stop_in_the_middle_of_a_tick_lets_it_finish_and_starts_no_other() -> None:
    rig = rig_taking(8)

    assert ticks_of(rig, tick_s=10, stop_at_s=14) == [0, 10]


def test_each_tick_is_told_with_how_many_the_best_pool_has_missed() -> None:
    beats: list[tuple[float, int]] = []
    rig, stop = rig_taking(0), threading.Event()
    rig.clock.at(START_S + 25, stop.set)

    run_until_stopped(
        controller_of([rig], LastMinuteExecutor()), 10, rig.clock, stop, rig.events,
        lambda at_s, missed: beats.append((at_s - START_S, missed)),
    )  # fmt: skip

    assert beats == [(0, 0), (10, 1), (20, 2)]


def test_it_ends_only_when_the_tick_in_hand_has() -> None:
    rig, stop = rig_taking(0), threading.Event()
    rig.clock.at(START_S + 5, stop.set)

    run_until_stopped(controller_of([rig], LastMinuteExecutor()), 10, rig.clock, stop, rig.events)

    assert len(rig.events.decisions) == 1


def test_a_stop_that_came_before_the_start_ticks_not_at_all() -> None:
    rig, stop = rig_taking(0), threading.Event()
    stop.set()

    run_until_stopped(controller_of([rig], InlineExecutor()), 10, rig.clock, stop, rig.events)

    assert rig.events.decisions == []


def test_no_wait_is_ever_longer_than_the_interval() -> None:
    rig = rig_taking(3)

    ticks_of(rig, tick_s=10, stop_at_s=100)

    assert max(rig.clock.waits_s) == 7


times_s = st.floats(0, 1e9)
intervals_s = st.floats(0.1, 3600)


@given(times_s, times_s, intervals_s)
def test_the_next_tick_is_never_in_the_past_and_never_more_than_an_interval_away(
    due_s: float, now_s: float, tick_s: float
) -> None:
    following_s, missed = next_due(due_s, now_s, tick_s)

    slack_s = 1e-6 * max(1.0, now_s)
    assert now_s - slack_s <= following_s <= now_s + tick_s + slack_s
    assert missed >= 0


@given(st.integers(0, 10**6), st.integers(0, 10**5), st.integers(1, 600))
def test_the_grid_never_shifts(due_s: int, late_s: int, tick_s: int) -> None:
    following_s, missed = next_due(due_s, due_s + late_s, tick_s)

    assert (following_s - due_s) % tick_s == 0
    assert missed == (following_s - due_s) // tick_s - 1


def times_of(rig: Rig, times: int, ends_s: float) -> list[float]:
    """When each of so many ticks was decided, of a loop that is given so many seconds."""

    def left_s() -> float:
        return START_S + ends_s - rig.clock.now()

    (outcome,) = run_times(controller_of([rig], InlineExecutor()), times, 10, rig.clock, left_s, rig.events)
    assert outcome.ok
    return [decided.at_s - START_S for decided, _ in rig.events.decisions]


def test_so_many_ticks_on_the_grid_and_then_an_end() -> None:
    assert times_of(rig_taking(3), times=4, ends_s=90) == [0, 10, 20, 30]


def test_no_tick_is_begun_that_the_time_left_does_not_reach_and_those_left_out_are_said() -> None:
    rig = rig_taking(0)
    assert times_of(rig, times=6, ends_s=35) == [0, 10, 20, 30]
    assert rig.events.overruns == [(None, 2)]


def test_ticks_that_take_longer_than_their_distance_follow_each_other_at_once() -> None:
    assert times_of(rig_taking(15), times=3, ends_s=90) == [0, 15, 30]


@given(st.integers(1, 20), st.floats(0, 30), st.floats(0, 200))
def test_one_tick_is_made_in_any_case_and_none_begins_after_the_time_is_up(
    times: int, takes_s: float, ends_s: float
) -> None:
    rig = rig_taking(takes_s)
    ticks = times_of(rig, times, ends_s)
    assert 1 <= len(ticks) <= times
    assert all(at_s <= ends_s + 1e-6 for at_s in ticks[1:])
