"""Bottlenecks checked against the workers that always run, and a worker's slots against what fits into it."""

from typing import Any

import pytest

from tests.config.trees import changed, faults, warnings
from tidegate.config import assemble
from tidegate.core.bottlenecks import ApiRate, Database

FIFO = {"queue": "orders.fifo"}


@pytest.mark.parametrize(
    ("changes", "setting", "value", "problem"),
    [
        (
            {"database": {"connections": 10, "reserved": 10}},
            "database.reserved",
            10,
            "leaves none of database.connections = 10; lower it to 9 or less",
        ),
        (
            {"database": {"connections": 10, "reserved": 4, "per_slot": 2}, "min_workers": 0},
            "database.connections",
            10,
            "is enough for 3 slots, and a single worker at slots_per_worker = 4 has 4; raise it to 12 or more",
        ),
        ({"database": {"reserved": 4}}, "database.connections", "(not set)", "is missing; set it"),
        ({"database": {"connections": 0}}, "database.connections", 0, "is too small"),
        ({"api": {"calls_per_second": 0}}, "api.calls_per_second", 0, "is too small; write a number from 0.001"),
        ({"api": {"calls_per_second": "many"}}, "api.calls_per_second", "many", "is not a number"),
        ({"api": {"calls_per_second": 5, "calls_per_message": 1e9}}, "api.calls_per_message", 1e9, "is too large"),
        ({"message_groups": 0}, "message_groups", 0, "is too small"),
        ({"hold_on_alarms": [7]}, "hold_on_alarms[0]", 7, "is not a text"),
        (
            {"hold_on_alarms": ["arn:aws:sqs:eu-central-1:123456789012:orders"]},
            "hold_on_alarms[0]",
            "arn:aws:sqs:eu-central-1:123456789012:orders",
            "is no CloudWatch alarm's name or ARN",
        ),
        ({"worker": {"cpus": 0}}, "worker.cpus", 0, "is too small"),
    ],
)
def test_a_bottleneck_that_leaves_no_room_is_refused(
    changes: dict[str, Any], setting: str, value: object, problem: str
) -> None:
    (fault,) = faults(changed(changes))
    shown = fault.value if isinstance(value, int | float) else str(fault.value)
    assert (fault.setting, shown) == (f"pools.orders.{setting}", value)
    assert problem in f"{fault.problem}; {fault.fix}"


@pytest.mark.parametrize(
    ("changes", "setting", "problem"),
    [
        (
            {"api": {"calls_per_second": 100}},
            "api.calls_per_second",
            "bounds nothing until workers have measured their service time",
        ),
        (
            {"api": {"calls_per_second": 100, "calls_per_message": 2}, "service_time_hint": "60ms"},
            "api.calls_per_second",
            "allows 3 slots at service_time_hint = 60ms, and min_workers = 1 at slots_per_worker = 4 has 4",
        ),
        ({"message_groups": 20}, "message_groups", "caps the pool though orders is a standard queue"),
        (
            {"hold_on_alarms": ["payments-5xx"], "downstream_guard": False},
            "hold_on_alarms",
            "has no effect with downstream_guard = false",
        ),
        ({"step_back": True, "downstream_guard": False}, "step_back", "has no effect with downstream_guard = false"),
        (
            {"worker": {"cpus": 2, "cpu_per_job": 1}},
            "slots_per_worker",
            "is more than fits into a worker: 1, by its CPU (2 cores less 20 %, 1 cores per job)",
        ),
    ],
)
def test_what_is_likely_not_meant_is_said(changes: dict[str, Any], setting: str, problem: str) -> None:
    (warning,) = warnings(changed(changes))
    assert warning.setting == f"pools.orders.{setting}"
    assert problem in warning.problem


@pytest.mark.parametrize(
    "changes",
    [
        {"database": {"connections": 10, "reserved": 2, "per_slot": 2}},
        {"api": {"calls_per_second": 100, "calls_per_message": 2}, "service_time_hint": "80ms"},
        {"message_groups": 1, **FIFO},
        {"worker": {"cpus": 5, "cpu_per_job": 1, "memory_mib": 1000, "memory_mib_per_job": 200}},
        {"worker": {"cpus": 1}},
        {"step_back": False, "downstream_guard": False},
        {"downstream_guard": False},
    ],
)
def test_what_just_fits_passes(changes: dict[str, Any]) -> None:
    assert warnings(changed(changes)) == ()


def test_the_bottlenecks_reach_the_decision() -> None:
    settings = {"database": {"connections": 50, "per_slot": 2}, "api": {"calls_per_second": 9}, "message_groups": 7}
    pool = assemble(changed({**settings, **FIFO}), {}).settings.pools["orders"].at(0.0)
    assert (pool.database, pool.api, pool.message_groups) == (Database(50, 0, 2), ApiRate(9.0), 7)


def test_a_variable_sets_a_bottleneck() -> None:
    environ = {"TIDEGATE_POOLS__ORDERS__DATABASE__CONNECTIONS": "80"}
    pool = assemble(changed({"database": {"connections": 50}}), environ).settings.pools["orders"].at(0.0)
    assert pool.database == Database(80)


def test_the_guards_settings_reach_the_decision() -> None:
    names = ["payments 5xx", "arn:aws:cloudwatch:eu-west-1:123456789012:alarm:search"]
    pool = assemble(changed({"hold_on_alarms": names, "step_back": False}), {}).settings.pools["orders"].at(0.0)
    assert (pool.downstream_guard, pool.hold_on_alarms, pool.step_back) == (True, tuple(names), False)
    environ = {"TIDEGATE_POOLS__ORDERS__HOLD_ON_ALARMS": '["a"]', "TIDEGATE_POOLS__ORDERS__DOWNSTREAM_GUARD": "true"}
    assert assemble(changed({}), environ).settings.pools["orders"].at(0.0).hold_on_alarms == ("a",)
