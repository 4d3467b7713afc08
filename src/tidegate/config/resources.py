"""What a queue, service, group or table is called, and whether two such names are one resource."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tidegate.config.values import refuse
from tidegate.core.notation.arns import Arn, parse_arn
from tidegate.core.notation.local_path import not_local
from tidegate.core.notation.queues import QUEUE_FIX, parse_queue

__all__ = [
    "Match",
    "Resource",
    "alarm_of",
    "cluster_in",
    "cluster_of",
    "queue_of",
    "read_alarm",
    "read_cluster",
    "read_group",
    "read_namespace",
    "read_path",
    "read_queue",
    "read_region",
    "read_service",
    "read_table",
    "service_of",
]

_REGION: Final = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}")
_TABLE: Final = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
"""https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html"""
_NAMESPACE: Final = re.compile(r"[A-Za-z0-9._/#:-]{1,255}", re.ASCII)
_ECS: Final = re.compile(r"[A-Za-z0-9_-]{1,255}", re.ASCII)
"""https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_CreateService.html"""


class Match(StrEnum):
    """Whether two resources are one. MAYBE: the names are the same, and only one side says where it is."""

    YES = "yes"
    MAYBE = "maybe"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Resource:
    """A name and, as far as they are known, the Region and account that it is in."""

    name: str
    region: str | None = None
    account: str | None = None

    def match(self, other: "Resource") -> Match:
        """Whether the other one is this one, as far as the two say."""
        if self.name != other.name:
            return Match.NO
        pairs = ((self.region, other.region), (self.account, other.account))
        if any(mine and theirs and mine != theirs for mine, theirs in pairs):
            return Match.NO
        return Match.YES if all(mine == theirs for mine, theirs in pairs) else Match.MAYBE


def read_queue(text: str) -> str:
    """The text itself when it is a queue's URL, ARN or legal name; else `refuse`."""
    if parse_queue(text) is None:
        raise refuse("is no queue's URL, ARN or name", QUEUE_FIX)
    return text


def read_cluster(text: str) -> str:
    """The text itself when it is an ECS cluster's ARN or legal name; else `refuse`."""
    if not _is_ecs(text, "cluster", parts=1):
        fix = 'write its name ("prod") or its ARN ("arn:aws:ecs:eu-central-1:123456789012:cluster/prod")'
        raise refuse("is no ECS cluster's name or ARN", fix)
    return text


def read_service(text: str) -> str:
    """The text itself when it is an ECS service's ARN, in the old form or the new, or legal name; else `refuse`.

    https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-account-settings.html
    """
    if not _is_ecs(text, "service", parts=1) and not _is_ecs(text, "service", parts=2):
        fix = 'write its name ("orders") or its ARN ("arn:aws:ecs:eu-central-1:123456789012:service/prod/orders")'
        raise refuse("is no ECS service's name or ARN", fix)
    return text


def read_group(text: str) -> str:
    """The text itself when it can be an Auto Scaling group's name; else `refuse`."""
    if text.startswith("arn:") or len(text) > 255 or ":" in text:
        raise refuse(
            "is no Auto Scaling group's name", 'write the group\'s name, such as "orders-workers", not its ARN'
        )
    return text


def read_path(text: str) -> str:
    """The text itself when it can be a path on this machine; else `refuse`."""
    if wrong := not_local(text):
        problem, _, fix = wrong.partition("; ")
        raise refuse(problem, fix)
    return text


def read_region(text: str) -> str:
    """The text itself when it looks like an AWS Region's code; else `refuse`."""
    if not _REGION.fullmatch(text):
        raise refuse("is no AWS Region", 'write the Region\'s code, such as "eu-central-1"')
    return text


def read_table(text: str) -> str:
    """The text itself when it is a DynamoDB table's ARN or legal name; else `refuse`."""
    arn = parse_arn(text)
    kind, _, name = arn.resource.partition("/") if arn and arn.service == "dynamodb" else ("table", "", text)
    if kind != "table" or not _TABLE.fullmatch(name):
        fix = (
            'write its name ("tidegate": 3 to 255 letters, digits, -, _ and .) '
            'or its ARN ("arn:aws:dynamodb:eu-central-1:123456789012:table/tidegate")'
        )
        raise refuse("is no DynamoDB table's name or ARN", fix)
    return text


def read_alarm(text: str) -> str:
    """The text itself when it can be a CloudWatch alarm's name, or is its ARN; else `refuse`."""
    arn = parse_arn(text)
    known = text.startswith("arn:") and arn is not None and arn.service == "cloudwatch"
    if text.startswith("arn:") and not (known and arn is not None and arn.resource.startswith("alarm:")):
        fix = 'write its name ("payments-5xx") or its ARN ("arn:aws:cloudwatch:eu-central-1:123456789012:alarm:NAME")'
        raise refuse("is no CloudWatch alarm's name or ARN", fix)
    return text


def read_namespace(text: str) -> str:
    """The text itself when it can be a CloudWatch namespace of one's own; else `refuse`.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricData.html
    """
    if not _NAMESPACE.fullmatch(text) or text.startswith("AWS/"):
        fix = 'write up to 255 letters, digits and . - _ / # :, not beginning with AWS/, such as "tidegate"'
        raise refuse("is no CloudWatch namespace", fix)
    return text


def queue_of(text: str, region: str | None) -> Resource:
    """Where a queue is; `region` is the settings' own, which a bare name is looked up in."""
    address = parse_queue(text)
    if address is None:
        return Resource(text)
    where = address.region if address.region or address.url else region
    return Resource(address.name, where, address.account)


def alarm_of(text: str, region: str | None) -> Resource:
    """Where an alarm is; `region` is the settings' own, which a bare name is looked up in."""
    arn = parse_arn(text)
    return Resource(arn.resource.removeprefix("alarm:"), arn.region, arn.account) if arn else Resource(text, region)


def cluster_of(text: str) -> Resource:
    """What the notation says of an ECS cluster by itself (arn:…:cluster/NAME, or a bare name)."""
    arn = parse_arn(text)
    return Resource(arn.resource.rpartition("/")[2], arn.region, arn.account) if arn else Resource(text)


def cluster_in(service: str) -> Resource | None:
    """What a service's ARN says of its cluster; the name is "" in ARNs of the old form; None for a bare name."""
    arn = parse_arn(service)
    if arn is None:
        return None
    _, *clusters, _ = arn.resource.split("/")
    return Resource("".join(clusters), arn.region, arn.account)


def service_of(cluster: str, service: str, region: str | None) -> Resource:
    """Where an ECS service is, named "CLUSTER/SERVICE"; what neither ARN says is in the settings' `region`."""
    home, said = cluster_of(cluster), cluster_in(service) or Resource("", region)
    name = f"{home.name}/{service.rpartition('/')[2]}"
    return Resource(name, home.region or said.region, home.account or said.account)


def _is_ecs(text: str, kind: str, parts: int) -> bool:
    """A bare name, or the ARN of such a resource with this many names behind its kind."""
    arn: Arn | None = parse_arn(text)
    if arn is None:
        return bool(_ECS.fullmatch(text))
    found, *names = arn.resource.split("/")
    return (arn.service, found, len(names)) == ("ecs", kind, parts) and all(map(_ECS.fullmatch, names))
