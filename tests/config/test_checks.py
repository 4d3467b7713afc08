"""Settings checked against each other: each row is one change to settings that are right, and what is said of it."""

import tomllib
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.config.trees import GONE, PLAIN, WINDOW, Tree, changed, faults, two, warnings
from tidegate.config import checks_across
from tidegate.config.resources import Resource

EXAMPLE = Path(__file__).parents[2] / "examples" / "tidegate.toml"
ARN = "arn:aws:sqs:eu-central-1:123456789012:orders"
URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders"
VPC_URL = "https://vpce-1a2b.sqs.eu-central-1.vpce.amazonaws.com/123456789012/orders"
ALARM_ARN = "arn:aws:cloudwatch:eu-central-1:123456789012:alarm:5xx"
CLUSTER_ARN = "arn:aws:ecs:eu-central-1:123456789012:cluster/prod"
ECS_ARN = "arn:aws:ecs:eu-central-1:123456789012:service/prod/orders"
OLD_ECS_ARN = "arn:aws:ecs:eu-central-1:123456789012:service/orders"
NIGHT = {"name": "night", "start": "0 22 * * *", "end": "0 6 * * *"}
LATE = {"name": "late", "start": "0 19 * * *", "end": "0 23 * * *"}


def test_the_settings_that_all_rows_change_are_right() -> None:
    assert warnings(PLAIN) == ()
    assert warnings(two({})) == ()


@pytest.mark.parametrize(
    ("changes", "setting", "value", "problem"),
    [
        ({"min_workers": 51}, "min_workers", 51, "is more than max_workers = 50"),
        ({"queue": GONE}, "queue", "(not set)", "the pool has no queue"),
        ({"queues": ["a"]}, "queue", "orders", "is set together with queues"),
        ({"queue": GONE, "queues": ["a", "b", "a"]}, "queues[2]", "a", "is in the list twice"),
        ({"queue": GONE, "queues": [VPC_URL, ARN]}, "queues[1]", ARN, "is in the list twice"),
        ({"hold_on_alarms": ["5xx", "slow", "5xx"]}, "hold_on_alarms[2]", "5xx", "is in the list twice"),
        ({"hold_on_alarms": [ALARM_ARN, ALARM_ARN]}, "hold_on_alarms[1]", ALARM_ARN, "is in the list twice"),
        (
            {"ecs": {"cluster": "test", "service": ECS_ARN}},
            "ecs.service",
            ECS_ARN,
            "is in the cluster prod of eu-central-1, account 123456789012, and not in ecs.cluster = 'test'",
        ),
        (
            {"ecs": {"cluster": CLUSTER_ARN.replace("central", "west"), "service": ECS_ARN}},
            "ecs.service",
            ECS_ARN,
            "and not in ecs.cluster = 'arn:aws:ecs:eu-west-1:",
        ),
        (
            {"ecs": {"cluster": CLUSTER_ARN.replace("12345", "54321"), "service": OLD_ECS_ARN}},
            "ecs.service",
            OLD_ECS_ARN,
            "is in eu-central-1, account 123456789012, and not in",
        ),
        ({"ecs": GONE}, "ecs", "(not set)", "nothing to scale"),
        ({"asg": "orders"}, "asg", "orders", "is set together with ecs"),
        ({"max_slots": 3}, "max_slots", 3, "less than the 4 slots of min_workers = 1 at slots_per_worker = 4"),
        ({"max_slots": 3, "min_workers": 0}, "max_slots", 3, "less than the 4 slots of a single worker"),
        ({"max_slots": 39, "min_workers": 10}, "max_slots", 39, "less than the 40 slots of min_workers = 10"),
        ({"ramp": {"percent": 0, "workers": 0}}, "ramp", "(a table)", "adds no workers at all"),
        ({"ramp": {"workers": 0}, "min_workers": 0}, "ramp.workers", 0, "the first is never added"),
        (
            {"lease_heartbeat": 60, "visibility_timeout": 60},
            "lease_heartbeat",
            "1m",
            "not shorter than visibility_timeout",
        ),
        ({"lease_heartbeat": 90, "visibility_timeout": 60}, "lease_heartbeat", "1m30s", "leases lapse"),
        ({"schedule": [{**WINDOW, "end": "0  8 * * MON-FRI"}]}, "schedule[0].end", "0  8 * * MON-FRI", "same as start"),
        ({"schedule": [{**WINDOW, "min_workers": 51}]}, "schedule[0].min_workers", 51, "the pool's max_workers = 50"),
        (
            {"schedule": [{**WINDOW, "min_workers": 9, "max_workers": 8}]},
            "schedule[0].min_workers",
            9,
            "is more than max_workers = 8",
        ),
        (
            {"min_workers": 5, "schedule": [{**WINDOW, "max_workers": 4}]},
            "schedule[0].max_workers",
            4,
            "is less than the pool's min_workers = 5",
        ),
        (
            {"max_slots": 39, "schedule": [{**WINDOW, "min_workers": 10}]},
            "schedule[0].min_workers",
            10,
            "needs 40 slots at slots_per_worker = 4, max_slots is 39",
        ),
        (
            {"schedule": [{**WINDOW, "min_workers": 9}, {**LATE, "max_workers": 8}]},
            "schedule[0].min_workers",
            9,
            "more than max_workers = 8 of the window 'late'",
        ),
        (
            {"schedule": [{**LATE, "max_workers": 8}, {**WINDOW, "min_workers": 9}]},
            "schedule[1].min_workers",
            9,
            "more than max_workers = 8 of the window 'late'",
        ),
        (
            {"schedule": [{**WINDOW, "min_workers": 2}, {**LATE, "name": "office", "min_workers": 3}]},
            "schedule[1].name",
            "office",
            "is the name of another window",
        ),
    ],
)
def test_a_pool_that_contradicts_itself_is_refused(
    changes: dict[str, Any], setting: str, value: object, problem: str
) -> None:
    (fault,) = faults(changed(changes))
    assert fault.setting == f"pools.orders.{setting}"
    assert fault.value == value or repr(fault.value) == value
    assert problem in fault.problem
    assert fault.fix


