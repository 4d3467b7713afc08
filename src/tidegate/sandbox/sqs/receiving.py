"""A received message as JSON: only the attributes that were asked for.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from tidegate.sandbox.sqs.digest import md5_of_attributes
from tidegate.sandbox.sqs.model import Message

__all__ = ["as_json"]

_SENDER = "AIDATIDEGATESANDBOX00"


def as_json(message: Message, handle: str, system_names: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """One element of `Messages`. `system_names` may hold "All"; `names` "All", ".*" and prefixes such as "bar.*"."""
    draft = message.draft
    answer: dict[str, Any] = {
        "MessageId": message.sent.message_id,
        "ReceiptHandle": handle,
        "MD5OfBody": draft.md5_of_body,
        "Body": draft.body,
    }
    if system_names and (system := _system_attributes(message, system_names)):
        answer["Attributes"] = system
    if names and draft.attributes and (chosen := _chosen(draft.attributes, names)):
        answer["MessageAttributes"] = chosen
        whole = len(chosen) == len(draft.attributes)
        answer["MD5OfMessageAttributes"] = draft.md5_of_attributes if whole else md5_of_attributes(chosen)
    return answer


def _system_attributes(message: Message, names: Sequence[str]) -> dict[str, str]:
    first_s = message.first_received_at_s
    known = {
        "SenderId": _SENDER,
        "SentTimestamp": str(int(message.sent_at_s * 1000)),
        "ApproximateReceiveCount": str(message.receive_count),
        "ApproximateFirstReceiveTimestamp": None if first_s is None else str(int(first_s * 1000)),
        "SequenceNumber": message.sent.sequence,
        "MessageDeduplicationId": message.draft.deduplication_id,
        "MessageGroupId": message.draft.group,
        "AWSTraceHeader": message.draft.trace_header,
        "DeadLetterQueueSourceArn": message.dead_letter_source,
    }
    everything = "All" in names
    return {name: value for name, value in known.items() if value is not None and (everything or name in names)}


def _chosen(attributes: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    if "All" in names or ".*" in names:
        return dict(attributes)
    prefixes = tuple(name.removesuffix(".*") for name in names if name.endswith(".*"))
    return {
        name: attribute
        for name, attribute in attributes.items()
        if name in names or (prefixes and name.startswith(prefixes))
    }
