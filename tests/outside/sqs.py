"""A queue as SQS has them: messages on several hosts, counts that hosts publish now and then, CloudWatch's minutes."""

import random
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Counts", "FifoQueue", "Message", "Minute", "Queue", "RandomQueue", "StandardQueue"]

_POISONED_AFTER = 3
"""Receives after which a standard queue's message no longer counts for the age
(SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html)."""


@dataclass(slots=True, eq=False)
class Message:
    """It comes into the queue, is due (could first be received), and ages since it was sent; all three are mostly one.

    `failures` attempts fail before one works. A redriven message is `aged_s` old when it comes.
    """

    comes_s: float
    due_s: float
    service_s: float
    failures: int = 0
    group: int = 0
    job_class: str = ""
    receives: int = 0
    started_s: float | None = None
    counts: bool = True
    """Whether its wait is judged: one that is moved in from a dead-letter queue is late before it comes."""
    host: int = 0
    aged_s: float = 0.0

    @property
    def sent_s(self) -> float:
        """As SQS stamps it."""
        return self.comes_s - self.aged_s


@dataclass(frozen=True, slots=True)
class Counts:
    """What GetQueueAttributes says."""

    visible: int
    in_flight: int
    delayed: int


@dataclass(frozen=True, slots=True)
class Minute:
    """One CloudWatch minute: when it ended, when it can be read, the oldest age (None: no message) and two sums."""

    end_s: float
    seen_s: float
    age_s: float | None
    sent: int
    deleted: int


@dataclass(eq=False)
class Queue(ABC):
    """What both kinds share. `noise` is the relative error of each host's count when it is published."""

    chance: random.Random
    hosts: int = 8
    noise: float = 0.05
    sent: int = 0
    deleted: int = 0
    delayed: int = 0
    in_flight: list[int] = field(default_factory=list)
    told: list[tuple[int, int, int]] = field(default_factory=list)
    returned: set[Message] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.in_flight = [0] * self.hosts
        self.told = [(0, 0, 0)] * self.hosts

    @property
    @abstractmethod
    def waiting(self) -> int:
        """Messages that a receive call could get, or, in a FIFO queue, could get once their group is free."""

    @property
    def is_empty(self) -> bool:
        """Nothing waits, is delayed or in flight."""
        return not (self.waiting or self.delayed or sum(self.in_flight))

    @abstractmethod
    def visible(self) -> Iterator[Message]:
        """All that wait."""

    def send(self, message: Message) -> None:
        """A message becomes visible for the first time."""
        self.sent += 1
        message.host = self.chance.randrange(self.hosts)
        self._put(message)

    def come_back(self, message: Message) -> None:
        """Its visibility timeout has ended."""
        self.in_flight[message.host] -= 1
        self.returned.add(message)
        self._put(message)

    def delete(self, message: Message) -> None:
        """Done with."""
        self.deleted += 1
        self.in_flight[message.host] -= 1

    def receive(self) -> Message | None:
        """The next message, now in flight; None when there is none to be had."""
        message = self._take()
        if message is not None:
            message.receives += 1
            self.in_flight[message.host] += 1
            self.returned.discard(message)
        return message

    @abstractmethod
    def _put(self, message: Message) -> None: ...

    @abstractmethod
    def _take(self) -> Message | None: ...

    @abstractmethod
    def purge(self) -> list[Message]:
        """All that wait are gone; what they were."""

    @abstractmethod
    def _on_host(self, host: int) -> int: ...

    def publish(self, host: int) -> None:
        """A host tells what it holds; what is delayed is spread evenly."""
        self.told[host] = (self._noisy(self._on_host(host)), self._noisy(self.in_flight[host]), self.delayed)

    def _noisy(self, count: int) -> int:
        return max(0, round(count * (1 + self.noise * self.chance.gauss(0, 1)))) if count and self.noise else count

    def counts(self) -> Counts:
        """As hosts last told."""
        visible, flying, delayed = (sum(told[i] for told in self.told) for i in range(3))
        return Counts(visible, flying, round(delayed / self.hosts))

    def oldest_age_s(self, now_s: float, working: Iterable[Message]) -> float | None:
        """Of what waits (and is worked on, where SQS is taken to count that); None when there is nothing."""
        heads = [*self._heads(), *self.returned, *working]
        ages = [now_s - message.sent_s for message in heads if self._ages(message)]
        return max(ages) if ages else None

    @abstractmethod
    def _heads(self) -> Iterator[Message]: ...

    def _ages(self, message: Message) -> bool:
        return message.receives < _POISONED_AFTER


