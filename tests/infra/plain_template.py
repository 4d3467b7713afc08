"""The CloudFormation template that is generated from the CDK example, read for what matters here."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.infra.iam_logic import listed

TEMPLATE = Path(__file__).parents[2] / "infra" / "cloudformation" / "tidegate.template.json"

Properties = Mapping[str, Any]


def of_type(kind: str) -> list[Properties]:
    """The properties of every resource of the type AWS::KIND."""
    resources = json.loads(TEMPLATE.read_text())["Resources"].values()
    return [one["Properties"] for one in resources if one["Type"] == f"AWS::{kind}"]


def types() -> set[str]:
    """Every type of resource in it."""
    return {one["Type"] for one in json.loads(TEMPLATE.read_text())["Resources"].values()}


def the(kind: str, **properties: str) -> Properties:
    """The one resource of that type with these properties."""
    (found,) = [one for one in of_type(kind) if all(one.get(key) == value for key, value in properties.items())]
    return found


def permissions(statements: Iterable[Properties]) -> dict[str, Any]:
    """Actions and conditions by Sid, whichever way a policy may write them."""
    return {one["Sid"]: (sorted(listed(one["Action"])), one.get("Condition")) for one in statements}
