"""A queue in memory, for tests of workers: leases expire, receipt handles grow stale, calls fail when told to."""

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from tidegate.errors import CloudError
from tidegate.ports import EntryFailure, Received, VisibilityChange

__all__ = ["FakeWorkQueue", "QueueCall"]

T = TypeVar("T")

_LONGEST_LEASE_S = 43_200
_FINEST_S = 0.001


@dataclass(frozen=True, slots=True)
class QueueCall:
    """One call as it arrived: its kind ("receive", "delete", "change", "dead_letter"), handles, timeouts asked for."""

    operation: str
    at_s: float
    receipt_handles: tuple[str, ...] = ()
    timeouts_s: tuple[int, ...] = ()
    limit: int = 0


@dataclass(slots=True)
class _Stored:
    body: str
    sent_at_s: float
    group: str | None
    visible_at_s: float
    receives: int = 0
    handle: str = ""
    first_receive_at_s: float | None = None
    received_at_s: float = 0.0


@dataclass
class FakeWorkQueue:
    """Implements `ports.WorkQueue` as a standard SQS queue behaves.

    `clock` defaults to the running loop's, so that tests in virtual time move it; `wall_offset_s` is added for the
    times that messages carry.
    """

    visibility_s: int = 30
    """The queue's own default, which a worker reads at its start."""
    max_receive_count: int | None = None
    """What its redrive policy says, which nothing here enforces."""
    clock: Callable[[], float] | None = None
    wall_offset_s: float = 0.0
    latency_s: float = 0.0
    """How long every delete and visibility change takes."""
    calls: list[QueueCall] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    """The ids of messages that were deleted, in order."""
    dead_letters: list[tuple[str, str]] = field(default_factory=list)
    """Id and reason of each message that was put into the dead-letter queue, in order."""
    closed: bool = False

    def __post_init__(self) -> None:
        self._messages: dict[str, _Stored] = {}
        self._ids = itertools.count(1)
        self._errors: defaultdict[str, deque[CloudError]] = defaultdict(deque)
        self._entries: defaultdict[str, deque[EntryFailure]] = defaultdict(deque)
        self._changed = asyncio.Event()
        self._moved = asyncio.Event()
        self._receives = 0

    def send(self, body: str = "work", *, group: str | None = None, delay_s: float = 0.0) -> str:
        """The new message's id."""
        message_id = f"m{next(self._ids)}"
        now_s = self._now()
        self._messages[message_id] = _Stored(body, now_s, group, visible_at_s=now_s + delay_s)
        self._changed.set()
        return message_id

    def fail(self, operation: str, *errors: CloudError) -> None:
        """The next calls of "receive", "delete", "change", "dead_letter" or "attributes" raise these, one each."""
        self._errors[operation].extend(errors)

    def fail_entry(self, operation: str, *failures: EntryFailure) -> None:
        """The next "delete" or "change" calls succeed but for this entry (its `index` of the call), one each."""
        self._entries[operation].extend(failures)

    def show_again(self, message_id: str) -> None:
        """Makes a message visible though it is held, as at-least-once delivery may."""
        self._messages[message_id].visible_at_s = self._now()
        self._changed.set()

    def visible(self) -> set[str]:
        """Ids of messages that a receive would find now."""
        return {message_id for message_id, stored in self._messages.items() if stored.visible_at_s <= self._now()}

    def in_flight(self) -> set[str]:
        """Ids of messages that are neither visible nor deleted."""
        return set(self._messages) - self.visible()

    async def all_deleted(self) -> None:
        """Waits until nothing that was sent is left; in virtual time it takes none."""
        await self._until(lambda: not self._messages)

    async def received(self, times: int) -> None:
        """Waits until messages have been handed out so often in all."""
        await self._until(lambda: self._receives >= times)

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._moved.clear()
            await self._moved.wait()

    def of(self, operation: str) -> list[QueueCall]:
        """The calls of one kind, oldest first."""
        return [call for call in self.calls if call.operation == operation]

    async def visibility_timeout_s(self) -> int:
        self._raise_planned("attributes")
        return self.visibility_s

    async def max_receives(self) -> int | None:
        self._raise_planned("attributes")
        return self.max_receive_count

    async def backlog(self) -> int:
        self._raise_planned("attributes")
        return len(self.visible())

    async def receive(self, limit: int, wait_s: int, visibility_s: int) -> list[Received]:
        self.calls.append(QueueCall("receive", self._now(), limit=limit))
        self._raise_planned("receive")
        until_s = self._now() + wait_s
        while True:
            self._changed.clear()
            visible = self.visible()
            found = sorted((id_ for id_ in self._messages if id_ in visible), key=self._visible_at_s)
            if found or until_s - self._now() < _FINEST_S:
                return [self._hand_out(message_id, visibility_s) for message_id in found[:limit]]
            coming = [stored.visible_at_s for stored in self._messages.values()]
            try:
                async with asyncio.timeout(max(_FINEST_S, min([until_s, *coming]) - self._now())):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def delete(self, receipt_handles: Sequence[str]) -> list[EntryFailure]:
        self.calls.append(QueueCall("delete", self._now(), tuple(receipt_handles)))
        return await self._each("delete", receipt_handles, self._delete)

    async def change_visibility(self, changes: Sequence[VisibilityChange]) -> list[EntryFailure]:
        handles = tuple(change.receipt_handle for change in changes)
        self.calls.append(QueueCall("change", self._now(), handles, tuple(change.timeout_s for change in changes)))
        failures = await self._each("change", changes, self._change)
        self._changed.set()
        return failures

    async def dead_letter(self, received: Received, reason: str) -> None:
        self.calls.append(QueueCall("dead_letter", self._now(), (received.receipt_handle,)))
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        self._raise_planned("dead_letter")
        self.dead_letters.append((received.message_id, reason))

    async def close(self) -> None:
        self.closed = True

    def _now(self) -> float:
        return self.clock() if self.clock is not None else asyncio.get_running_loop().time()

    def _raise_planned(self, operation: str) -> None:
        if self._errors[operation]:
            raise self._errors[operation].popleft()

    async def _each(
        self, operation: str, entries: Sequence[T], apply: Callable[[T], tuple[str, str] | None]
    ) -> list[EntryFailure]:
        if self.latency_s:
            await asyncio.sleep(self.latency_s)
        self._raise_planned(operation)
        planned = [self._entries[operation].popleft()] if self._entries[operation] else []
        spared = {failure.index for failure in planned}
        refused = [(i, apply(entry)) for i, entry in enumerate(entries) if i not in spared]
        return planned + [EntryFailure(i, *refusal, sender_fault=True) for i, refusal in refused if refusal]

    def _visible_at_s(self, message_id: str) -> float:
        return self._messages[message_id].visible_at_s

    def _hand_out(self, message_id: str, visibility_s: int) -> Received:
        stored = self._messages[message_id]
        now_s = self._now()
        stored.receives += 1
        self._receives += 1
        self._moved.set()
        stored.handle = f"{message_id}#{stored.receives}"
        stored.visible_at_s = now_s + visibility_s
        stored.received_at_s = now_s
        if stored.first_receive_at_s is None:
            stored.first_receive_at_s = now_s
        return Received(message_id, stored.handle, stored.body, self._attributes(stored))

    def _attributes(self, stored: _Stored) -> Mapping[str, str]:
        first_s = stored.received_at_s if stored.first_receive_at_s is None else stored.first_receive_at_s
        times = {"SentTimestamp": stored.sent_at_s, "ApproximateFirstReceiveTimestamp": first_s}
        milliseconds = {name: str(round((at_s + self.wall_offset_s) * 1000)) for name, at_s in times.items()}
        group = {"MessageGroupId": stored.group} if stored.group is not None else {}
        return {"ApproximateReceiveCount": str(stored.receives), **milliseconds, **group}

    def _delete(self, receipt_handle: str) -> tuple[str, str] | None:
        """A stale handle is answered like a good one, and deletes nothing."""
        message_id = receipt_handle.partition("#")[0]
        stored = self._messages.get(message_id)
        if stored is not None and stored.handle == receipt_handle:
            del self._messages[message_id]
            self.deleted.append(message_id)
            self._moved.set()
        return None

    def _change(self, change: VisibilityChange) -> tuple[str, str] | None:
        stored = self._messages.get(change.receipt_handle.partition("#")[0])
        now_s = self._now()
        if stored is None:
            return "InvalidParameterValue", "Value for parameter ReceiptHandle is invalid. Reason: no such message."
        if stored.handle != change.receipt_handle or stored.visible_at_s <= now_s:
            return "MessageNotInflight", "The message is not in flight."
        if now_s + change.timeout_s > stored.received_at_s + _LONGEST_LEASE_S:
            return "InvalidParameterValue", "Total VisibilityTimeout for the message is beyond the limit."
        stored.visible_at_s = now_s + change.timeout_s
        return None
