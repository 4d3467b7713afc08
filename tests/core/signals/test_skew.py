"""A fleet whose clock is slow is no silent fleet; reports that stop coming are one, whatever the clock."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.observations import HELD, NOW_S, POOL, capacity, observe, queue, worker
from tidegate.core.absence import Absence
from tidegate.core.decide import decide
from tidegate.core.decision import Decision, Reason
from tidegate.core.memory import Skew
from tidegate.core.model import PoolState
from tidegate.core.signals.fleet import sum_fleet
from tidegate.core.signals.skew import A_MOMENT_S, CLOCKS_APART_S, learn_skew, on_our_clock, said_of_clocks


def looks(behind_s: float, phases_s: list[float], ticks: int = 20, beat_s: float = 10.0) -> Skew:
    """What is known after so many ticks of ten seconds; each worker beats at its own phase."""
    skew = Skew()
    for tick in range(ticks):
        now_s = NOW_S + 10.0 * tick
        beats = [now_s - (now_s - phase_s) % beat_s - behind_s for phase_s in phases_s]
        reports = tuple(worker(f"w{n}", at_s=at_s, heartbeat_s=beat_s) for n, at_s in enumerate(beats))
        skew = learn_skew(skew, observe(workers=reports, at_s=now_s))
    return skew


@given(st.floats(0, 1000), st.lists(st.floats(0, 30), min_size=1, max_size=5), st.sampled_from([5.0, 10.0, 30.0]))
def test_a_slow_clock_is_told_to_a_tick_and_never_taken_for_slower_than_it_is(
    behind_s: float, phases_s: list[float], beat_s: float
) -> None:
    found = looks(behind_s, phases_s, beat_s=beat_s)
    assert behind_s - 10.0 - 1e-6 <= found.behind_s <= behind_s + A_MOMENT_S + 1e-6


@given(st.floats(0, 100), st.lists(st.floats(0, 30), min_size=1, max_size=5))
def test_clocks_that_are_right_or_fast_are_left_alone(ahead_s: float, phases_s: list[float]) -> None:
    assert looks(-ahead_s, phases_s).behind_s == pytest.approx(0.0, abs=A_MOMENT_S + 1e-6)


def test_a_clock_that_is_set_right_is_believed_at_once() -> None:
    slow = looks(120.0, [3.0])
    right = learn_skew(slow, observe(workers=(worker(at_s=NOW_S + 195),), at_s=NOW_S + 200))
    assert right.behind_s == 5.0


def test_reports_that_stop_coming_or_can_not_be_read_say_nothing_of_clocks() -> None:
    known = Skew(newest_s=NOW_S - 15, looked_s=NOW_S - 10, behind_s=2.0)
    same = learn_skew(known, observe(workers=(worker(at_s=NOW_S - 15),)))
    assert same == Skew(NOW_S - 15, NOW_S, 2.0)
    assert learn_skew(known, observe(fleet_absence=Absence.THROTTLED)) == known
    assert learn_skew(known, observe()) == same, "all reports have expired"


@pytest.mark.parametrize("epoch_s", [0.0, 1.8e9])
@pytest.mark.parametrize("behind_s", [0.0, 35.0, 90.0])
def test_idle_slots_told_in_step_with_our_ticks_are_news_whatever_the_clock(behind_s: float, epoch_s: float) -> None:
    """Each report is written right before a tick: not taken for news, it would prove no queue empty for ever."""
    skew, idle = Skew(), list[int]()
    for tick in range(5):
        now_s = epoch_s + NOW_S + 10.0 * tick
        told_s = epoch_s + NOW_S + 10.0 * min(tick, 3) - behind_s
        told = worker(at_s=told_s, started_at_s=told_s - 900, first_receive_at_s=told_s - 800)
        seen = observe(workers=(told,), at_s=now_s)
        skew = learn_skew(skew, seen)
        state = PoolState(ticked_at_s=now_s - 10.0)
        fleet = sum_fleet(state, on_our_clock(seen, skew).fleet, now_s, 30.0)
        idle.append(fleet.idle if fleet else 0)
    assert idle[1:] == [4, 4, 4, 0], "the last one was known at the look before"


def test_times_are_moved_to_our_clock_as_far_as_clocks_may_be_apart() -> None:
    late = worker(at_s=NOW_S - 60, started_at_s=NOW_S - 900)
    polled = replace(late, first_receive_at_s=NOW_S - 800, answered_at_s=NOW_S - 70)
    seen = observe(workers=(late, polled))
    moved = on_our_clock(seen, Skew(behind_s=60.0)).fleet.workers
    assert [each.reported_at_s for each in moved] == [NOW_S, NOW_S]
    assert [each.started_at_s for each in moved] == [NOW_S - 840] * 2
    assert [each.first_receive_at_s for each in moved] == [None, NOW_S - 740]
    assert [each.answered_at_s for each in moved] == [None, NOW_S - 10]
    assert on_our_clock(seen, Skew(behind_s=CLOCKS_APART_S + 1)) is seen
    assert on_our_clock(seen, Skew()) is seen


def idle_pool(behind_s: float, *, ticks: int, dead_from: int = 1000) -> list[Decision]:
    """Six idle workers whose clock is behind; they beat with each tick until they die, all at once."""
    state, desired, decisions = replace(HELD, reported_at_s=NOW_S), 6, list[Decision]()
    for tick in range(ticks):
        now_s = NOW_S + 10.0 * tick
        beat_s = NOW_S + 10.0 * min(tick, dead_from) - behind_s
        reports = tuple(worker(f"w{n}", at_s=beat_s, started_at_s=beat_s - 900) for n in range(desired))
        there = capacity(desired, at_s=now_s)
        decision, state = decide(POOL, state, observe(queue(0, at_s=now_s), workers=reports, seen=there, at_s=now_s))
        desired = decision.desired
        decisions.append(decision)
    return decisions


@pytest.mark.parametrize("behind_s", [0.0, 35.0, 90.0, 290.0])
def test_a_pool_whose_workers_have_a_slow_clock_is_scaled_in_and_says_so(behind_s: float) -> None:
    last = idle_pool(behind_s, ticks=20)[-1]
    assert last.desired == 1
    assert ("s behind and taken for as much younger" in last.sentence) is (behind_s > 0)


def test_reports_that_are_older_than_clocks_can_be_apart_scale_nothing_in_and_it_is_said_why() -> None:
    last = idle_pool(1000.0, ticks=20)[-1]
    assert (last.desired, last.reason) == (6, Reason.SIGNAL_STALE)
    assert "990 s behind and not gone by: no clocks may be so far apart" in last.sentence
    assert "look at the time synchronisation of both" in last.sentence


def test_a_fleet_with_a_slow_clock_that_dies_is_silent_as_soon_as_any_other() -> None:
    right, slow = (
        [dict(decision.steps[0].values)["fleet"] for decision in idle_pool(behind_s, ticks=20, dead_from=8)]
        for behind_s in (0.0, 90.0)
    )
    assert right == ["fresh"] * 12 + ["stale"] * 8
    assert slow[1:] in (["fresh"] * 11 + ["stale"] * 8, ["fresh"] * 10 + ["stale"] * 9), "the first look tells nothing"


def test_clocks_that_are_about_right_are_not_talked_of() -> None:
    assert said_of_clocks(Skew(behind_s=4.9)) == ""
    assert said_of_clocks(Skew(behind_s=5.0)).startswith("the workers' reports are 5 s behind")
