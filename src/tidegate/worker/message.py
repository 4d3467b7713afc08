"""What a handler is given: one message, frozen, with what it may ask of its lease, and a flag that says it is lost."""

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tidegate.ports import Received
from tidegate.worker.telemetry.dependencies import DependencyCall, DependencyLog

__all__ = ["Batch", "LeaseControl", "LeaseLost", "Message", "message_from"]


class LeaseControl(Protocol):
    """What a handler may ask about the lease of its message; callable from any thread, answered by nobody."""

    def extend(self, for_s: float) -> None: ...

    def progress(self) -> None: ...


class _NoControl:
    """A message that no worker holds: in a test of a handler, say."""

    def extend(self, for_s: float) -> None:
        """There is no lease."""

    def progress(self) -> None:
        """There is no lease."""


_NO_CONTROL: Final = _NoControl()


class LeaseLost:
    """An event for both worlds: `is_set()` and `wait(seconds)` in a thread, `await wait_async()` on a loop.

    Made for every message and hardly ever waited for: what waiting takes is made when somebody waits.
    """

    __slots__ = ("_is_set", "_lock", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._lock = threading.Lock()
        self._waiters: list[Callable[[], object]] = []

    def is_set(self) -> bool:
        """From any thread."""
        return self._is_set

    def set(self) -> None:
        """Wakes all that wait. From any thread, any number of times."""
        with self._lock:
            self._is_set = True
            waiters, self._waiters = self._waiters, []
        for wake in waiters:
            wake()

    def wait(self, timeout_s: float | None = None) -> bool:
        """In a thread: waits for it, for so long at most; whether it is set."""
        told = threading.Event()
        return self._call_when_set(told.set) or told.wait(timeout_s)

    async def wait_async(self) -> None:
        """On a loop: waits for it without blocking the loop."""
        loop, told = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits there any longer
                loop.call_soon_threadsafe(told.set)

        if not self._call_when_set(wake):
            await told.wait()

    def _call_when_set(self, wake: Callable[[], object]) -> bool:
        """True when it is set already, and nobody will be called."""
        with self._lock:
            if not self._is_set:
                self._waiters.append(wake)
            return self._is_set

    def __reduce__(self) -> tuple[type["LeaseLost"], tuple[()]]:
        """A copy in another process is another event: that process is told in its own way."""
        return type(self), ()


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
    age_s: float = 0.0
    """Seconds from when it was sent to when this worker received it."""
    deadline_s: float = float("inf")
    """When its lease ends for good, in seconds since the epoch: SQS gives 12 hours from the receive, settings less."""
    queue: str = ""
    """The queue that it came from, as the worker's settings write it."""
    lease_lost: LeaseLost = field(default_factory=LeaseLost, repr=False, compare=False)
    """Set when another worker may have the message, or when this worker is about to leave: stop, and undo if you can.

    An async handler is cancelled as well; a sync one must look (`message.lease_lost.is_set()`) or wait on it.
    """
    lease: LeaseControl = field(default=_NO_CONTROL, repr=False, compare=False)

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

    def extend(self, for_s: float) -> None:
        """Asks that the lease last at least `for_s` seconds from now, for a step in which nothing can be extended.

        Leases are kept by themselves: this is for a machine that will stand still, or for a step longer than
        `progress_timeout`. Sent soon, not yet confirmed when this returns; never beyond SQS's 12 hours. Raises
        ValueError when `for_s` is not more than 0.
        """
        if not for_s > 0:
            raise ValueError(f"a lease can't be extended for {for_s!r} s; give seconds above 0")
        self.lease.extend(for_s)

    def progress(self) -> None:
        """Says that the work goes on. Where `progress_timeout` is set, a lease is kept only for work that says so."""
        self.lease.progress()


@dataclass(frozen=True, slots=True)
class Batch:
    """The messages of one call of a batch handler."""

    messages: tuple[Message, ...]

    @property
    def id(self) -> str:
        """For names in logs: the first message's."""
        return self.messages[0].id

    @property
    def lease_lost(self) -> "Batch":
        """Setting it tells every message of the batch."""
        return self

    def set(self) -> None:
        for message in self.messages:
            message.lease_lost.set()

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)


def message_from(
    received: Received,
    now_s: float,
    calls: DependencyLog | None = None,
    *,
    longest_s: float = float("inf"),
    queue: str = "",
    lease: LeaseControl = _NO_CONTROL,
) -> Message:
    """The handler's view of what SQS handed out; a server that leaves attributes out is taken as "first time, now".

    `longest_s` is how long its lease can be kept from `now_s` (the time of day).
    """
    attributes = received.attributes
    sent_at_s = int(attributes["SentTimestamp"]) / 1000 if "SentTimestamp" in attributes else now_s
    return Message(
        id=received.message_id,
        body=received.body,
        attributes=attributes,
        message_attributes=received.message_attributes,
        receive_count=int(attributes.get("ApproximateReceiveCount", "1")),
        sent_at_s=sent_at_s,
        group=attributes.get("MessageGroupId"),
        age_s=max(0.0, now_s - sent_at_s),
        deadline_s=now_s + longest_s,
        queue=queue,
        lease=lease,
        calls=calls or DependencyLog(time.monotonic),
    )