@pytest.mark.parametrize(
    "changes",
    [
        {"min_workers": 50},
        {"min_workers": 0},
        {"max_slots": 4},
        {"max_slots": 4, "min_workers": 0},
        {"ramp": {"percent": 0, "workers": 1}},
        {"ramp": {"percent": 10, "workers": 0}},
        {"hold": "45s", "start_up_hint": "45s"},
        {"target_wait": "10s", "start_up_hint": "10s"},
        {"lease_heartbeat": 30, "visibility_timeout": 60},
        {"lease_heartbeat": 31},
        {"queue": GONE, "queues": [ARN, ARN.replace("central", "west")]},
        {"hold_on_alarms": [ALARM_ARN, ALARM_ARN.replace("central", "west"), "slow"]},
        {"ecs": {"cluster": "prod", "service": ECS_ARN}},
        {"ecs": {"cluster": "prod", "service": OLD_ECS_ARN}},
        {"ecs": {"cluster": CLUSTER_ARN, "service": ECS_ARN}},
        {"ecs": {"cluster": CLUSTER_ARN, "service": "orders"}},
        {"visibility_timeout": 60},
        {"stop_timeout": "30s", "service_time_hint": "30s"},
        {"schedule": [{**WINDOW, "min_workers": 60, "max_workers": 80}]},
        {"min_workers": 5, "schedule": [{**WINDOW, "min_workers": 0, "max_workers": 4}]},
        {"max_slots": 40, "schedule": [{**WINDOW, "min_workers": 10}]},
        {"schedule": [{**WINDOW, "min_workers": 50}]},
        {"min_workers": 5, "schedule": [{**WINDOW, "max_workers": 5}]},
        {"schedule": [{**WINDOW, "min_workers": 8}, {**LATE, "max_workers": 8}]},
        # the same limits as in a row above, in windows that never meet
        {"schedule": [{**WINDOW, "min_workers": 9}, {**NIGHT, "max_workers": 8}]},
        # and in windows that meet, where the highest maximum is high enough
        {"schedule": [{**WINDOW, "min_workers": 9, "max_workers": 50}, {**LATE, "max_workers": 8}]},
    ],
)
def test_the_nearest_settings_that_make_sense_are_taken_without_a_warning(changes: dict[str, Any]) -> None:
    assert warnings(changed(changes)) == ()