class StandardQueue(Queue):
    """Each receive call gets what is oldest on one host, whichever it comes to: order holds on a host only."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lanes: list[deque[Message]] = [deque() for _ in range(self.hosts)]
        self._size = 0

    @property
    def waiting(self) -> int:
        return self._size

    def visible(self) -> Iterator[Message]:
        return (message for lane in self._lanes for message in lane)

    def _heads(self) -> Iterator[Message]:
        return (lane[0] for lane in self._lanes if lane)

    def _put(self, message: Message) -> None:
        self._lanes[message.host].append(message)
        self._size += 1

    def _take(self) -> Message | None:
        if not self._size:
            return None
        first = int(self.chance.random() * self.hosts)
        for host in range(first, first + self.hosts):
            if lane := self._lanes[host % self.hosts]:
                self._size -= 1
                return self._from(lane)
        return None

    def _from(self, lane: deque[Message]) -> Message:
        return lane.popleft()

    def purge(self) -> list[Message]:
        gone = list(self.visible())
        for lane in self._lanes:
            lane.clear()
        self._size = 0
        self.returned.clear()
        return gone

    def _on_host(self, host: int) -> int:
        return len(self._lanes[host])


class RandomQueue(StandardQueue):
    """Each receive call gets any of a host's messages: AWS promises no more than an attempt at order."""

    def _heads(self) -> Iterator[Message]:
        return self.visible()

    def _from(self, lane: deque[Message]) -> Message:
        picked = self.chance.randrange(len(lane))
        lane[picked], lane[-1] = lane[-1], lane[picked]
        return lane.pop()


class FifoQueue(Queue):
    """In order within a group, and one message of a group at a time."""

    def __post_init__(self) -> None:
        self.hosts = 1
        super().__post_init__()
        self._groups: dict[int, deque[Message]] = {}
        self._free: deque[int] = deque()
        self._locked: set[int] = set()
        self._size = 0

    @property
    def waiting(self) -> int:
        return self._size

    def visible(self) -> Iterator[Message]:
        return (message for group in self._groups.values() for message in group)

    def _heads(self) -> Iterator[Message]:
        return (group[0] for group in self._groups.values())

    def _ages(self, message: Message) -> bool:
        return True

    def _put(self, message: Message) -> None:
        self._size += 1
        group = self._groups.get(message.group)
        if group is None:
            group = self._groups[message.group] = deque()
            if message.group not in self._locked:
                self._free.append(message.group)
        group.append(message)

    def come_back(self, message: Message) -> None:
        self.in_flight[message.host] -= 1
        self.returned.add(message)
        self._size += 1
        self._groups.setdefault(message.group, deque()).appendleft(message)
        self._unlock(message.group)

    def delete(self, message: Message) -> None:
        super().delete(message)
        self._unlock(message.group)

    def _unlock(self, group: int) -> None:
        self._locked.discard(group)
        if group in self._groups:
            self._free.append(group)

    def _take(self) -> Message | None:
        if not self._free:
            return None
        name = self._free.popleft()
        group = self._groups[name]
        message = group.popleft()
        if not group:
            del self._groups[name]
        self._locked.add(name)
        self._size -= 1
        return message

    def purge(self) -> list[Message]:
        gone = list(self.visible())
        self._groups.clear()
        self._free.clear()
        self._size = 0
        self.returned.clear()
        return gone

    def _on_host(self, host: int) -> int:
        return self._size
