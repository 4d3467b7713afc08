"""Each count is worked out by hand: S = 10 s, D = 30 s, four slots a worker, unless a case says otherwise."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.sights import Present, scenario, seen
from tidegate.lab.perfect_sight import PerfectSight, workers_on_time

IDLE = [0.0] * 4


@pytest.mark.parametrize(
    ("present", "target_s", "workers"),
    [
        pytest.param(Present(free_in_s=IDLE * 3), 60.0, 0, id="nothing waits and nothing comes"),
        # by 60 s four slots that are free now start 4 × 7 = 28
        pytest.param(Present(free_in_s=IDLE * 3, arrivals_s=[0.0] * 28), 60.0, 1, id="one worker is just enough"),
        pytest.param(Present(free_in_s=IDLE * 3, arrivals_s=[0.0] * 29), 60.0, 2, id="one message more needs another"),
        # slots that are busy for 25 s more start at 25, 35, 45, 55: 16 by 60 s
        pytest.param(Present(free_in_s=[25.0] * 8, arrivals_s=[0.0] * 17), 60.0, 2, id="busy slots start late"),
        # a worker asked for now is ready at 30 s and starts 4 × 4 = 16 by 60 s
        pytest.param(Present(arrivals_s=[0.0] * 33), 60.0, 3, id="from zero, with whole starts"),
        # the one that starts is ready in 10 s: 4 × 6 = 24 by 60 s, the rest is new
        pytest.param(Present(ready_in_s=[10.0], arrivals_s=[0.0] * 40), 60.0, 2, id="starting workers count"),
        # 0.4 a second for 30 s: 12 expected by 90 s, 4 idle slots start 40
        pytest.param(Present(free_in_s=IDLE, rate_per_s=0.4), 60.0, 1, id="what is expected counts"),
        # all are due in 20 s, before new workers are there: 4 × 3 start, 8 are late and are due by 30 + 20 s, when the
        # same slots have started 4 × 6
        pytest.param(Present(free_in_s=IDLE, arrivals_s=[0.0] * 20), 20.0, 1, id="what is late sets off no panic"),
    ],
)
def test_the_fewest_workers_that_are_on_time(present: Present, target_s: float, workers: int) -> None:
    assert workers_on_time(present, target_s, 4) == workers


def test_late_messages_are_drained_within_the_target_once_new_workers_are_there() -> None:
    # 100 are due now and nothing runs: by 30 + 60 s a new worker has started 4 × 7
    late = Present(now_s=600.0, arrivals_s=[0.0] * 100)
    assert workers_on_time(late, 60.0, 4) == 4


def test_a_worker_is_kept_for_a_start_up_time_after_it_was_needed() -> None:
    policy = PerfectSight()
    policy.reset(replace(scenario(), order="fifo"), random.Random(1))
    waiting = Present(now_s=0.0, free_in_s=IDLE * 3, arrivals_s=[0.0] * 30)
    assert policy.desired(seen(0, 3), waiting) == 2
    assert policy.desired(seen(30, 3), replace(waiting, now_s=30.0, arrivals_s=[])) == 2
    assert policy.desired(seen(40, 3), replace(waiting, now_s=40.0, arrivals_s=[])) == 0


@given(
    arrivals=st.lists(st.floats(0, 100), max_size=60),
    free=st.lists(st.floats(0, 40), max_size=12),
    more=st.floats(0, 100),
    target_s=st.floats(20, 300),
)
def test_one_message_more_never_needs_fewer_workers(
    arrivals: list[float], free: list[float], more: float, target_s: float
) -> None:
    present = Present(now_s=100.0, free_in_s=free * 4, arrivals_s=arrivals)
    with_more = replace(present, arrivals_s=[*arrivals, more])
    assert workers_on_time(with_more, target_s, 4) >= workers_on_time(present, target_s, 4)