@pytest.mark.parametrize(
    ("changes", "setting", "problem"),
    [
        ({"hold": "44s", "start_up_hint": "45s"}, "pools.orders.hold", "shorter than start_up_hint = 45s"),
        ({"target_wait": "30s", "start_up_hint": "45s"}, "pools.orders.target_wait", "a burst above the capacity"),
        ({"target_wait": "9s"}, "pools.orders.target_wait", "is shorter than tick = 10s"),
        ({"lease_heartbeat": 31, "visibility_timeout": 60}, "pools.orders.lease_heartbeat", "is more than half of"),
        ({"queue": GONE, "queues": [ARN, "orders"]}, "pools.orders.queues[1]", "may be in the list twice"),
        ({"hold_on_alarms": [ALARM_ARN, "5xx"]}, "pools.orders.hold_on_alarms[1]", "may be in the list twice"),
        ({"service_time_hint": "31s"}, "pools.orders.stop_timeout", "not scaled in while any is busy, and deployments"),
        ({"schedule": [WINDOW]}, "pools.orders.schedule[0].name", "changes neither limit"),
        ({".table": GONE}, "table", "what was learned is lost at a restart"),
    ],
)
def test_what_can_be_obeyed_but_is_hardly_meant_is_a_warning(
    changes: dict[str, Any], setting: str, problem: str
) -> None:
    (warning,) = warnings(changed(changes))
    assert warning.setting == setting
    assert problem in warning.problem
    assert warning.fix


def test_table_and_state_dir_together_are_refused_and_one_of_them_is_enough() -> None:
    (fault,) = faults(changed({".state_dir": "state"}))
    assert (fault.setting, fault.problem) == ("state_dir", "is set together with table")
    assert warnings(changed({".state_dir": "state", ".table": GONE})) == ()


@pytest.mark.parametrize(
    ("tree", "setting"),
    [
        (two({"ecs": {"cluster": "prod", "service": "orders"}}), "pools.returns.ecs"),
        (
            two({"ecs": {"cluster": "prod", "service": "arn:aws:ecs:eu-central-1:123456789012:service/prod/orders"}}),
            "pools.returns.ecs",
        ),
        (
            two({"ecs": {"cluster": "arn:aws:ecs:eu-west-1:123456789012:cluster/prod", "service": "orders"}}),
            "pools.returns.ecs",
        ),
        (
            two(
                {"ecs": {"cluster": "prod", "service": ECS_ARN}},
                {"ecs": {"cluster": CLUSTER_ARN, "service": "orders"}},
                region="eu-west-1",
            ),
            "pools.returns.ecs",
        ),
        (two({"ecs": GONE, "asg": "g"}, {"ecs": GONE, "asg": "g"}), "pools.returns.asg"),
    ],
)
def test_two_pools_on_one_service_or_group_are_refused_and_both_named(tree: Tree, setting: str) -> None:
    (fault,) = faults(tree)
    assert fault.setting == setting
    assert "'orders'" in fault.problem
    assert "'returns'" in fault.problem


@pytest.mark.parametrize(
    "tree",
    [
        two({"ecs": {"cluster": "test", "service": "orders"}}),
        two(
            {"ecs": {"cluster": "prod", "service": "arn:aws:ecs:eu-west-1:123456789012:service/prod/orders"}},
            region="eu-central-1",
        ),
        two({"ecs": GONE, "asg": "orders"}),
    ],
)
def test_two_pools_on_different_services_are_no_fault(tree: Tree) -> None:
    assert warnings(tree) == ()


@pytest.mark.parametrize(
    "tree",
    [
        two({"queue": "orders"}),
        two({"queue": URL}, {"queue": ARN}),
        two({"queue": VPC_URL}, {"queue": ARN}),
        two({"queue": VPC_URL}, {"queue": URL}),
        two({"queue": GONE, "queues": ["returns", "orders"]}),
        two({"queue": "mail"}, {"queue": GONE, "queues": ["orders", "mail"]}),
    ],
)
def test_two_pools_on_one_queue_are_refused(tree: Tree) -> None:
    (fault,) = faults(tree)
    assert fault.setting in {"pools.returns.queue", "pools.returns.queues"}
    assert "is the queue of the pool 'orders' too" in fault.problem
    assert fault.fix == "make them one pool"


