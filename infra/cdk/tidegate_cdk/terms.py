"""What the controller needs to know of a pool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import Duration, Fn, Token


@dataclass(frozen=True)
class PoolTerms:
    """`settings` as docs/configuration.md has them, of `[pools.NAME]`; the ARNs and the group are what it may touch.

    Of `service_arn` and `group_arn` exactly one is set.
    """

    name: str
    settings: Mapping[str, Any]
    queue_arn: str
    service_arn: str | None = None
    group_arn: str | None = None


def as_text(duration: Duration) -> str:
    """The duration as the settings write it, such as "30s"; also one that is known at deployment only."""
    seconds = duration.to_seconds()
    return Fn.join("", [Token.as_string(seconds), "s"]) if Token.is_unresolved(seconds) else f"{seconds:g}s"
