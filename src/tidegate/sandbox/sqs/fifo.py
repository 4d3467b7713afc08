"""The order of a FIFO queue: groups, each blocked while one of its messages is in flight; and deduplication.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
"""

import heapq
from collections import deque
from dataclasses import dataclass, field

from tidegate.sandbox.sqs.model import Message, Sent, State

__all__ = ["Deduplication", "Groups"]

DEDUPLICATION_WINDOW_S = 300.0
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html"""


@dataclass(slots=True)
class _Group:
    waiting: list[tuple[int, Message]] = field(default_factory=list)
    held: int = 0


class Groups:
    """Groups by name, and the heap of those that may be drawn from, by the number of their first message.

    Always true: a group with waiting and no held messages has its first message's number in the heap. Entries
    that no longer say the truth are passed over when they surface.
    """

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._open: list[tuple[int, str]] = []

    def add(self, message: Message) -> None:
        name = message.draft.group or ""
        group = self._groups.setdefault(name, _Group())
        heapq.heappush(group.waiting, (message.number, message))
        if group.waiting[0][1] is message:
            self._offer(name, group)

    def put_back(self, message: Message) -> None:
        name = message.draft.group or ""
        group = self._groups[name]
        group.held -= 1
        heapq.heappush(group.waiting, (message.number, message))
        self._offer(name, group)

    def settle(self, message: Message) -> None:
        name = message.draft.group or ""
        group = self._groups[name]
        group.held -= 1
        self._offer(name, group)

    def forget(self, message: Message) -> None:
        name = message.draft.group or ""
        self._offer(name, self._groups[name])

    def draw(self, limit: int) -> list[Message]:
        """As many as possible of one group before the next, as AWS does; the group that waited longest first."""
        drawn: list[Message] = []
        while self._open and len(drawn) < limit:
            number, name = heapq.heappop(self._open)
            group = self._groups.get(name)
            if group is None or group.held or not group.waiting or group.waiting[0][0] != number:
                continue
            self._draw_from(group, limit, drawn)
        return drawn

    def _draw_from(self, group: _Group, limit: int, drawn: list[Message]) -> None:
        while group.waiting and len(drawn) < limit:
            _, message = heapq.heappop(group.waiting)
            if message.state is State.VISIBLE:
                group.held += 1
                drawn.append(message)

    def _offer(self, name: str, group: _Group) -> None:
        while group.waiting and group.waiting[0][1].state is State.GONE:
            heapq.heappop(group.waiting)
        if group.held:
            return
        if group.waiting:
            heapq.heappush(self._open, (group.waiting[0][0], name))
        else:
            self._groups.pop(name, None)


class Deduplication:
    """What was sent in the last five minutes, by deduplication key."""

    def __init__(self) -> None:
        self._sent: dict[tuple[str, str], Sent] = {}
        self._oldest_first: deque[tuple[float, tuple[str, str]]] = deque()

    def original(self, key: tuple[str, str], now_s: float) -> Sent | None:
        """The message that was sent under `key` less than five minutes ago, also when it was deleted since."""
        while self._oldest_first and self._oldest_first[0][0] <= now_s - DEDUPLICATION_WINDOW_S:
            del self._sent[self._oldest_first.popleft()[1]]
        return self._sent.get(key)

    def remember(self, key: tuple[str, str], sent: Sent, now_s: float) -> None:
        self._sent[key] = sent
        self._oldest_first.append((now_s, key))
