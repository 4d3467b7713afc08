"""Findings of cdk-nag that are not followed, each with its reason. The package itself does not need cdk-nag."""

from collections.abc import Iterable
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import Construct

ANY_GROUP_ID = "A group's ARN has an id in it that nobody knows beforehand; the group's name is spelt out."


def acknowledge(construct: Construct, rule: str, reason: str) -> None:
    """Note why this rule is not followed here."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))


def acknowledge_wildcards(construct: Construct, resources: Iterable[str], reason: str) -> None:
    """Note why a policy holds these resources, which end in or have a `*`."""
    stack = Stack.of(construct)
    for resource in resources:
        acknowledge(construct, f"AwsSolutions-IAM5[Resource::{_flat(stack.resolve(resource))}]", reason)


def _flat(value: Any) -> str:
    """A resource as cdk-nag writes it: references in angle brackets."""
    if isinstance(value, str):
        return value
    ((function, arguments),) = value.items()
    if function == "Fn::Join":
        return str(arguments[0]).join(_flat(one) for one in arguments[1])
    return f"<{arguments if function == 'Ref' else '.'.join(map(str, arguments))}>"
