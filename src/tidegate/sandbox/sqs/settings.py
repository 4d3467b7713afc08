"""A queue's attributes: read from a request, checked, and written back as SQS writes them.

Ranges and defaults: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value

__all__ = ["KNOWN_ATTRIBUTES", "MAX_MESSAGE_BYTES", "QueueSettings", "Redrive", "changed", "described"]

MAX_MESSAGE_BYTES = 1_048_576

_NUMBERS = {
    "VisibilityTimeout": ("visibility_timeout_s", 0, 43_200),
    "DelaySeconds": ("delay_s", 0, 900),
    "ReceiveMessageWaitTimeSeconds": ("receive_wait_s", 0, 20),
    "MessageRetentionPeriod": ("retention_s", 60, 1_209_600),
    "MaximumMessageSize": ("max_message_bytes", 1_024, MAX_MESSAGE_BYTES),
}
_COUNT = re.compile(r"[0-9]{1,18}")
_FIFO_ONLY = {
    "FifoQueue": ("true", "false"),
    "ContentBasedDeduplication": ("true", "false"),
    "DeduplicationScope": ("queue", "messageGroup"),
    "FifoThroughputLimit": ("perQueue", "perMessageGroupId"),
}
_KEPT_AS_GIVEN = (
    "KmsDataKeyReusePeriodSeconds",
    "KmsMasterKeyId",
    "Policy",
    "RedriveAllowPolicy",
    "SqsManagedSseEnabled",
)

KNOWN_ATTRIBUTES = frozenset(
    {
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
        "CreatedTimestamp",
        "LastModifiedTimestamp",
        "QueueArn",
        "RedrivePolicy",
        *_NUMBERS,
        *_FIFO_ONLY,
        *_KEPT_AS_GIVEN,
    }
)
"""What GetQueueAttributes may be asked for; any other name is an InvalidAttributeName."""


@dataclass(frozen=True, slots=True)
class Redrive:
    """Where a message goes that was received `max_receive_count` times and is up for one more."""

    target_arn: str
    max_receive_count: int


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """The attributes that can be set, with SQS's defaults."""

    visibility_timeout_s: int = 30
    delay_s: int = 0
    receive_wait_s: int = 0
    retention_s: int = 345_600
    max_message_bytes: int = MAX_MESSAGE_BYTES
    fifo: bool = False
    content_based_deduplication: bool = False
    deduplication_scope: str = "queue"
    throughput_limit: str = "perQueue"
    redrive: Redrive | None = None
    others: Mapping[str, str] = field(default_factory=lambda: {"SqsManagedSseEnabled": "true"})
    """Accepted and given back, without effect here (encryption, policies)."""


def changed(settings: QueueSettings, attributes: Mapping[str, str]) -> QueueSettings:
    """`settings` with `attributes` applied. Raises Refusal (InvalidAttributeName, InvalidAttributeValue, …)."""
    for name, value in attributes.items():
        settings = _with_one(settings, name, value)
    return settings


def _with_one(settings: QueueSettings, name: str, value: str) -> QueueSettings:
    if name in _NUMBERS:
        field_name, least, most = _NUMBERS[name]
        if not _COUNT.fullmatch(value) or not least <= int(value) <= most:
            raise _bad_value(name)
        numbers: dict[str, Any] = {field_name: int(value)}
        return replace(settings, **numbers)
    if name in _FIFO_ONLY:
        return _with_fifo(settings, name, value)
    if name == "RedrivePolicy":
        return replace(settings, redrive=_redrive(value) if value else None)
    if name in _KEPT_AS_GIVEN:
        return replace(settings, others={**settings.others, name: value})
    raise Refusal(Code.INVALID_ATTRIBUTE_NAME, f"Unknown Attribute {name}.")


def _with_fifo(settings: QueueSettings, name: str, value: str) -> QueueSettings:
    if value not in _FIFO_ONLY[name]:
        raise _bad_value(name)
    if name == "FifoQueue" and (value == "true") != settings.fifo:
        raise _bad_value(name)
    if not settings.fifo:
        raise Refusal(Code.INVALID_ATTRIBUTE_NAME, f"You can specify {name} only for FIFO queues.")
    match name:
        case "ContentBasedDeduplication":
            return replace(settings, content_based_deduplication=value == "true")
        case "DeduplicationScope":
            return replace(settings, deduplication_scope=value)
        case "FifoThroughputLimit":
            return replace(settings, throughput_limit=value)
    return settings


def _redrive(text: str) -> Redrive:
    try:
        policy = json.loads(text)
        redrive = Redrive(_arn(policy["deadLetterTargetArn"]), _count(policy["maxReceiveCount"]))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise invalid_value(
            text, "RedrivePolicy", "It must be JSON with deadLetterTargetArn and maxReceiveCount."
        ) from error
    if not 1 <= redrive.max_receive_count <= 1_000:
        raise invalid_value(text, "RedrivePolicy", "Invalid value for maxReceiveCount: 1 to 1000.")
    return redrive


def _arn(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("an ARN is a text")
    return value


def _count(value: object) -> int:
    """Both 3 and "3" are in AWS's own examples."""
    if not _COUNT.fullmatch(str(value)):
        raise ValueError("a count is a whole number")
    return int(str(value))


def _bad_value(name: str) -> Refusal:
    return Refusal(Code.INVALID_ATTRIBUTE_VALUE, f"Invalid value for the parameter {name}.")


def described(settings: QueueSettings) -> dict[str, str]:
    """As GetQueueAttributes gives them; those of FIFO queues for FIFO queues only."""
    values = {name: str(getattr(settings, field_name)) for name, (field_name, _, _) in _NUMBERS.items()}
    values.update({name: value for name, value in settings.others.items() if value})
    if settings.redrive:
        values["RedrivePolicy"] = json.dumps(
            {
                "deadLetterTargetArn": settings.redrive.target_arn,
                "maxReceiveCount": settings.redrive.max_receive_count,
            }
        )
    if settings.fifo:
        values["FifoQueue"] = "true"
        values["ContentBasedDeduplication"] = str(settings.content_based_deduplication).lower()
        values["DeduplicationScope"] = settings.deduplication_scope
        values["FifoThroughputLimit"] = settings.throughput_limit
    return values
