"""The rivals that live on CloudWatch alarms: target tracking, step scaling, the CDK's service."""

import random

import pytest

from tests.lab.sights import Present, scenario, seen
from tidegate.lab.peers.cdk import CdkQueueProcessing
from tidegate.lab.peers.minutes import Points
from tidegate.lab.peers.step_on_age import StepOnAge
from tidegate.lab.peers.target_tracking import BacklogPerInstance, TargetTracker
from tidegate.lab.policy import Policy

PRESENT = Present()


def begun(policy: Policy) -> Policy:
    policy.reset(scenario(), random.Random(1))  # metric lag 60 s
    return policy


def test_a_point_can_be_seen_only_after_its_lag() -> None:
    points = Points(60.0, keep=3)
    points.add(60, 1.0)
    assert list(points.arrived(119)) == []
    assert list(points.arrived(120)) == [1.0]


def test_target_tracking_needs_three_minutes_above_the_target_to_go_out() -> None:
    peer = begun(BacklogPerInstance(10.0))
    got = [peer.desired(seen(60.0 * minute, 4, visible=80), PRESENT) for minute in range(4)]
    assert got == [4, 4, 4, 8]  # three points, the last of them a lag late; ceil(4 × 20 / 10)


def test_the_fast_variant_needs_one_minute() -> None:
    peer = begun(BacklogPerInstance(10.0, out_points=1))
    assert [peer.desired(seen(60.0 * minute, 4, visible=80), PRESENT) for minute in range(2)] == [4, 8]


def test_one_point_under_the_target_starts_the_count_anew() -> None:
    peer = begun(BacklogPerInstance(10.0))
    backlogs = [80, 80, 40, 80, 80, 80, 80]
    got = [peer.desired(seen(60.0 * at, 4, visible=backlog), PRESENT) for at, backlog in enumerate(backlogs)]
    assert got == [4, 4, 4, 4, 4, 4, 8]


def test_no_running_worker_is_no_data() -> None:
    peer = begun(BacklogPerInstance(10.0))
    got = [peer.desired(seen(60.0 * minute, 1, running=0, visible=80), PRESENT) for minute in range(20)]
    assert got == [1] * 20


def test_target_tracking_never_leaves_the_first_worker() -> None:
    assert begun(BacklogPerInstance(10.0)).desired(seen(0, 0), PRESENT) == 1


def test_target_tracking_goes_in_after_fifteen_minutes_a_tenth_under_the_target() -> None:
    tracker = TargetTracker(10.0, 3, 15)
    assert tracker.propose([8.9] * 14, 10, 0.0) is None
    assert tracker.propose([9.0] * 15, 10, 0.0) is None
    assert tracker.propose([*[8.9] * 14, 4.0], 10, 0.0) == 4
    assert tracker.propose([1.0] * 15, 4, 299.0) is None  # cooling down
    assert tracker.propose([1.0] * 15, 4, 300.0) == 1


def test_within_the_cooldown_only_a_larger_step_goes_out() -> None:
    tracker = TargetTracker(10.0, 3, 15)
    assert tracker.propose([20.0] * 3, 5, 0.0) == 10
    assert tracker.propose([20.0] * 3, 10, 60.0) is None  # 5 × 2 is there already
    assert tracker.propose([30.0] * 3, 10, 120.0) == 15  # of the five before the first step
    assert tracker.propose([20.0] * 3, 15, 420.0) == 30


@pytest.mark.parametrize(
    ("age_s", "wanted"), [(14, 10), (29.9, 10), (30, 12), (59, 12), (60, 15), (119, 15), (120, 20), (900, 20)]
)
def test_step_scaling_takes_the_step_of_the_age(age_s: float, wanted: int) -> None:
    assert begun(StepOnAge(30.0)).desired(seen(60, 10, age_s=age_s), PRESENT) == wanted


def test_step_scaling_adds_one_worker_at_least() -> None:
    assert begun(StepOnAge(30.0)).desired(seen(60, 1, age_s=30), PRESENT) == 2


def test_step_scaling_waits_out_its_cooldown() -> None:
    peer = begun(StepOnAge(30.0))
    assert peer.desired(seen(60, 10, age_s=60), PRESENT) == 15
    assert peer.desired(seen(90, 15, age_s=60), PRESENT) == 15
    assert peer.desired(seen(120, 15, age_s=60), PRESENT) == 22


def test_step_scaling_goes_in_after_fifteen_quiet_minutes_then_every_five() -> None:
    peer = begun(StepOnAge(30.0))
    current, counts = 20, []
    for minute in range(1, 27):
        current = peer.desired(seen(60.0 * minute, current, age_s=7), PRESENT)
        counts.append(current)
    assert counts == [20] * 14 + [18] * 5 + [17] * 5 + [16] * 2


def test_an_age_that_was_read_before_counts_once() -> None:
    peer = begun(StepOnAge(30.0))
    for at_s in range(60, 1200, 60):
        assert peer.desired(seen(at_s, 20, age_s=7, age_at_s=0), PRESENT) == 20


def test_no_age_changes_nothing() -> None:
    assert begun(StepOnAge(30.0)).desired(seen(60, 7, age_s=None), PRESENT) == 7


@pytest.mark.parametrize(("visible", "wanted"), [(0, 9), (1, 10), (99, 10), (100, 11), (499, 11), (500, 15)])
def test_the_cdk_takes_the_step_of_the_period_highest_depth(visible: int, wanted: int) -> None:
    peer = begun(CdkQueueProcessing())
    got = [peer.desired(seen(60.0 * minute, 10, visible=visible, busy=2), PRESENT) for minute in range(7)]
    assert got == [10] * 6 + [wanted]  # five minutes of points, and the lag


def test_the_cdk_holds_cpu_at_half() -> None:
    peer = begun(CdkQueueProcessing())
    got = [peer.desired(seen(60.0 * minute, 10, visible=50, busy=4), PRESENT) for minute in range(4)]
    assert got == [10, 10, 10, 20]  # all slots busy: 100 % ÷ 50 %


def test_the_cdk_takes_the_larger_of_two_wishes() -> None:
    peer = begun(CdkQueueProcessing())
    quiet, busy = [0] * 2, [3] * 5
    got = [peer.desired(seen(60.0 * at, 10, visible=500, busy=slots), PRESENT) for at, slots in enumerate(quiet + busy)]
    assert got == [10] * 5 + [15, 15]  # CPU at 75 % asks for 15 once three points are seen; then +5 asks for 15
