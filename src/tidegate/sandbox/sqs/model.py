"""The values of the endpoint: what is sent, what a queue holds, and what others may read of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Protocol

__all__ = ["Draft", "Message", "Observer", "QueueSnapshot", "Sent", "State", "Totals", "Unobserved"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as a producer hands it in, checked and with its digests."""

    body: str
    md5_of_body: str
    size_bytes: int
    """Body plus names, types and values of the message attributes: what counts towards the limit."""
    delay_s: int | None = None
    """None takes the queue's own delay."""
    attributes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    md5_of_attributes: str | None = None
    trace_header: str | None = None
    md5_of_system_attributes: str | None = None
    group: str | None = None
    deduplication_id: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """What the producer is told; a deduplicated message is told the original's."""

    message_id: str
    sequence: str | None


class State(Enum):
    """Where a message is. Exactly one holds at any time."""

    DELAYED = auto()
    VISIBLE = auto()
    IN_FLIGHT = auto()
    GONE = auto()


@dataclass(slots=True, eq=False)
class Message:
    """One message in one queue. Only its queue changes it."""

    number: int
    """Its place in the queue's order of sending, and its key there."""
    sent: Sent
    draft: Draft
    sent_at_s: float
    entered_at_s: float
    """When it came into this queue: the time of sending, or of the move into a dead-letter queue."""
    state: State = State.DELAYED
    shard: int = 0
    receive_count: int = 0
    """Receives in all queues; also the number of the newest lease, since each receive begins one."""
    first_received_at_s: float | None = None
    leased_at_s: float = 0.0
    dead_letter_source: str | None = None


@dataclass(slots=True)
class Totals:
    """Counted since the queue was made; they only grow. `moved_in` and `moved_out` are dead-letter moves."""

    sent: int = 0
    received: int = 0
    deleted: int = 0
    empty_receives: int = 0
    expired: int = 0
    purged: int = 0
    moved_in: int = 0
    moved_out: int = 0


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """One queue at one moment, exact. `oldest_age_s` is None where there is no message that counts for the age."""

    name: str
    arn: str
    taken_at_s: float
    visible: int
    in_flight: int
    delayed: int
    oldest_age_s: float | None
    sent: int
    received: int
    deleted: int
    empty_receives: int
    expired: int
    purged: int
    moved_in: int
    moved_out: int


class Observer(Protocol):
    """Told of every message's fate, synchronously and on the endpoint's thread: be quick and don't raise."""

    def sent(self, queue: str, message_id: str, at_s: float) -> None: ...

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None: ...

    def deleted(self, queue: str, message_id: str, at_s: float) -> None:
        """By a consumer, by a purge, or with its queue."""
        ...

    def moved(self, queue: str, to_queue: str, message_id: str, at_s: float) -> None: ...

    def expired(self, queue: str, message_id: str, at_s: float) -> None: ...


class Unobserved:
    """The observer of a server that nobody watches."""

    def sent(self, queue: str, message_id: str, at_s: float) -> None: ...

    def received(self, queue: str, message_id: str, receive_count: int, at_s: float) -> None: ...

    def deleted(self, queue: str, message_id: str, at_s: float) -> None: ...

    def moved(self, queue: str, to_queue: str, message_id: str, at_s: float) -> None: ...

    def expired(self, queue: str, message_id: str, at_s: float) -> None: ...
