"""IAM's decision on a recorded call, as far as these policies need it: the action, and the conditions on its keys."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tests.infra.recorded_calls import NAMESPACE, POOL, Call

ACTIONS = {
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
"""Batch calls are allowed by the action of the single call:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html"""

KMS_ACTIONS = {
    "sqs:ReceiveMessage": {"kms:Decrypt"},
    "sqs:SendMessage": {"kms:Decrypt", "kms:GenerateDataKey"},
}
"""What SQS does with a queue's own key on behalf of the caller:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html"""

BY_THE_AGENT = {"worker": {"ecs:GetTaskProtection", "ecs:UpdateTaskProtection"}}
"""What the container agent calls with the task's role, on the worker's word:
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-scale-in-protection-endpoint.html"""

Statement = Mapping[str, Any]


def listed(value: str | list[str]) -> list[str]:
    """A policy may write one thing without its list."""
    return [value] if isinstance(value, str) else value


def holds(conditions: Mapping[str, Mapping[str, Any]], context: Mapping[str, Sequence[str]]) -> bool:
    """IAM's logic for the operators that the policies use: all must hold; ForAllValues holds for a key that is absent.

    https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
    """
    operators: dict[str, Callable[[Sequence[str] | None, list[str]], bool]] = {
        "ForAllValues:StringEquals": lambda values, wanted: all(value in wanted for value in values or ()),
        "StringEquals": lambda values, wanted: bool(values) and all(value in wanted for value in values or ()),
        "Null": lambda values, wanted: (values is None) == (wanted == ["true"]),
    }
    return all(
        operators[operator](context.get(key), listed(wanted))
        for operator, keys in conditions.items()
        for key, wanted in keys.items()
    )


def denied(calls: Iterable[Call], statements: Sequence[Statement]) -> set[str]:
    """The actions of those calls that no statement allows."""
    return {_action(call) for call in calls if not any(_allows(one, call) for one in statements)}


def _allows(statement: Statement, call: Call) -> bool:
    conditions = json.dumps(statement.get("Condition", {})).replace("POOL", POOL).replace("NAMESPACE", NAMESPACE)
    return _action(call) in listed(statement["Action"]) and holds(json.loads(conditions), _context(call))


def _action(call: Call) -> str:
    return ACTIONS.get(call.operation, call.operation)


def _context(call: Call) -> dict[str, list[str]]:
    """The condition keys that AWS fills in for such a call."""
    context: dict[str, list[str]] = {}
    item = call.parameters.get("Item") or call.parameters.get("Key")
    if call.operation.startswith("dynamodb:") and isinstance(item, Mapping):
        context["dynamodb:LeadingKeys"] = [item["pk"]["S"]]
    if "Namespace" in call.parameters:
        context["cloudwatch:namespace"] = [call.parameters["Namespace"]]
    return context
