"""What a queue, service or group is called: the grammar of names, URLs and ARNs, and whether two of them are one."""

import re
from dataclasses import dataclass
from enum import StrEnum

from tidegate.config.values import refuse

__all__ = ["Match", "Resource", "queue_of", "read_group", "read_queue", "read_region", "read_table", "resource_of"]

_QUEUE_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}|(?=.{1,80}\Z)[A-Za-z0-9_-]+\.fifo", re.ASCII)
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""

_ARN = re.compile(r"arn:aws[a-z-]*:(?P<service>[a-z]+):(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):(?P<rest>\S+)")
_URL = re.compile(r"https?://(?P<host>[^/\s?#]+)/(?:\S*/)?(?P<name>[^/\s?#]+)")
_AWS_HOST = re.compile(r"sqs\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}")
_TABLE_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}", re.ASCII)
"""https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/HowItWorks.NamingRulesDataTypes.html"""
_ACCOUNT = re.compile(r"/([0-9]{12})/[^/]+\Z")

_QUEUE_FIX = (
    'write the queue\'s name ("orders", at most 80 letters, digits, - and _, and .fifo at the end for a FIFO queue), '
    'its ARN ("arn:aws:sqs:eu-central-1:123456789012:orders") or its URL'
)


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
    arn, url = _ARN.fullmatch(text), _URL.fullmatch(text)
    name = text
    if arn and arn["service"] == "sqs":
        name = arn["rest"]
    elif url:
        name = url["name"]
    if not _QUEUE_NAME.fullmatch(name):
        raise refuse("is no queue's URL, ARN or name", _QUEUE_FIX)
    return text


def read_group(text: str) -> str:
    """The text itself when it can be an Auto Scaling group's name; else `refuse`."""
    if text.startswith("arn:") or len(text) > 255 or ":" in text:
        raise refuse(
            "is no Auto Scaling group's name", 'write the group\'s name, such as "orders-workers", not its ARN'
        )
    return text


def read_region(text: str) -> str:
    """The text itself when it looks like an AWS Region's code; else `refuse`."""
    if not _REGION.fullmatch(text):
        raise refuse("is no AWS Region", 'write the Region\'s code, such as "eu-central-1"')
    return text


def read_table(text: str) -> str:
    """The text itself when it is a DynamoDB table's ARN or legal name; else `refuse`."""
    if not text.startswith("arn:aws") and not _TABLE_NAME.fullmatch(text):
        fix = 'write its name ("tidegate": 3 to 255 letters, digits, -, _ and .) or its ARN'
        raise refuse("is no DynamoDB table's name or ARN", fix)
    return text


def queue_of(text: str, region: str | None) -> Resource:
    """Where a queue is; `region` is the settings' own, which a bare name is looked up in."""
    if arn := _ARN.fullmatch(text):
        return Resource(arn["rest"], arn["region"], arn["account"])
    if url := _URL.fullmatch(text):
        host, account = _AWS_HOST.fullmatch(url["host"]), _ACCOUNT.search(text)
        return Resource(url["name"], host["region"] if host else None, account[1] if account else None)
    return Resource(text, region)


def resource_of(text: str, region: str | None) -> Resource:
    """An ECS cluster or service by name or ARN (arn:…:cluster/NAME, arn:…:service/CLUSTER/NAME)."""
    if arn := _ARN.fullmatch(text):
        return Resource(arn["rest"].rsplit("/", 1)[-1], arn["region"], arn["account"])
    return Resource(text, region)
