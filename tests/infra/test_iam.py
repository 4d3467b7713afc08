"""The IAM policies allow exactly the calls that the code makes, and `*` only where IAM has no resource type."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
AWS = ROOT / "src" / "tidegate" / "aws"

ACTIONS = {
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
}
"""Batch calls are allowed by the action of the single call:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html"""

SET_UP = {"dynamodb:CreateTable", "dynamodb:UpdateTimeToLive"}
"""Made once by whoever installs tidegate, not by the controller."""

WITHOUT_RESOURCE_TYPE = {
    "cloudwatch:GetMetricData",
    "autoscaling:DescribeAutoScalingGroups",
    "autoscaling:DescribeInstanceRefreshes",
}
"""https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2autoscaling.html"""


def statements(name: str) -> list[dict[str, Any]]:
    policy = json.loads((ROOT / "infra" / "iam" / f"{name}.json").read_text())
    found: list[dict[str, Any]] = policy["Statement"]
    return found


def listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def allowed(name: str) -> list[str]:
    return sorted(action for statement in statements(name) for action in listed(statement["Action"]))


def called(*modules: str) -> set[str]:
    """Every "service:Operation" that the modules name, which is how each call is labelled for its errors."""
    constants = (
        node.value
        for module in modules
        for node in ast.walk(ast.parse((AWS / f"{module}.py").read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    operation = re.compile(r"(sqs|ecs|autoscaling|cloudwatch|dynamodb):[A-Z]\w+")
    names = {name for name in constants if operation.fullmatch(name)} - SET_UP
    return {ACTIONS.get(name, name) for name in names}


@pytest.mark.parametrize(
    ("name", "modules"),
    [("controller", ("sqs", "cloudwatch", "ecs", "asg", "dynamodb")), ("worker", ("work_queue", "heartbeats"))],
)
def test_a_policy_allows_what_is_called_and_nothing_else(name: str, modules: tuple[str, ...]) -> None:
    assert allowed(name) == sorted(called(*modules))


@pytest.mark.parametrize("name", ["controller", "worker"])
def test_a_star_stands_only_where_iam_has_no_resource_type(name: str) -> None:
    for statement in statements(name):
        actions = set(listed(statement["Action"]))
        assert (statement["Resource"] == "*") == (actions <= WITHOUT_RESOURCE_TYPE)
        assert not any("*" in action for action in actions)
