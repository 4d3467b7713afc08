"""What is held against each other: Terraform's plans, and the template that is generated from the CDK example."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.infra.plain_template import permissions
from tests.infra.terraform import evaluated

ACCOUNT = "us-east-1:123456789012"
SERVICE = {
    "cluster_arn": f"arn:aws:ecs:{ACCOUNT}:cluster/prod",
    "service_arn": f"arn:aws:ecs:{ACCOUNT}:service/prod/orders",
}
CONTROLLER = {
    "package_s3": {"bucket": "artifacts", "key": "tidegate.zip"},
    "pools": {
        "orders": {
            "settings": "{}",
            "queue_arn": f"arn:aws:sqs:{ACCOUNT}:orders",
            "service_arn": SERVICE["service_arn"],
        }
    },
}
POOL = {
    "name": "orders",
    "table_arn": f"arn:aws:dynamodb:{ACCOUNT}:table/tidegate",
    "target_wait": "30s",
    "max_workers": 20,
    "slots_per_worker": 4,
    "ecs": SERVICE,
    "alarm_actions": [f"arn:aws:sns:{ACCOUNT}:ops"],
}
"""As the example app has it, whose template is compared."""


def allowed(folder: Path, statements: str, variables: dict[str, Any], into: Path) -> dict[str, Any]:
    """What those statements of the Terraform module allow."""
    known = "{ Sid = one.Sid, Action = one.Action, Condition = try(one.Condition, null) }"
    return permissions(evaluated(folder, f"[for one in {statements} : {known}]", variables, into))


def resources(plan: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The values of every resource of that type in the plan, of the root module and those below it, as far as they are
    known before it is applied."""

    def below(module: dict[str, Any]) -> list[dict[str, Any]]:
        return [
            *module.get("resources", []),
            *(one for child in module.get("child_modules", []) for one in below(child)),
        ]

    return [one.get("values", {}) for one in below(plan["planned_values"]["root_module"]) if one["type"] == kind]


def trust(document: dict[str, Any]) -> tuple[str, list[str]]:
    """Which service may take on the role, and by which keys that is bound."""
    (statement,) = document["Statement"]
    return statement["Principal"]["Service"], [*statement["Condition"]["StringEquals"]]


def by_name(pairs: Iterable[dict[str, str]]) -> dict[str, str]:
    """CloudFormation's lists of Name and Value as a mapping."""
    return {one["Name"]: one["Value"] for one in pairs}
