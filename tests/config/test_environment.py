"""TIDEGATE_… variables over the file."""

import json
from typing import Any

import pytest

from tests.config.trees import PLAIN, WINDOW, changed, faults, two
from tidegate.config import assemble
from tidegate.config.models import Settings


def settings(environ: dict[str, str], tree: dict[str, Any] = PLAIN) -> Settings:
    return assemble(tree, environ).settings


def test_a_variable_overrides_a_common_setting_and_a_pools() -> None:
    loaded = settings({"TIDEGATE_TICK": "5s", "TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "20"})
    assert loaded.tick_s == 5
    assert loaded.pools["orders"].max_workers == 20
    assert loaded.pools["orders"].at(0).tick_s == 5


def test_a_variable_sets_one_setting_of_a_table_and_leaves_the_others() -> None:
    pool = settings({"TIDEGATE_POOLS__ORDERS__ECS__SERVICE": "v2", "TIDEGATE_POOLS__ORDERS__RAMP__WORKERS": "9"}).pools[
        "orders"
    ]
    assert pool.ecs is not None
    assert (pool.ecs.cluster, pool.ecs.service) == ("prod", "v2")
    assert (pool.ramp.percent, pool.ramp.workers) == (400, 9)


@pytest.mark.parametrize("name", ["order-intake", "Order.Intake", "ORDER_INTAKE"])
@pytest.mark.parametrize("spelt", ["ORDER_INTAKE", "order_intake"])
def test_a_pool_is_found_whatever_its_capitals_and_separators(name: str, spelt: str) -> None:
    tree = changed({})
    tree["pools"] = {name: tree["pools"]["orders"]}
    assert settings({f"TIDEGATE_POOLS__{spelt}__MIN_WORKERS": "3"}, tree).pools[name].min_workers == 3


def test_lists_and_tables_are_json() -> None:
    tree = changed({"queues": ["a"]})
    del tree["pools"]["orders"]["queue"]
    pool = settings(
        {
            "TIDEGATE_POOLS__ORDERS__QUEUES": '["x", "y"]',
            "TIDEGATE_POOLS__ORDERS__SCHEDULE": json.dumps([{**WINDOW, "min_workers": 2}]),
            "TIDEGATE_POOLS__ORDERS__ECS": '{"cluster": "c", "service": "s"}',
        },
        tree,
    ).pools["orders"]
    assert pool.all_queues == ("x", "y")
    assert pool.schedule[0].min_workers == 2
    assert pool.ecs is not None
    assert pool.ecs.service == "s"


def test_an_empty_variable_counts_as_not_set() -> None:
    assert settings({"TIDEGATE_TICK": "", "TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "  "}) == settings({})


@pytest.mark.parametrize(
    "variable", ["TIDEGATE_CONFIG", "TIDEGATE_WORKER_SLOTS", "TIDEGATE_DEMO_SEED", "PATH", "AWS_REGION", "TIDEGATES"]
)
def test_variables_for_others_are_left_alone(variable: str) -> None:
    assert settings({variable: "what ever"}) == settings({})


def test_the_environment_never_changes_the_tree_it_was_given() -> None:
    before = json.dumps(PLAIN)
    settings({"TIDEGATE_POOLS__ORDERS__RAMP__WORKERS": "9"})
    assert json.dumps(PLAIN) == before


@pytest.mark.parametrize(
    ("variable", "problem", "fix"),
    [
        ("TIDEGATE_TIK", "is not a known setting", "did you mean TIDEGATE_TICK?"),
        ("TIDEGATE_ZZZ", "is not a known setting", "unset it"),
        ("TIDEGATE_MAX_WORKERS", "is not a known setting", "did you mean TIDEGATE_POOLS__NAME__MAX_WORKERS?"),
        ("TIDEGATE_POOLS__ORDERS__TICK", "is not a known setting", "did you mean TIDEGATE_TICK?"),
        ("TIDEGATE_POOLS__ORDERS__MAX_WORKER", "is not a known", "did you mean TIDEGATE_POOLS__ORDERS__MAX_WORKERS?"),
        ("TIDEGATE_POOLS__ORDERS__ECS__CLUSTR", "is not a known", "did you mean TIDEGATE_POOLS__ORDERS__ECS__CLUSTER?"),
        (
            "TIDEGATE_POOLS__BILLS__MAX_WORKERS",
            "is for a pool that the file does not have (bills)",
            "(orders, returns)",
        ),
        ("TIDEGATE_POOLS", "names no setting", "such as TIDEGATE_POOLS__ORDERS__MAX_WORKERS"),
        ("TIDEGATE_POOLS__ORDERS", "names no setting", "such as TIDEGATE_POOLS__ORDERS__MAX_WORKERS"),
        (
            "TIDEGATE_POOLS__ORDERS__SCHEDULE__0__NAME",
            "names no setting",
            "set TIDEGATE_POOLS__ORDERS__SCHEDULE as a whole",
        ),
        ("TIDEGATE_TICK__S", "names no setting", "set TIDEGATE_TICK as a whole"),
        ("TIDEGATE_", "is not a known setting", "unset it"),
        ("TIDEGATE_POOLS__ORDERS__QUEUES", "is not JSON", 'such as ["orders", "returns"]'),
        ("TIDEGATE_POOLS__ORDERS__RAMP", "is not JSON", 'such as {"percent": 400.0, "workers": 20}'),
        ("TIDEGATE_POOLS__ORDERS__ECS", "is not JSON", 'such as {"cluster": "prod", "service": "orders"}'),
        ("TIDEGATE_POOLS__ORDERS__SCHEDULE", "is not JSON", '"start": "0 8 * * MON-FRI"'),
    ],
)
def test_a_variable_that_fits_nothing_is_a_fault_that_never_shows_its_value(
    variable: str, problem: str, fix: str
) -> None:
    (fault,) = faults(two({}), {variable: "hunter2"})
    assert fault.setting == variable
    assert fault.problem.startswith(problem)
    assert fix in fault.fix
    assert "hunter2" not in str(fault)


def test_two_variables_for_one_setting_are_a_fault_and_none_of_them_wins() -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_TICK": "5s", "TIDEGATE_tick": "hunter2"})
    assert (fault.setting, fault.problem) == (
        "TIDEGATE_tick",
        "is set together with TIDEGATE_TICK, which is the same setting",
    )
    assert "hunter" not in str(fault)


def test_a_name_that_stands_twice_in_a_variables_json_is_a_fault_that_does_not_show_it() -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_POOLS__ORDERS__ECS": '{"cluster": "a", "hunter2": 1, "hunter2": 2}'})
    assert (fault.setting, fault.problem) == ("TIDEGATE_POOLS__ORDERS__ECS", "is not JSON")
    assert "each name once" in fault.fix
    assert "hunter2" not in str(fault)


@pytest.mark.parametrize("depth", [60, 700, 100_000])
def test_json_that_is_nested_beyond_all_settings_is_a_fault_of_the_variable(depth: int) -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_POOLS__ORDERS__HOLD_ON_ALARMS": "[" * depth + "]" * depth})
    assert fault.setting == "TIDEGATE_POOLS__ORDERS__HOLD_ON_ALARMS"
    assert fault.fix == 'write JSON here, each name once, such as ["payments-5xx"]'


def test_a_wrong_value_is_named_by_the_variable_it_came_from() -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_POOLS__ORDERS__HOLD": "soon"})
    assert (fault.setting, fault.value) == ("TIDEGATE_POOLS__ORDERS__HOLD", "soon")


def test_a_wrong_value_inside_a_variables_json_is_named_by_the_variable_and_the_place() -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_POOLS__ORDERS__SCHEDULE": json.dumps([{**WINDOW, "min_workers": -1}])})
    assert fault.setting == "TIDEGATE_POOLS__ORDERS__SCHEDULE[0].min_workers"


def test_a_check_of_two_settings_names_the_variable_too() -> None:
    (fault,) = faults(PLAIN, {"TIDEGATE_POOLS__ORDERS__MIN_WORKERS": "51"})
    assert fault.setting == "TIDEGATE_POOLS__ORDERS__MIN_WORKERS"
    assert fault.problem == "is more than max_workers = 50"


@pytest.mark.parametrize("pools", [3, {"orders": 3}, {}])
def test_a_variable_for_a_table_that_the_file_has_not_does_not_hide_the_files_fault(pools: object) -> None:
    said = faults({"table": "tidegate", "pools": pools}, {"TIDEGATE_POOLS__ORDERS__MAX_WORKERS": "3"})
    assert {fault.setting for fault in said} & {"pools", "pools.orders"}
