"""The law of slots, look by look: what makes it grow, retire, back off, and what leaves it alone."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.core.workers.auto_slots import AutoSlots, Look, SlotState, first_slots, look_every_s, next_slots

RULE = AutoSlots(least=2, most=32, target_wait_s=0.05)


def after(looks: list[Look], state: SlotState | None = None, rule: AutoSlots = RULE) -> SlotState:
    state = state or first_slots(rule, 0.0)
    for look in looks:
        state = next_slots(rule, state, look)
    return state


def with_slots(slots: int, service_time_s: float = 0.02, rule: AutoSlots = RULE) -> SlotState:
    return replace(first_slots(rule, 0.0), slots=slots, service_time_s=service_time_s)


def steady(seconds: float, busy: float, head_wait_s: float = 0.0, every_s: float = 0.025) -> list[Look]:
    return [Look(n * every_s, head_wait_s, busy) for n in range(1, round(seconds / every_s) + 1)]


@pytest.mark.parametrize(("target_wait_s", "every_s"), [(0.05, 0.025), (0.001, 0.01), (30.0, 1.0)])
def test_it_looks_twice_per_target_within_reason(target_wait_s: float, every_s: float) -> None:
    assert look_every_s(replace(RULE, target_wait_s=target_wait_s)) == every_s


def test_it_starts_with_as_few_as_may_be() -> None:
    assert first_slots(RULE, 0.0).slots == 2


def test_a_wait_that_is_over_the_target_for_a_moment_changes_nothing() -> None:
    assert after([Look(0.025, 0.06, 2), Look(0.05, 0.07, 2), Look(0.075, 0.0, 2), Look(0.1, 0.06, 2)]).slots == 2


def test_a_wait_that_rises_steeply_adds_four_at_a_time() -> None:
    """Two slots of 20 ms under 800 a second: they start an eighth of what comes, so the wait rises by 7/8."""
    rising = [Look(at_s, 0.051 + 0.875 * at_s, 2) for at_s in (0.0, 0.05)]
    assert after(rising).slots == 6


def test_a_wait_that_stands_over_the_target_adds_one_after_a_longer_look() -> None:
    assert after([Look(at_s, 0.08, 2) for at_s in (0.0, 0.05)]).slots == 2
    assert after([Look(at_s, 0.08, 2) for at_s in (0.0, 0.05, 0.1)]).slots == 3


def test_a_wait_that_falls_fast_enough_by_itself_adds_nothing() -> None:
    falling = [Look(at_s, 0.3 - at_s, 10) for at_s in (0.0, 0.05, 0.1, 0.15, 0.2)]
    assert after(falling, with_slots(10)).slots == 10


def test_never_more_than_the_most_and_never_fewer_than_the_least() -> None:
    rule = replace(RULE, most=4)
    rising = [Look(0.05 * n, 0.1 * n, 4) for n in range(1, 30)]
    assert after(rising, rule=rule).slots == 4
    assert after(steady(60, busy=0.0), rule=rule).slots == 2


def test_idleness_beyond_doubt_retires_one_at_a_time_half_a_second_apart() -> None:
    assert after(steady(0.45, busy=1), with_slots(18)).slots == 18
    assert after(steady(0.55, busy=1), with_slots(18)).slots == 17
    assert after(steady(20, busy=1), with_slots(18)).slots == 2


def test_what_keeps_one_slot_fewer_busy_retires_nobody() -> None:
    assert after(steady(60, busy=16), with_slots(18)).slots == 18
    assert after(steady(60, busy=16), with_slots(22)).slots == 19


def test_long_jobs_are_looked_at_for_longer() -> None:
    """A minute's job says nothing within half a second."""
    assert after(steady(50, busy=1, every_s=1.0), with_slots(18, service_time_s=60)).slots == 18
    assert after(steady(70, busy=1, every_s=1.0), with_slots(18, service_time_s=60)).slots == 17


def test_a_busy_past_does_not_hide_an_idle_present() -> None:
    busy, idle = steady(3600, busy=18, every_s=1.0), [Look(3600 + n, 0.0, 0.0) for n in range(1, 12)]
    assert after([*busy, *idle], with_slots(18)).slots < 18


def test_failures_beyond_a_tenth_cut_the_slots_to_seven_tenths() -> None:
    state = after([Look(0.025, 0.0, 20, ended=20, failed=3, service_time_sum_s=0.4)], with_slots(20))
    assert (state.slots, state.limit) == (14, 14.0)


def test_a_few_failures_or_too_few_ends_to_judge_cut_nothing() -> None:
    assert after([Look(0.025, 0.0, 20, ended=20, failed=2, service_time_sum_s=0.4)], with_slots(20)).slots == 20
    assert after([Look(0.025, 0.0, 20, ended=9, failed=9, service_time_sum_s=0.2)], with_slots(20)).slots == 20


def test_what_was_started_before_a_cut_does_not_cut_again() -> None:
    failing = [Look(at_s, 0.0, 14, ended=10, failed=10, service_time_sum_s=10.0) for at_s in (0.1, 0.5, 1.0)]
    assert after(failing, with_slots(20, service_time_s=1.0)).slots == 14


def test_after_each_calm_while_one_more_is_allowed_and_none_is_added_without_need() -> None:
    failed = after([Look(0.025, 0.0, 20, ended=20, failed=20, service_time_sum_s=0.4)], with_slots(20))
    calm = [Look(0.025 + 0.5 * n, 0.0, 14, ended=100, service_time_sum_s=2.0) for n in range(1, 11)]
    recovering = after(calm, failed)
    assert (recovering.slots, recovering.limit) == (14, 18.0)
    needed = after([Look(5.1 + at_s, 0.08 + at_s / 2, 14) for at_s in (0.0, 0.06)], recovering)
    assert needed.slots == 18


def test_an_outage_leaves_the_least() -> None:
    looks = [Look(0.1 * n, 0.5 + 0.1 * n, 20, ended=20, failed=20, service_time_sum_s=0.4) for n in range(1, 100)]
    assert after(looks, with_slots(20)).slots == 2


looks = st.lists(
    st.builds(
        Look,
        at_s=st.floats(0, 1e4),
        head_wait_s=st.floats(0, 1e5),
        busy=st.floats(0, 100),
        ended=st.integers(0, 1000),
        failed=st.integers(0, 1000),
        service_time_sum_s=st.floats(0, 1e5),
    ),
    max_size=60,
)


@given(looks, st.integers(1, 20), st.integers(0, 50), st.floats(0.001, 1e3))
def test_the_bounds_hold_and_no_step_is_larger_than_four_whatever_is_seen(
    seen: list[Look], least: int, more: int, target_wait_s: float
) -> None:
    rule = AutoSlots(least, least + more, target_wait_s)
    state = first_slots(rule, 0.0)
    for look in sorted(seen, key=lambda look: look.at_s):
        before, state = state, next_slots(rule, state, look)
        assert rule.least <= state.slots <= rule.most
        assert state.slots - before.slots <= 4
        backs_off = state.limit < before.limit
        assert backs_off or state.slots >= before.slots - 1
        assert look.head_wait_s <= target_wait_s or backs_off or state.slots >= before.slots
