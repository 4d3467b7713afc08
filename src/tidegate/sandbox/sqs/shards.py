"""The order of a standard queue: many shards, each nearly first-in first-out, read in random order.

SQS keeps a standard queue on many servers and promises best-effort ordering only
(https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/standard-queues.html). Unlike SQS, a
receive looks at every shard, so that a short poll of a small queue is not empty by chance.
"""

import random
from collections import deque
from typing import Protocol

from tidegate.sandbox.sqs.model import Message, State

__all__ = ["POISON_RECEIVES", "Order", "Shards"]

POISON_RECEIVES = 3
"""From this many receives on, a message of a standard queue goes to the back and is left out of the age.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""


class Order(Protocol):
    """Which visible message is handed out next. A message is `held` from its draw until put back or settled."""

    def add(self, message: Message) -> None:
        """It became visible for the first time."""
        ...

    def put_back(self, message: Message) -> None:
        """Its lease ended without a delete."""
        ...

    def draw(self, limit: int) -> list[Message]:
        """Take out up to `limit` messages, which are held from now on."""
        ...

    def settle(self, message: Message) -> None:
        """A held message left the queue."""
        ...

    def forget(self, message: Message) -> None:
        """A visible message left the queue (its state says so already)."""
        ...


class Shards:
    """Messages spread over `count` shards; each draw begins at a random one."""

    def __init__(self, rng: random.Random, count: int) -> None:
        self._rng = rng
        self._shards: list[deque[Message]] = [deque() for _ in range(count)]

    def add(self, message: Message) -> None:
        message.shard = int(self._rng.random() * len(self._shards))
        self._shards[message.shard].append(message)

    def put_back(self, message: Message) -> None:
        if message.receive_count >= POISON_RECEIVES:
            self._shards[message.shard].append(message)
        else:
            self._shards[message.shard].appendleft(message)

    def draw(self, limit: int) -> list[Message]:
        drawn: list[Message] = []
        while len(drawn) < limit and (message := self._draw_one()):
            drawn.append(message)
        return drawn

    def _draw_one(self) -> Message | None:
        count = len(self._shards)
        start = int(self._rng.random() * count)
        for step in range(count):
            shard = self._shards[(start + step) % count]
            while shard:
                message = shard.popleft()
                if message.state is State.VISIBLE:
                    return message
        return None

    def settle(self, message: Message) -> None:
        """Nothing waits for it."""

    def forget(self, message: Message) -> None:
        shard = self._shards[message.shard]
        while shard and shard[0].state is State.GONE:
            shard.popleft()
