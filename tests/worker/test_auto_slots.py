"""`auto(…)` and the gauge: what the law of slots is told."""

import pytest

from tidegate.core.auto_slots import AutoSlots, Look
from tidegate.errors import ConfigError
from tidegate.worker.auto_slots import Gauge, auto


def test_auto_reads_durations_as_every_setting_does() -> None:
    assert auto(min=2, max=32, target_wait="50ms") == AutoSlots(2, 32, 0.05)
    assert auto(max=8, target_wait=30) == AutoSlots(1, 8, 30.0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"min": 0, "max": 8, "target_wait": 1}, "min = 0: nothing would ever be done; write 1 or more"),
        ({"min": 9, "max": 8, "target_wait": 1}, "max = 8: less than min = 9; raise it, or lower min"),
        ({"max": 8, "target_wait": 0}, "target_wait = 0: nothing can wait for no time"),
        ({"max": 8, "target_wait": "soon"}, "target_wait = 'soon': not a duration; write seconds"),
    ],
)
def test_what_is_wrong_is_named_with_its_fix(given: dict[str, int], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        auto(**given)
    assert says in str(caught.value)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        auto(min=0, max=-1, target_wait="soon")
    assert [fault.setting for fault in caught.value.faults] == ["min", "max", "target_wait"]


def test_a_look_holds_what_happened_since_the_one_before() -> None:
    now_s = 0.0
    gauge = Gauge(lambda: now_s)
    gauge.busy(2)
    now_s = 3.0
    gauge.busy(1)
    gauge.ended(3.0, failed=False)
    now_s = 4.0
    gauge.ended(0.5, failed=True)
    assert gauge.look(head_wait_s=0.7) == Look(4.0, 0.7, busy=7 / 4, ended=2, failed=1, service_time_sum_s=3.5)
    now_s = 6.0
    assert gauge.look(head_wait_s=0.0) == Look(6.0, 0.0, busy=1.0)


def test_two_looks_at_the_same_time_see_what_is_busy_now() -> None:
    gauge = Gauge(lambda: 5.0)
    gauge.busy(3)
    assert gauge.look(0.0).busy == 3.0
