"""What a handler is given: one message, frozen, with a flag that says when it is no longer the handler's."""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.ports import Received

__all__ = ["Message", "message_from"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message in a handler's hands. Its body and attributes never show in `repr`, so no log line can hold them.

    `attributes` are SQS's system attributes by their SQS names, `message_attributes` the sender's own, as SQS gives
    them (`{"name": {"DataType": "String", "StringValue": "…"}}`).
    """

    id: str
    body: str = field(repr=False)
    attributes: Mapping[str, str] = field(repr=False)
    message_attributes: Mapping[str, Mapping[str, object]] = field(repr=False)
    receive_count: int
    """How often SQS has handed this message out, this time included: receives, not runs of a handler."""
    sent_at_s: float
    """When it was sent, in seconds since the epoch, by SQS's clock."""
    group: str | None = None
    """Its MessageGroupId: the unit of order on a FIFO queue, of fairness on a standard one."""
    lease_lost: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)
    """Set when another worker may have the message, or when this worker is about to leave: stop, and undo if you can.

    An async handler is cancelled as well; a sync one must look (`message.lease_lost.is_set()`) or wait on it.
    """

    def json(self) -> Any:
        """The body read as JSON. Raises ValueError when it is none."""
        return json.loads(self.body)


def message_from(received: Received, now_s: float) -> Message:
    """The handler's view of what SQS handed out; a server that leaves attributes out is taken as "first time, now"."""
    attributes = received.attributes
    return Message(
        id=received.message_id,
        body=received.body,
        attributes=attributes,
        message_attributes=received.message_attributes,
        receive_count=int(attributes.get("ApproximateReceiveCount", "1")),
        sent_at_s=int(attributes["SentTimestamp"]) / 1000 if "SentTimestamp" in attributes else now_s,
        group=attributes.get("MessageGroupId"),
    )
