"""The fleet table: workers report, the controller directs, and both know of messages that came back."""

from typing import Protocol

from tidegate.core.directive import Directive
from tidegate.core.reports import WorkerReport
from tidegate.core.workers.poison import MessageNote

__all__ = ["DirectiveWriter", "FleetReader", "HeartbeatSink", "MessageNotes"]


class FleetReader(Protocol):
    """The workers' heartbeats as the controller reads them."""

    def workers(self, pool: str, now_s: float) -> tuple[WorkerReport, ...]:
        """The newest report of each worker that has not expired, in the order of their ids."""
        ...


class DirectiveWriter(Protocol):
    """Where the controller tells a pool's workers what to do."""

    def direct(self, pool: str, directive: Directive) -> None:
        """The newest directive replaces the one before."""
        ...


class HeartbeatSink(Protocol):
    """Where a worker's heartbeat goes, and what comes back."""

    async def put(self, pool: str, report: WorkerReport, expires_at_s: float) -> None: ...

    async def directive(self, pool: str) -> Directive:
        """What the controller told the pool's workers last; an empty one when it has told nothing yet.

        Raises StateUnreadable when it has another schema or is damaged: a worker then goes by the last one it read.
        """
        ...

    async def close(self) -> None: ...


class MessageNotes(Protocol):
    """What the fleet knows of messages that were handed out again: `core.workers.poison` judges by it.

    A receive that is older than what is noted changes nothing: a worker that lost its lease may be late with its word.
    """

    async def note(self, pool: str, message_id: str) -> MessageNote:
        """As it stands now: a consistent read. Raises StateUnreadable when it is damaged."""
        ...

    async def begins_alone(self, pool: str, message_id: str, receive: int, worker_id: str, expires_at_s: float) -> None:
        """This receive is about to run alone in this worker."""
        ...

    async def ended(self, pool: str, message_id: str, receive: int, expires_at_s: float, *, spared: bool) -> None:
        """This receive has ended in an orderly way; `spared`: by no fault of the message."""
        ...

    async def close(self) -> None: ...
