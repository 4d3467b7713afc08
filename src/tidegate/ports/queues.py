"""Queues as the controller looks at them: counts and settings, no messages."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["QueueCounts", "QueueReader"]


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """GetQueueAttributes' three counts, all approximate on AWS."""

    visible: int
    in_flight: int
    delayed: int


class QueueReader(Protocol):
    """Counts and settings of one queue; `queue` is a URL, an ARN or a name."""

    def counts(self, queue: str) -> QueueCounts:
        """Raises Gone when the queue does not exist, Denied, Throttled, Unreachable, Invalid."""
        ...

    def visibility_timeout_s(self, queue: str) -> int:
        """The lease that the queue gives by itself. Raises as `counts`."""
        ...
