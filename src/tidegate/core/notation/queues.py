"""A queue as people write it down (URL, ARN or name), taken apart: the one grammar for settings and calls alike."""

import re
from dataclasses import dataclass
from typing import Final

from tidegate.core.notation.arns import parse_arn

__all__ = ["QUEUE_FIX", "QueueAddress", "parse_queue"]

QUEUE_FIX: Final = (
    'write the queue\'s name ("orders": at most 80 letters, digits, - and _, with .fifo at the end for a FIFO queue), '
    'its ARN ("arn:aws:sqs:eu-central-1:123456789012:orders") or its URL'
)
"""What to do about a text that is no queue."""

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo")
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""

_URL: Final = re.compile(r"(?i:https?)://(?:[^/\s?#@]*@)?([^/\s?#@]+)((?:/[^/\s?#]+)+)")
_HOST_AND_PORT: Final = re.compile(
    r"(?=.{1,259}\Z)(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]+\])(?::0*([1-9][0-9]{0,4}))?", re.ASCII
)
"""A name of up to 253 characters or an address, and a port."""
_LAST_PORT: Final = 65_535
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_REGION: Final = r"([a-z]{2,4}(?:-[a-z]+)+-[0-9]{1,2})"
_HOSTS: Final = (
    # Also VPC endpoints (vpce-….sqs.eu-west-1.vpce.amazonaws.com), FIPS and dual-stack ones.
    re.compile(rf"(?:^|\.)sqs(?:-fips)?\.{_REGION}\."),
    re.compile(rf"^(?:{_REGION}\.)?queue\.amazonaws\."),
)
"""Endpoints' names: https://docs.aws.amazon.com/general/latest/gr/sqs-service.html"""

_OLDEST_REGION: Final = "us-east-1"
"""The Region of URLs that name none: queue.amazonaws.com."""


@dataclass(frozen=True, slots=True)
class QueueAddress:
    """What the notation says about the queue; None where it leaves that to the default Region and account."""

    name: str
    region: str | None = None
    account: str | None = None
    url: str | None = None


def parse_queue(text: str) -> QueueAddress | None:
    """A URL, an ARN or a name taken apart; None when it is none of these.

    >>> parse_queue("arn:aws:sqs:eu-west-1:111122223333:mail.fifo")
    QueueAddress(name='mail.fifo', region='eu-west-1', account='111122223333', url=None)
    >>> parse_queue("https://sqs.us-east-2.amazonaws.com/111122223333/mail").region
    'us-east-2'
    >>> parse_queue("my mail") is None
    True
    """
    if text.startswith("arn:"):
        address = _from_arn(text)
    elif "://" in text:
        address = _from_url(text)
    else:
        address = QueueAddress(text)
    return address if address is not None and _NAME.fullmatch(address.name) else None


def _from_arn(text: str) -> QueueAddress | None:
    arn = parse_arn(text)
    return QueueAddress(arn.resource, arn.region, arn.account) if arn and arn.service == "sqs" else None


def _from_url(text: str) -> QueueAddress | None:
    match = _URL.fullmatch(text)
    where = _HOST_AND_PORT.fullmatch(match[1].lower()) if match else None
    if match is None or where is None or int(where[1] or 1) > _LAST_PORT:
        return None
    *_, before, name = match[2].split("/")
    return QueueAddress(name, _region(where[0]), before if _ACCOUNT.fullmatch(before) else None, text)


def _region(host: str) -> str | None:
    matches = (pattern.search(host) for pattern in _HOSTS)
    return next((match[1] or _OLDEST_REGION for match in matches if match), None)
