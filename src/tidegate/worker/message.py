"""What a handler is given: one message, frozen, with a flag that says when it is no longer the handler's."""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidegate.ports import Received
from tidegate.worker.dependencies import DependencyCall, DependencyLog

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

    calls: DependencyLog = field(default_factory=lambda: DependencyLog(time.monotonic), repr=False, compare=False)
    """Where `dependency` counts; the worker's own, for a message that a worker hands out."""

    def dependency(self, name: str) -> DependencyCall:
        """Times what is done inside the block, and counts how it ends, as a call of the dependency `name`.

        For `with` and `async with`. Errors inside pass through. The controller adds no workers while a dependency
        fails, throttles or is slow. Names are few and fixed: of more than eight the others are counted as one. To
        watch the wait for a connection, give the pool a name of its own: `with message.dependency("payments pool"):`.
        """
        return self.calls.call(name)

    def json(self) -> Any:
        """The body read as JSON. Raises ValueError when it is none."""
        return json.loads(self.body)


def message_from(received: Received, now_s: float, calls: DependencyLog | None = None) -> Message:
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
        calls=calls or DependencyLog(time.monotonic),
    )
