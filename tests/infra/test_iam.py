"""The IAM policies allow exactly the calls that the code makes, on nothing more than they need.

The calls are those that botocore really sent, see `recorded_calls`.
"""

import ast
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest

from tests.infra.iam_logic import ACTIONS, BY_THE_AGENT, KMS_ACTIONS, denied, holds, listed
from tests.infra.recorded_calls import (
    CONTROLLER,
    NAMESPACE,
    POOL,
    WORKER,
    Call,
    Exercises,
    Recorder,
    controller_calls,
    source_of,
    worker_calls,
)

pytestmark = pytest.mark.integration

IAM = Path(__file__).parents[2] / "infra" / "iam"

WITHOUT_RESOURCE_TYPE = {
    "cloudwatch:GetMetricData",
    "cloudwatch:PutMetricData",
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeInstanceRefreshes",
}
"""https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2autoscaling.html"""

Recorded = tuple[Recorder, Exercises]


@pytest.fixture(scope="module")
def controller() -> tuple[Recorder, Exercises, Recorder]:
    return controller_calls()


@pytest.fixture(scope="module")
def worker() -> Recorded:
    return worker_calls()


@pytest.fixture(params=["controller", "worker"])
def role(request: pytest.FixtureRequest) -> tuple[str, Recorder, Exercises, dict[ModuleType, str]]:
    """(name, calls, what made them, modules) of each role."""
    recorded = request.getfixturevalue(request.param)
    modules = {"controller": CONTROLLER, "worker": WORKER}[request.param]
    return request.param, recorded[0], recorded[1], modules


Role = tuple[str, Recorder, Exercises, dict[ModuleType, str]]


