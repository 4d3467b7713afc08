"""A queue as a worker uses it: messages received, deleted, given back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

__all__ = ["EntryFailure", "Received", "VisibilityChange", "WorkQueue"]


@dataclass(frozen=True, slots=True)
class Received:
    """One message as SQS handed it out. `attributes` are the system attributes, by their SQS names."""

    message_id: str
    receipt_handle: str
    body: str
    attributes: Mapping[str, str]
    message_attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VisibilityChange:
    """Make one received message visible again `timeout_s` from the call (0: at once)."""

    receipt_handle: str
    timeout_s: int


@dataclass(frozen=True, slots=True)
class EntryFailure:
    """One entry of a batch that SQS refused though the call itself succeeded; `index` is its place in the request."""

    index: int
    code: str
    message: str
    sender_fault: bool


class WorkQueue(Protocol):
    """One queue as a worker uses it. Batches of any length: the adapter cuts them into calls of ten."""

    async def visibility_timeout_s(self) -> int:
        """The queue's own default (0 is one). Raises Gone when the queue does not exist."""
        ...

    async def max_receives(self) -> int | None:
        """How often its redrive policy lets a message be received; None: it has no such policy."""
        ...

    async def backlog(self) -> int:
        """How many messages wait, approximately."""
        ...

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        """Up to `limit` (1 to 10) messages, waiting up to `wait_s` (0 to 20) for the first.

        Each is leased for `visibility_s` (1 to 43,200), whatever the queue's own default has become meanwhile.
        """
        ...

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]: ...

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]: ...

    async def dead_letter(self, received: Received, reason: str) -> None:
        """Puts a copy of a message in hand into the dead-letter queue, its attributes kept and the reason added.

        The message itself is left as it is: whoever calls this deletes it then. Raises Gone when there is no
        dead-letter queue to put it into.
        """
        ...

    async def close(self) -> None: ...
