"""The time of day by which a bulk pool is to be empty, and what the settings of an objective mean together."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.config.trees import GONE, changed, faults
from tidegate.config import assemble
from tidegate.config.finish_by import seconds_left

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN, fold=fold).timestamp()


@pytest.mark.parametrize(
    ("now", "by", "hours"),
    [
        ("2026-11-30 02:00", "06:00 Europe/Berlin", 4.0),
        ("2026-11-30 02:00", "6:00 Europe/Berlin", 4.0),
        ("2026-11-30 06:00", "06:00 Europe/Berlin", 24.0),
        ("2026-11-30 06:01", "06:00 Europe/Berlin", 24.0 - 1 / 60),
        ("2026-11-30 02:00", "06:00", 5.0),
        ("2026-11-30 02:00", "06:00 UTC", 5.0),
        ("2026-03-28 22:00", "06:00 Europe/Berlin", 7.0),
        ("2026-10-24 22:00", "06:00 Europe/Berlin", 9.0),
        ("2026-03-29 00:00", "02:30 Europe/Berlin", 2.0),
        ("2026-10-25 00:00", "02:30 Europe/Berlin", 2.5),
        ("2026-10-25 02:45", "02:30 Europe/Berlin", 24.75),
        ("2026-03-29 05:00", "02:30 Europe/Berlin", 21.5),
    ],
    ids=[
        "today", "one digit", "at that time", "passed", "no zone is UTC", "UTC", "an hour shorter", "an hour longer",
        "jumped over", "repeated: the first", "after the first of two", "the day after a jump",
    ],
)  # fmt: skip
def test_what_is_left_follows_the_clocks_there(now: str, by: str, hours: float) -> None:
    assert seconds_left(by, at(now)) == pytest.approx(hours * 3600.0)


def test_a_pool_gets_what_is_left_as_its_objective() -> None:
    tree = changed({"target_wait": GONE, "finish_by": "06:00 Europe/Berlin"})
    pool = assemble(tree, {}).settings.pools["orders"].at(at("2026-11-30 05:00"))
    assert (pool.finish_in_s, pool.target_wait_s) == (3600.0, 3600.0)
    assert assemble(changed({}), {}).settings.pools["orders"].at(0.0).finish_in_s is None


def test_the_settings_of_traps_reach_the_pool() -> None:
    settings = {
        "fair_queue": "true",
        "noisy_share": 0.5,
        "contested": "insist",
        "service_time_hints": {"mail": "500ms", "export": 600},
    }
    loaded = assemble(changed(settings), {})
    pool = loaded.settings.pools["orders"].at(0.0)
    assert (pool.noisy_share, pool.contested) == (0.5, "insist")
    assert pool.class_hints_s == {"mail": 0.5, "export": 600.0}
    assert loaded.settings.pools["orders"].fair_queue


def test_hints_can_come_from_a_variable_as_json() -> None:
    variable = {"TIDEGATE_POOLS__ORDERS__SERVICE_TIME_HINTS": '{"mail": "1s"}'}
    assert assemble(changed({}), variable).settings.pools["orders"].class_hints_s == {"mail": 1.0}


@pytest.mark.parametrize(
    ("changes", "setting", "words"),
    [
        ({"target_wait": GONE}, "target_wait", "is missing: the pool has no objective; set target_wait"),
        ({"finish_by": "06:00"}, "finish_by", "is set together with target_wait; keep one of the two"),
        ({"finish_by": "6 o'clock"}, "finish_by", "is no time of day; write the time, and its time zone"),
        ({"finish_by": "24:00"}, "finish_by", "is no time of day"),
        ({"finish_by": "06:00 Mars/Olympus"}, "finish_by", "is no time zone known here"),
        ({"fair_queue": "maybe"}, "fair_queue", "is neither true nor false; write true or false"),
        ({"fair_queue": 1}, "fair_queue", "is neither true nor false"),
        ({"fair_queue": True, "queue": "orders.fifo"}, "fair_queue", "is true for orders.fifo, a FIFO queue"),
        ({"noisy_share": 2}, "noisy_share", "is too large; write a number from 0 to 1"),
        ({"contested": "fight"}, "contested", 'write "yield" or "insist"'),
        ({"service_time_hints": "1s"}, "service_time_hints", "is not a table; write names and durations"),
        ({"service_time_hints": {"": 1}}, "service_time_hints", "is not a table"),
        ({"service_time_hints": {"mail": "soon"}}, "service_time_hints", "has for mail what is not a duration"),
        ({"service_time_hints": dict.fromkeys("abcdefghi", 1)}, "service_time_hints", "has too many entries"),
    ],
)
def test_what_an_objective_can_not_be_is_said(changes: dict[str, Any], setting: str, words: str) -> None:
    found = [fault for fault in faults(changed(changes)) if fault.setting == f"pools.orders.{setting}"]
    assert words in f"{found[0].problem}; {found[0].fix}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"target_wait": GONE, "finish_by": "06:00", "economy": "prompt"}, "economy"),
        ({"target_wait": GONE, "finish_by": "06:00", "drain_target": "5m"}, "drain_target"),
        ({"noisy_share": 0.5}, "noisy_share"),
        ({"policy": "littles-law", "economy": "lean"}, "economy"),
        ({"utilization": 0.7, "economy": "prompt"}, "economy"),
        ({"utilization": 0.7, "policy": "wait"}, "policy"),
    ],
)
def test_what_has_no_effect_is_a_warning(changes: dict[str, Any], words: str) -> None:
    (warning,) = assemble(changed(changes), {}).warnings
    assert (warning.setting, "has no effect with" in warning.problem) == (f"pools.orders.{words}", True)