@pytest.mark.parametrize("queue", [ARN, URL, ARN.replace("central", "west")])
def test_two_pools_that_may_be_on_one_queue_are_warned_of(queue: str) -> None:
    (warning,) = warnings(two({"queue": queue}))
    assert warning.setting == "pools.returns.queue"
    assert "may be" in warning.problem


@pytest.mark.parametrize(
    "tree",
    [
        two({"queue": ARN.replace("central", "west")}, {"queue": ARN}),
        two({"queue": ARN.replace("123456789012", "210987654321")}, {"queue": URL}),
        two({"queue": ARN}, region="eu-west-1"),
    ],
)
def test_queues_of_one_name_in_other_accounts_or_regions_are_different(tree: Tree) -> None:
    assert warnings(tree) == ()


MANY = 2_000


def many(**common: Any) -> Tree:
    """Pools on queues and services of their own, but for what they have in common."""
    tree = changed({})
    plain = tree["pools"]["orders"]
    tree["pools"] = {
        f"p{n}": {**plain, "queue": f"q{n}", "ecs": {"cluster": "prod", "service": f"s{n}"}, **common}
        for n in range(MANY)
    }
    return tree


def test_the_work_of_comparing_pools_grows_with_their_number_and_not_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def counted(name: str, call: Callable[..., Resource]) -> Callable[..., Resource]:
        def counting(*given: Any) -> Resource:
            calls[name] += 1
            return call(*given)

        return counting

    calls: Counter[str] = Counter()
    for name in ("queue_of", "service_of"):
        monkeypatch.setattr(checks_across, name, counted(name, getattr(checks_across, name)))

    assert warnings(many()) == ()
    assert calls == {"queue_of": MANY, "service_of": MANY}


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "common", [{"queue": "orders"}, {"ecs": {"cluster": "prod", "service": "orders"}}, {"queue": "no queue"}]
)
def test_thousands_of_pools_with_one_fault_each_have_one_line_each(common: dict[str, Any]) -> None:
    found = faults(many(**common))

    assert len({fault.setting for fault in found}) == len(found)
    assert MANY - 1 <= len(found) <= MANY


def test_a_clash_that_is_sure_is_told_before_one_that_may_be() -> None:
    tree = two({"queue": URL}, {"queue": "orders"})
    tree["pools"]["bills"] = {**tree["pools"]["returns"], "ecs": {"cluster": "prod", "service": "bills"}, "queue": ARN}
    (fault,) = faults(tree)
    assert fault.setting == "pools.bills.queue"
    assert "is the queue of the pool 'returns' too" in fault.problem


@pytest.mark.parametrize("name", ["Orders", "ORDERS"])
def test_pools_that_a_variable_cannot_tell_apart_are_refused_whatever_else_is_wrong(name: str) -> None:
    tree = two({"target_wait": "soon"})
    tree["pools"][name] = tree["pools"].pop("returns")
    said = {fault.setting: fault for fault in faults(tree)}
    assert said.keys() == {f"pools.{name}", f"pools.{name}.target_wait"}
    assert "'orders'" in said[f"pools.{name}"].problem


@pytest.mark.parametrize("name", ["", "a b", "a__b", "-a", "a.", "ä", "a" * 65, "a\nb", "../x", "x/y"])
def test_a_pool_name_that_variables_files_and_logs_could_not_carry_is_refused(name: str) -> None:
    tree = changed({})
    tree["pools"] = {name: tree["pools"]["orders"]}
    (fault,) = faults(tree)
    assert fault.problem == "is no name for a pool"
    assert "\n" not in str(fault)


