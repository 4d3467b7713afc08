import random

import numpy as np

from tests.lab.sights import Present, scenario, seen
from tidegate.lab.clairvoyant import PlannedFleet
from tidegate.lab.optimum import Plan

PLAN = Plan(10.0, np.array([0.0] * 10 + [8.0] * 2 + [0.0] * 3 + [17.0] + [0.0] * 10), 0.0)


def fleet(raised: float = 1.0) -> PlannedFleet:
    planned = PlannedFleet(PLAN, raised)
    planned.reset(scenario(start_up_s=40.0), random.Random(1))  # at its longest 50 s
    return planned


def asked(planned: PlannedFleet, at_s: float, waiting: int = 0) -> int:
    return planned.desired(seen(at_s, 0), Present(now_s=at_s, arrivals_s=[0.0] * waiting))


def test_workers_are_asked_for_their_longest_start_up_before_they_are_needed() -> None:
    assert [asked(fleet(), at_s) for at_s in (0, 30, 40, 50, 100)] == [0, 0, 2, 2, 5]


def test_a_gap_shorter_than_a_start_up_is_bridged_and_a_longer_one_is_not() -> None:
    assert [asked(fleet(), at_s) for at_s in (120, 150, 160)] == [5, 5, 0]


def test_raised_and_rounded_up_to_whole_workers() -> None:
    assert asked(fleet(1.0), 100) == 5  # 17 slots
    assert asked(fleet(1.2), 100) == 6  # 20.4 slots


def test_after_the_plan_one_worker_stays_while_messages_wait() -> None:
    assert asked(fleet(), 10_000, waiting=3) == 1
    assert asked(fleet(), 10_000) == 0
