"""The CloudFormation templates that are generated from the CDK examples, read for what matters here."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.infra.iam_logic import listed

_FOLDER = Path(__file__).parents[2] / "infra" / "cloudformation"

Properties = Mapping[str, Any]


@dataclass(frozen=True)
class PlainTemplate:
    """One of them; types are without their AWS::, references in texts in angle brackets."""

    path: Path

    def of_type(self, kind: str) -> list[Properties]:
        """The properties of every resource of the type AWS::KIND."""
        return [one["Properties"] for one in self._by_id().values() if one["Type"] == f"AWS::{kind}"]

    def kinds(self) -> dict[str, str]:
        """The type of each resource, in full, by its logical id."""
        return {logical: one["Type"] for logical, one in self._by_id().items()}

    def the(self, kind: str, **properties: str) -> Properties:
        """The one resource of that type with these properties."""
        (found,) = [
            one for one in self.of_type(kind) if all(one.get(key) == value for key, value in properties.items())
        ]
        return found

    def _by_id(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_text())["Resources"]
        return found


FUNCTION = PlainTemplate(_FOLDER / "tidegate.template.json")
"""The controller as a function, with a pool."""
TASK = PlainTemplate(_FOLDER / "tidegate-ecs.template.json")
"""The same with the controller as a task."""


def permissions(statements: Iterable[Properties]) -> dict[str, Any]:
    """Actions and conditions by Sid, whichever way a policy may write them."""
    return {one["Sid"]: (sorted(listed(one["Action"])), one.get("Condition")) for one in statements}


def text(value: Any) -> str:
    """A value with its references in angle brackets, joined."""
    if not isinstance(value, dict):
        return str(value)
    ((function, arguments),) = value.items()
    if function == "Fn::Join":
        return str(arguments[0]).join(text(one) for one in arguments[1])
    return f"<{arguments if function == 'Ref' else '.'.join(arguments)}>"
