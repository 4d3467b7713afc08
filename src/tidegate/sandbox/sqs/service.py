"""All queues of the endpoint by name, and what happens between them: dead-letter moves."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value, queue_does_not_exist
from tidegate.sandbox.sqs.model import Message, Observer, QueueSnapshot
from tidegate.sandbox.sqs.queue import Limits, Queue
from tidegate.sandbox.sqs.settings import QueueSettings, changed, described

__all__ = ["ACCOUNT", "Entry", "Service"]

ACCOUNT = "000000000000"
_NAME = re.compile(r"[A-Za-z0-9_-]{1,80}|[A-Za-z0-9_-]{1,75}\.fifo")


@dataclass(slots=True)
class Entry:
    """A queue with what only its registry needs."""

    queue: Queue
    created_at_s: float
    modified_at_s: float
    tags: dict[str, str] = field(default_factory=dict)


class Service:
    """The registry. `touched` is called whenever a queue may have got a message that a long poll waits for."""

    def __init__(
        self,
        *,
        clock: Callable[[], float],
        rng: random.Random,
        observer: Observer,
        limits: Limits,
        region: str,
        touched: Callable[[Queue], None],
    ) -> None:
        self.now, self.touched = clock, touched
        self._rng, self._observer, self._limits, self._region = rng, observer, limits, region
        self._entries: dict[str, Entry] = {}

    def entry(self, name: str) -> Entry:
        """Raises QueueDoesNotExist."""
        entry = self._entries.get(name)
        if entry is None:
            raise queue_does_not_exist()
        return entry

    def names(self) -> list[str]:
        return sorted(self._entries)

    def create(self, name: str, attributes: Mapping[str, str], tags: Mapping[str, str]) -> None:
        """Make a queue, or nothing where one of that name has these attributes. Raises QueueNameExists otherwise."""
        if not _NAME.fullmatch(name):
            reason = "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length"
            raise Refusal(Code.INVALID_PARAMETER_VALUE, reason)
        if (existing := self._entries.get(name)) is not None:
            return _must_agree(existing.queue.settings, attributes)
        fifo = name.endswith(".fifo")
        if (attributes.get("FifoQueue") == "true") is not fifo:
            raise invalid_value(name, "QueueName", "The name of a FIFO queue can only end in .fifo, no other's can.")
        settings = changed(QueueSettings(fifo=fifo), attributes)
        self._check_redrive(settings)
        queue = Queue(name, self._arn(name), settings, rng=self._rng, observer=self._observer, limits=self._limits)
        now_s = self.now()
        self._entries[name] = Entry(queue, now_s, now_s, dict(tags))
        return None

    def configure(self, name: str, attributes: Mapping[str, str]) -> None:
        entry = self.entry(name)
        settings = changed(entry.queue.settings, attributes)
        self._check_redrive(settings)
        entry.queue.configure(settings, self.now())
        entry.modified_at_s = self.now()
        self.touched(entry.queue)

    def delete(self, name: str) -> Queue:
        queue = self.entry(name).queue
        queue.clear(self.now())
        del self._entries[name]
        return queue

    def take(self, queue: Queue, limit: int, visibility_s: int) -> list[Message]:
        """Lease messages, and move those that were received too often to the dead-letter queue, if it exists."""
        redrive = queue.settings.redrive
        target = self._by_arn(redrive.target_arn) if redrive else None
        now_s = self.now()
        if redrive is None or target is None:
            return queue.take(limit, visibility_s, now_s).leased
        taken = queue.take(limit, visibility_s, now_s, redrive.max_receive_count)
        for message in taken.spent:
            target.adopt(message, queue.arn, now_s)
            self._observer.moved(queue.name, target.name, message.sent.message_id, now_s)
        if taken.spent:
            self.touched(target)
        return taken.leased

    def sources_of(self, queue: Queue) -> list[str]:
        """Names of the queues whose dead-letter queue this is."""
        return [
            name
            for name in self.names()
            if (redrive := self._entries[name].queue.settings.redrive) and redrive.target_arn == queue.arn
        ]

    def attributes(self, name: str) -> dict[str, str]:
        """Everything that GetQueueAttributes can tell."""
        entry = self.entry(name)
        queue = entry.queue
        queue.advance(self.now())
        return {
            "QueueArn": queue.arn,
            "ApproximateNumberOfMessages": str(queue.visible),
            "ApproximateNumberOfMessagesNotVisible": str(queue.in_flight),
            "ApproximateNumberOfMessagesDelayed": str(queue.delayed),
            "CreatedTimestamp": str(int(entry.created_at_s)),
            "LastModifiedTimestamp": str(int(entry.modified_at_s)),
            **described(queue.settings),
        }

    def snapshot(self) -> dict[str, QueueSnapshot]:
        now_s = self.now()
        return {name: self._entries[name].queue.snapshot(now_s) for name in self.names()}

    def _arn(self, name: str) -> str:
        return f"arn:aws:sqs:{self._region}:{ACCOUNT}:{name}"

    def _by_arn(self, arn: str) -> Queue | None:
        """Region and account are not looked at: this endpoint has one of each."""
        entry = self._entries.get(arn.rpartition(":")[2])
        return entry.queue if entry else None

    def _check_redrive(self, settings: QueueSettings) -> None:
        if settings.redrive is None:
            return
        target = self._by_arn(settings.redrive.target_arn)
        policy = described(settings)["RedrivePolicy"]
        if target is None:
            raise invalid_value(policy, "RedrivePolicy", "Dead letter target does not exist.")
        if target.settings.fifo is not settings.fifo:
            reason = "Dead-letter queue must be same type of queue as the source."
            raise invalid_value(policy, "RedrivePolicy", reason)


def _must_agree(settings: QueueSettings, attributes: Mapping[str, str]) -> None:
    for name, value in attributes.items():
        if changed(settings, {name: value}) != settings:
            text = f"A queue already exists with the same name and a different value for attribute {name}"
            raise Refusal(Code.QUEUE_NAME_EXISTS, text)