def _settings_of(tree: Tree, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    here: Any = tree
    for part in at:
        here = here[part]
    if isinstance(here, dict):
        return [found for key in here for found in ((*at, key), *_settings_of(tree, (*at, key)))]
    if isinstance(here, list) and here and isinstance(here[0], dict):
        return [found for place in range(len(here)) for found in _settings_of(tree, (*at, place))]
    return []


EXAMPLE_TREE = tomllib.loads(EXAMPLE.read_text())


@pytest.mark.parametrize("at", _settings_of(EXAMPLE_TREE), ids=lambda at: ".".join(map(str, at)))
def test_one_setting_that_cannot_be_read_is_one_fault_and_makes_no_others(at: tuple[Any, ...]) -> None:
    """A stand-in takes its place in the checks; no check may speak of what nobody wrote."""
    tree = deepcopy(EXAMPLE_TREE)
    here: Any = tree
    for part in at[:-1]:
        here = here[part]
    here[at[-1]] = [[]] if at[-1] != "queues" else 7
    assert len(faults(tree)) == 1


SAME_GROUP: dict[str, Any] = {"ecs": GONE, "asg": "g"}


@pytest.mark.parametrize(
    ("tree", "broken"),
    [
        (changed({"min_workers": 60}), "max_workers"),
        (changed({"max_slots": 3}), "slots_per_worker"),
        (changed({"max_slots": 39, "min_workers": 10}), "min_workers"),
        (changed({"lease_heartbeat": 90, "visibility_timeout": 60}), "visibility_timeout"),
        (changed({"schedule": [{**WINDOW, "min_workers": 51}]}), "max_workers"),
        (changed({"min_workers": 5, "schedule": [{**WINDOW, "max_workers": 4}]}), "min_workers"),
        (changed({"max_slots": 39, "schedule": [{**WINDOW, "min_workers": 10}]}), "max_slots"),
        (changed({"max_slots": 39, "schedule": [{**WINDOW, "min_workers": 10}]}), "slots_per_worker"),
        (changed({".state_dir": "state"}), ".table"),
        (two({"queue": "orders"}), ".region"),
        (two({"queue": "orders"}), "queue"),
        (two({"ecs": {"cluster": "prod", "service": "orders"}}), "ecs"),
        (two({"ecs": {"cluster": "prod", "service": "orders"}}), "pools.returns.ecs.cluster"),
        (two({"ecs": {"cluster": "prod", "service": "orders"}}), "pools.orders.ecs.cluster"),
        (two(SAME_GROUP, SAME_GROUP), "asg"),
    ],
)
def test_a_fault_that_rests_on_an_unreadable_setting_waits_until_that_is_mended(tree: Tree, broken: str) -> None:
    said = faults(tree)
    (only,) = faults(changed({broken: [[]]}, tree))
    assert only.setting == (broken.removeprefix(".") if "." in broken else f"pools.orders.{broken}")
    assert only not in said


def test_two_windows_are_not_compared_while_one_of_them_is_unreadable() -> None:
    """`start` of the second is one that would meet the first if its stand-in were taken at its word."""
    tree = changed({"schedule": [{**WINDOW, "min_workers": 9}, {**NIGHT, "max_workers": 8, "start": "soon"}]})
    (fault,) = faults(tree)
    assert fault.setting == "pools.orders.schedule[1].start"


def test_a_window_is_not_judged_by_a_limit_of_its_own_that_is_unreadable() -> None:
    (fault,) = faults(changed({"schedule": [{**WINDOW, "min_workers": 60, "max_workers": "eighty"}]}))
    assert fault.setting == "pools.orders.schedule[0].max_workers"


def test_a_service_and_a_group_of_one_name_are_two_things() -> None:
    assert warnings(two({"ecs": GONE, "asg": "orders"})) == ()
    assert warnings(two({}, {"ecs": GONE, "asg": "orders"})) == ()


@pytest.mark.timeout(20)
def test_dozens_of_windows_that_clash_are_told_once_each_in_no_time() -> None:
    high = [{**WINDOW, "name": f"high {n}", "min_workers": 9} for n in range(40)]
    low = [{**WINDOW, "name": f"low {n}", "max_workers": 3} for n in range(40)]

    found = faults(changed({"schedule": high + low}))

    assert [fault.setting for fault in found] == [f"pools.orders.schedule[{n}].min_workers" for n in range(40)]
    assert all("of the window 'low 0'" in fault.problem for fault in found)
