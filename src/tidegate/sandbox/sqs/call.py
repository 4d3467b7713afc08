"""One request with all that an operation needs to answer it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tidegate.sandbox.sqs.params import Params
from tidegate.sandbox.sqs.polls import LongPolls
from tidegate.sandbox.sqs.queue import Queue
from tidegate.sandbox.sqs.service import ACCOUNT, Service

__all__ = ["Action", "Answer", "Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """`origin` is where the client reached us; `hung_up` says whether it has gone away since."""

    service: Service
    polls: LongPolls
    params: Params
    origin: str
    hung_up: Callable[[], bool]

    def queue(self) -> Queue:
        """Raises QueueDoesNotExist."""
        return self.service.entry(self.queue_name()).queue

    def queue_name(self) -> str:
        """The last segment of QueueUrl: through another host name or port it is still the same queue."""
        return unquote(self.params.text("QueueUrl").rpartition("/")[2])

    def url(self, name: str) -> str:
        return f"{self.origin}/{ACCOUNT}/{name}"


Answer = dict[str, Any]
Action = Callable[[Call], Answer]
