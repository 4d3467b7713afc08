"""How slots are written: a number or `auto(…)`, and what is said of one that is written wrong."""

from typing import Any

import pytest

from tidegate.core.workers.auto_slots import AutoSlots
from tidegate.errors import ConfigError
from tidegate.worker.settings.slot_rule import auto
from tidegate.worker.settings.worker_settings import worker_settings


def test_auto_reads_durations_as_every_setting_does() -> None:
    assert auto(min=2, max=32, target_wait="50ms") == AutoSlots(2, 32, 0.05)
    assert auto(max=8, target_wait=30) == AutoSlots(1, 8, 30.0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"min": 0, "max": 8, "target_wait": 1}, "min = 0: nothing would ever be done; write 1 or more"),
        ({"min": 9, "max": 8, "target_wait": 1}, "max = 8: less than min = 9; raise it, or lower min"),
        ({"max": 8, "target_wait": 0}, "target_wait = 0: nothing can wait for no time"),
        ({"max": "8", "target_wait": 1}, "max = '8': is not a whole number; write 1 or more"),
        ({"min": True, "max": 8, "target_wait": 1}, "min = True: is not a whole number; write 1 or more"),
        ({"max": 8, "target_wait": "soon"}, "target_wait = 'soon': not a duration; write seconds"),
    ],
)
def test_what_is_wrong_is_named_with_its_fix(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        auto(**given)
    assert says in str(caught.value)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        auto(min=0, max=-1, target_wait="soon")
    assert [fault.setting for fault in caught.value.faults] == ["min", "max", "target_wait"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (8, 8),
        ("8", 8),
        ("auto(min=2, max=32, target_wait=50ms)", AutoSlots(2, 32, 0.05)),
        ('auto(max=4,target_wait="1s")', AutoSlots(1, 4, 1.0)),
        (AutoSlots(1, 2, 3.0), AutoSlots(1, 2, 3.0)),
    ],
)
def test_slots_are_a_number_or_a_rule(written: object, read: object, monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker_settings({"queue": "orders", "slots": written}).slots == read
    if isinstance(written, str):
        monkeypatch.setenv("TIDEGATE_WORKER_SLOTS", written)
        assert worker_settings({"queue": "orders", "slots": 3}).slots == read


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("auto", "slots = 'auto': auto has its limits in brackets; write auto(min=2, max=32, target_wait=50ms)"),
        ("auto(max=4, target_wait=1s", "auto has its limits in brackets; write auto("),
        ("auto(max=0, target_wait=1s)", "max = 0: less than min = 1; raise it, or lower min"),
        ("auto(max=1001, target_wait=1s)", "max = 1001: more than 1000; lower it"),
        ("auto(min=5, max=2)", "target_wait is missing, max = 2: less than min = 5; write auto("),
        ("auto(min=0)", "max is missing, target_wait is missing, min = 0: nothing would ever be done; write auto("),
        ("auto(max=1.5, target_wait=1s)", "max = 1.5: is not a whole number; write 1 or more"),
        ("auto(min=1 max=4, target_wait=1s)", "max is missing, min = 1 max=4: is not a whole number; write auto("),
        ("auto(max=4, target_wait=soon)", "target_wait = soon: not a duration; write seconds"),
        ("auto(max=4, wait=1s)", "there is no wait, target_wait is missing; write auto("),
        ("auto(max=4, max=5, target_wait=1s)", "max stands there twice; write auto("),
        ("auto(1, 4)", "1 is no name=value, 4 is no name=value, max is missing"),
        ("auto(min=, max=4, target_wait=1s)", "min= is no name=value; write auto("),
        ("automatic", "no number of slots; write a whole number from 1 to 1000, or auto("),
        (0, "less than 1; write a whole number"),
        ("1001", "more than 1000; write a whole number"),
        (True, "slots = True: no number of slots"),
        (2.5, "slots = 2.5: no number of slots"),
    ],
)
def test_what_is_neither_is_refused_with_the_fix(written: object, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        worker_settings({"queue": "orders", "slots": written})
    assert says in str(caught.value)
