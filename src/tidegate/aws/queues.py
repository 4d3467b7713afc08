"""A queue as people write it down (URL, ARN or name), taken apart."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tidegate.errors import Invalid

__all__ = ["QueueAddress", "queue_address", "queue_name"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo")
_HOST_REGION: Final = (
    re.compile(r"(?:^|\.)sqs(?:-fips)?\.([a-z0-9-]+)\."),  # also VPC endpoints: vpce-….sqs.eu-west-1.vpce.amazonaws.com
    re.compile(r"^(?:([a-z0-9-]+)\.)?queue\.amazonaws\."),
)
_OLDEST_REGION: Final = "us-east-1"
"""The Region of URLs that name none: queue.amazonaws.com."""


@dataclass(frozen=True, slots=True)
class QueueAddress:
    """What the notation says about the queue; None where it leaves that to the default Region and account."""

    name: str
    region: str | None = None
    account: str | None = None
    url: str | None = None


def queue_address(queue: str) -> QueueAddress:
    """Take a URL, an ARN or a name apart. Raises Invalid when it is none of these.

    >>> queue_address("arn:aws:sqs:eu-west-1:111122223333:mail.fifo")
    QueueAddress(name='mail.fifo', region='eu-west-1', account='111122223333', url=None)
    >>> queue_address("https://sqs.us-east-2.amazonaws.com/111122223333/mail").region
    'us-east-2'
    """
    if queue.startswith("arn:"):
        address = _from_arn(queue)
    elif "://" in queue:
        address = _from_url(queue)
    else:
        address = QueueAddress(queue)
    if not _NAME.fullmatch(address.name):
        raise Invalid(
            "sqs:GetQueueUrl",
            repr(queue),
            "it is no queue",
            "write the queue's URL, its ARN (arn:aws:sqs:REGION:ACCOUNT:NAME) or its name",
        )
    return address


def queue_name(queue: str) -> str:
    """The queue's bare name, which is what CloudWatch's QueueName dimension holds. Raises Invalid.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    """
    return queue_address(queue).name


def _from_arn(arn: str) -> QueueAddress:
    parts = arn.split(":")
    if len(parts) != 6 or parts[2] != "sqs":
        return QueueAddress("")
    return QueueAddress(parts[5], parts[3] or None, parts[4] or None)


def _from_url(url: str) -> QueueAddress:
    parts = urlsplit(url)
    host = parts.hostname or ""
    path = [part for part in parts.path.split("/") if part]
    account = path[-2] if len(path) > 1 else None
    matches = (pattern.search(host) for pattern in _HOST_REGION)
    region = next((match.group(1) or _OLDEST_REGION for match in matches if match), None)
    return QueueAddress(path[-1] if path else "", region, account, url)
