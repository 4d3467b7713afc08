"""Putting a message into its queue's dead-letter queue, with the reason, before SQS would."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from tidegate.aws.errors import calling
from tidegate.aws.queues import queue_address, url_request
from tidegate.errors import Gone
from tidegate.ports import Received

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient

__all__ = ["REASON", "DeadLetters"]

REASON: Final = "tidegate.reason"
"""The message attribute that holds the reason."""

_LONGEST_REASON: Final = 1_000
_MOST_ATTRIBUTES: Final = 10
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html"""

_NOT_ALLOWED: Final = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What SQS takes in a text:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""

_TYPES: Final = ("DataType", "StringValue", "BinaryValue")


class DeadLetters:
    """The dead-letter queue of `queue`: the one that is named, else the one in its redrive policy, read once.

    IAM: sqs:SendMessage on it, sqs:GetQueueUrl on it unless it is named by URL, and sqs:GetQueueAttributes on `queue`
    for its redrive policy.
    """

    def __init__(self, client: "SQSClient", queue: str, url: Callable[[], Awaitable[str]], named: str | None) -> None:
        """`url` gives the queue's own URL."""
        self._client = client
        self._queue = queue
        self._url = url
        self._named = named
        self._known_url: str | None = None

    async def put(self, received: Received, reason: str) -> None:
        """A copy with body, attributes, group and trace; the reason as an attribute where there is room.

        SQS takes ten attributes at most: a message that has ten already is sent without the reason. On a FIFO queue the
        message's id is its deduplication id, so that a second try within five minutes makes no second copy. Raises Gone
        when there is no dead-letter queue, and the CloudError tree.
        """
        target = await self._target_url()
        with calling("sqs:SendMessage", f"the dead-letter queue of {self._queue}"):
            await self._client.send_message(QueueUrl=target, **_copy(received, reason, fifo=target.endswith(".fifo")))

    async def _target_url(self) -> str:
        if self._known_url is None:
            address = queue_address(self._named or await self._redrive_target())
            if address.url is not None:
                self._known_url = address.url
            else:
                with calling("sqs:GetQueueUrl", address.name):
                    self._known_url = (await self._client.get_queue_url(**url_request(address)))["QueueUrl"]
        return self._known_url

    async def _redrive_target(self) -> str:
        """The ARN in the queue's redrive policy."""
        url = await self._url()
        with calling("sqs:GetQueueAttributes", self._queue):
            answer = await self._client.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
            policy = json.loads(answer.get("Attributes", {}).get("RedrivePolicy", "{}"))
            target = str(policy.get("deadLetterTargetArn", ""))
        if not target:
            fix = "give the queue a redrive policy, or the worker dead_letter_queue (TIDEGATE_WORKER_DEAD_LETTER_QUEUE)"
            raise Gone("sqs:GetQueueAttributes", self._queue, "it has no dead-letter queue", fix)
        return target


def _copy(received: Received, reason: str, *, fifo: bool) -> dict[str, Any]:
    """SendMessage's parameters but for the queue."""
    attributes: dict[str, Any] = {
        name: {key: value[key] for key in _TYPES if key in value} for name, value in received.message_attributes.items()
    }
    if len(attributes) < _MOST_ATTRIBUTES or REASON in attributes:
        text = _NOT_ALLOWED.sub("?", reason)[:_LONGEST_REASON] or "rejected"
        attributes[REASON] = {"DataType": "String", "StringValue": text}
    parameters: dict[str, Any] = {"MessageBody": received.body, "MessageAttributes": attributes}
    group = received.attributes.get("MessageGroupId")
    if group is not None:
        parameters["MessageGroupId"] = group
    if fifo:
        parameters |= {"MessageGroupId": group or received.message_id, "MessageDeduplicationId": received.message_id}
    trace = received.attributes.get("AWSTraceHeader")
    if trace is not None:
        parameters["MessageSystemAttributes"] = {"AWSTraceHeader": {"DataType": "String", "StringValue": trace}}
    return parameters