def statements(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((IAM / f"{name}.json").read_text())["Statement"]
    return found


def written(module: ModuleType, service: str) -> set[str]:
    """Every operation that the module's text calls on a client, by a method of the client or by a paginator."""
    # `Any`: the stubs have one overload per service name, and here the name is a variable.
    make: Any = boto3.client
    operations: Mapping[str, str] = make(service, region_name="eu-west-1").meta.method_to_api_mapping
    names: set[str] = set()
    for node in ast.walk(ast.parse(source_of(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            names.add(node.func.attr)
            if node.func.attr == "get_paginator" and isinstance(node.args[0], ast.Constant):
                names.add(str(node.args[0].value))
    return {f"{service}:{operations[name]}" for name in names if name in operations}


def test_every_public_method_of_every_adapter_is_exercised(role: Role) -> None:
    _, _, exercises, modules = role
    adapters = {
        value: {
            name
            for kind in value.__mro__[:-1]
            if kind.__module__.startswith("tidegate.aws.")
            for name, member in vars(kind).items()
            if not name.startswith("_") and (callable(member) or isinstance(member, classmethod))
        }
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and not value.__name__.startswith("_")
    }
    assert {adapter: set(methods) for adapter, methods in exercises.items()} == adapters


def test_every_call_that_stands_in_the_adapters_was_made(
    role: Role, controller: tuple[Recorder, Exercises, Recorder]
) -> None:
    name, recorder, _, modules = role
    in_text = set().union(*(written(module, service) for module, service in modules.items()))
    set_up = controller[2].operations if name == "controller" else set()
    assert recorder.operations | (set_up & in_text) == in_text


def test_every_error_names_the_operation_that_was_really_called(
    role: Role, controller: tuple[Recorder, Exercises, Recorder]
) -> None:
    calls = [*role[1].calls, *controller[2].calls]
    assert [(call.label, call.operation) for call in calls if call.label != call.operation] == []


def test_a_policy_allows_what_is_called_and_nothing_else(role: Role) -> None:
    name, recorder, _, _ = role
    allowed = {action for statement in statements(name) for action in listed(statement["Action"])}
    called = {ACTIONS.get(operation, operation) for operation in recorder.operations}
    assert sorted(allowed) == sorted(called | BY_THE_AGENT.get(name, set()))


STATEMENTS = [(name, one["Sid"]) for name in ("controller", "worker") for one in statements(name)]


@pytest.mark.parametrize(("name", "sid"), STATEMENTS, ids=[f"{name}-{sid}" for name, sid in STATEMENTS])
def test_without_this_statement_something_is_denied(name: str, sid: str, request: pytest.FixtureRequest) -> None:
    """And with all of them nothing is: the policy is the least that the recorded calls need."""
    recorded: Recorder = request.getfixturevalue(name)[0]
    agents = [Call(action, action, {}) for action in BY_THE_AGENT.get(name, set())]
    calls, whole = [*recorded.calls, *agents], statements(name)
    (without,) = [one for one in whole if one["Sid"] == sid]

    assert denied(calls, whole) == set()
    lost = denied(calls, [one for one in whole if one["Sid"] != sid])
    assert lost != set()
    assert lost <= set(listed(without["Action"]))


def test_a_key_of_ones_own_may_be_used_for_what_workers_do_with_messages_and_nothing_else(worker: Recorded) -> None:
    needed = set().union(*(KMS_ACTIONS.get(ACTIONS.get(name, name), set()) for name in worker[0].operations))
    (statement,) = statements("worker-kms")
    assert set(listed(statement["Action"])) == needed
    assert statement["Condition"] == {"StringEquals": {"kms:ViaService": "sqs.REGION.amazonaws.com"}}


@pytest.mark.parametrize("name", ["controller", "worker"])
def test_a_star_stands_only_where_iam_has_no_resource_type(name: str) -> None:
    for statement in statements(name):
        actions = set(listed(statement["Action"]))
        assert (statement["Resource"] == "*") == (actions <= WITHOUT_RESOURCE_TYPE)
        assert not any("*" in action for action in actions)


def allows(name: str, action: str, leading_keys: Sequence[str] | None) -> bool:
    """Whether the role may do this under these partition keys; None: the request has no such key in its context."""
    context = {} if leading_keys is None else {"dynamodb:LeadingKeys": leading_keys}
    return any(
        f"dynamodb:{action}" in listed(statement["Action"])
        and holds(json.loads(json.dumps(statement.get("Condition", {})).replace("POOL", POOL)), context)
        for statement in statements(name)
    )


def partition_keys(calls: Sequence[Call]) -> set[str]:
    """Of every item that was written whole: what IAM calls the leading key."""
    return {call.parameters["Item"]["pk"]["S"] for call in calls if call.operation == "dynamodb:PutItem"}


def keys_of(recorded: Recorded, action: str) -> list[str]:
    """The partition keys of the items that such calls were about."""
    calls = [call for call in recorded[0].calls if call.operation == f"dynamodb:{action}"]
    return sorted({call.parameters["Key"]["pk"]["S"] for call in calls})


def test_a_workers_role_may_write_reports_and_nothing_of_the_controllers(
    controller: tuple[Recorder, Exercises, Recorder], worker: Recorded
) -> None:
    """https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html"""
    (permits_key, report_key), controllers = (
        sorted(partition_keys(worker[0].calls)),
        partition_keys(controller[0].calls),
    )
    assert permits_key.endswith("#permits")
    assert len(controllers) == 2
    assert allows("worker", "PutItem", [report_key])
    assert not allows("worker", "PutItem", [report_key.replace(POOL, "post")])
    for key in controllers:  # the state, the directive
        assert not allows("worker", "PutItem", [key])
        assert not allows("worker", "PutItem", [report_key, key])
        assert allows("controller", "PutItem", [key])


def test_a_workers_role_may_read_the_directive_of_its_pool_and_nothing_else(worker: Recorded) -> None:
    read, note, permits = keys_of(worker, "GetItem")
    assert note.endswith("#messages")
    assert permits.endswith("#permits")
    assert allows("worker", "GetItem", [read])
    assert not allows("worker", "GetItem", [f"pool#{POOL}"])
    assert not allows("worker", "GetItem", [read.replace(POOL, "post")])
    assert not allows("worker", "GetItem", None)


def test_a_workers_role_may_note_what_becomes_of_messages_of_its_pool(worker: Recorded) -> None:
    (note,) = keys_of(worker, "UpdateItem")
    assert allows("worker", "UpdateItem", [note])
    assert allows("worker", "GetItem", [note])
    assert not allows("worker", "UpdateItem", [f"pool#{POOL}"])
    assert not allows("worker", "UpdateItem", [note.replace(POOL, "post")])
    assert not allows("worker", "UpdateItem", None)


def test_a_workers_role_may_hold_permits_of_its_pool(worker: Recorded) -> None:
    (permits,) = partition_keys(worker[0].calls) & set(keys_of(worker, "GetItem"))
    for action in ("GetItem", "PutItem"):
        assert allows("worker", action, [permits])
        assert not allows("worker", action, [permits.replace(POOL, "post")])
    assert not allows("worker", "UpdateItem", [permits])


@pytest.mark.parametrize(("namespace", "allowed"), [(NAMESPACE, True), ("AWS/SQS", False), ("billing", False)])
def test_metrics_may_be_published_into_one_namespace_only(namespace: str, allowed: bool) -> None:
    """https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/iam-cw-condition-keys-namespace.html"""
    (statement,) = [one for one in statements("controller") if "cloudwatch:PutMetricData" in listed(one["Action"])]
    condition = json.loads(json.dumps(statement["Condition"]).replace("NAMESPACE", NAMESPACE))
    assert holds(condition, {"cloudwatch:namespace": [namespace]}) is allowed


def test_a_workers_role_may_write_nothing_when_the_request_tells_no_key() -> None:
    """ForAllValues alone would let it: it holds for no values at all."""
    assert not allows("worker", "PutItem", None)
