"""One queue as a pure state machine: the time comes in with each call, randomness with the queue, nothing goes out.

Every call first brings the queue up to its time: delays that came due, leases that lapsed, messages past retention.
"""

import random
import uuid
from dataclasses import asdict, dataclass

from tidegate.sandbox.sqs.faults import Code, Refusal, invalid_value, not_in_flight
from tidegate.sandbox.sqs.fifo import Deduplication, Groups
from tidegate.sandbox.sqs.handles import Handles
from tidegate.sandbox.sqs.holding import Holding
from tidegate.sandbox.sqs.model import Draft, Message, Observer, QueueSnapshot, Sent, State, Totals
from tidegate.sandbox.sqs.settings import QueueSettings
from tidegate.sandbox.sqs.shards import POISON_RECEIVES, Shards

__all__ = ["Limits", "Queue", "Taken"]

LONGEST_LEASE_S = 43_200
"""From the receive, however often it is extended.
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
PURGE_INTERVAL_S = 60.0
"""https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html"""
_FIRST_SEQUENCE = 10**19
"""SequenceNumber has 20 digits and grows by no fixed step."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a test may make smaller. In flight:
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""

    in_flight: int = 120_000
    shards: int = 8


@dataclass(frozen=True, slots=True)
class Taken:
    """What a receive took out: leased to the caller, or spent (received too often, bound for the dead-letter queue)."""

    leased: list[Message]
    spent: list[Message]


class Queue:
    """What producers, consumers and operators can do to one queue, and what time does to it."""

    def __init__(
        self, name: str, arn: str, settings: QueueSettings, *, rng: random.Random, observer: Observer, limits: Limits
    ) -> None:
        self.name, self.arn, self.settings, self.totals = name, arn, settings, Totals()
        self._rng, self._observer, self._limits = rng, observer, limits
        self._handles = Handles(name, rng.getrandbits(32))
        self._held = Holding(Groups() if settings.fifo else Shards(rng, limits.shards))
        self._deduplication = Deduplication()
        self._last_number = 0
        self._purged_at_s: float | None = None

    # What can be read

    @property
    def visible(self) -> int:
        return self._held.count(State.VISIBLE)

    @property
    def in_flight(self) -> int:
        return self._held.count(State.IN_FLIGHT)

    @property
    def delayed(self) -> int:
        return self._held.count(State.DELAYED)

    @property
    def full(self) -> bool:
        """As many messages in flight as SQS allows."""
        return self.in_flight >= self._limits.in_flight

    def next_due_s(self) -> float | None:
        """When the next delay or lease ends: no message becomes visible by itself before."""
        return self._held.next_due_s()

    def snapshot(self, now_s: float) -> QueueSnapshot:
        self.advance(now_s)
        oldest_s = self._held.oldest_s()
        return QueueSnapshot(
            name=self.name,
            arn=self.arn,
            taken_at_s=now_s,
            visible=self.visible,
            in_flight=self.in_flight,
            delayed=self.delayed,
            oldest_age_s=None if oldest_s is None else max(0.0, now_s - oldest_s),
            **asdict(self.totals),
        )

    # What producers do

    def send(self, draft: Draft, now_s: float) -> Sent:
        self.advance(now_s)
        key = self._deduplication_key(draft)
        if key and (original := self._deduplication.original(key, now_s)):
            return original
        number = self._next_number()
        sequence = str(_FIRST_SEQUENCE + number * 256) if self.settings.fifo else None
        sent = Sent(str(uuid.UUID(int=self._rng.getrandbits(128), version=4)), sequence)
        delay_s = self.settings.delay_s if draft.delay_s is None else draft.delay_s
        self._enter(Message(number, sent, draft, sent_at_s=now_s, entered_at_s=now_s), delay_s)
        if key:
            self._deduplication.remember(key, sent, now_s)
        self.totals.sent += 1
        self._observer.sent(self.name, sent.message_id, now_s)
        return sent

    def adopt(self, message: Message, source_arn: str, now_s: float) -> None:
        """Take over another queue's message: same id, time of sending and receive count; the age begins anew."""
        self.advance(now_s)
        self._enter(
            Message(
                self._next_number(),
                message.sent,
                message.draft,
                sent_at_s=message.sent_at_s,
                entered_at_s=now_s,
                receive_count=message.receive_count,
                first_received_at_s=message.first_received_at_s,
                dead_letter_source=source_arn,
            ),
            delay_s=0,
        )
        self.totals.moved_in += 1

    # What consumers do

    def take(self, limit: int, visibility_s: int, now_s: float, max_receive_count: int | None = None) -> Taken:
        """Lease up to `limit` messages for `visibility_s`; none while the queue is `full`.

        With `max_receive_count`, messages received that often are taken out for good and returned as spent.
        """
        self.advance(now_s)
        taken = Taken([], [])
        room = min(limit, self._limits.in_flight - self.in_flight)
        while len(taken.leased) < room:
            drawn = self._held.order.draw(room - len(taken.leased))
            if not drawn:
                break
            for message in drawn:
                if max_receive_count is not None and message.receive_count >= max_receive_count:
                    self._held.drop_drawn(message)
                    self.totals.moved_out += 1
                    taken.spent.append(message)
                else:
                    self._lease(message, visibility_s, now_s)
                    taken.leased.append(message)
        return taken

    def delete(self, handle: str, now_s: float) -> None:
        """Delete the message that the lease is for.

        Of an older lease: a standard queue answers success and deletes nothing, a FIFO queue refuses (and does so
        from the end of the lease on). A message that is gone already counts as deleted.
        """
        self.advance(now_s)
        message, lease = self._find(handle)
        if message is None:
            return
        newest = message.receive_count == lease
        if self.settings.fifo and not (newest and message.state is State.IN_FLIGHT):
            raise invalid_value(handle, "ReceiptHandle", "The receipt handle has expired.")
        if newest:
            self._held.drop(message)
            self.totals.deleted += 1
            self._observer.deleted(self.name, message.sent.message_id, now_s)

    def change_visibility(self, handle: str, timeout_s: int, now_s: float) -> None:
        """End the lease `timeout_s` from now. Raises Refusal when it is no longer held, or would exceed 12 hours."""
        self.advance(now_s)
        message, lease = self._find(handle)
        if message is None:
            raise invalid_value(
                handle,
                "ReceiptHandle",
                "Message does not exist or is not available for visibility timeout change.",
            )
        if message.state is not State.IN_FLIGHT or message.receive_count != lease:
            raise not_in_flight()
        if now_s + timeout_s - message.leased_at_s > LONGEST_LEASE_S:
            reason = f"Total VisibilityTimeout for the message is beyond the limit [{LONGEST_LEASE_S} seconds]"
            raise invalid_value(timeout_s, "VisibilityTimeout", reason)
        if timeout_s == 0:
            self._held.release(message)
        else:
            self._held.reschedule(message, now_s + timeout_s)

    def handle(self, message: Message) -> str:
        """The receipt handle of the newest lease of `message`."""
        return self._handles.make(message.number, message.receive_count)

    # What operators and time do

    def configure(self, settings: QueueSettings, now_s: float) -> None:
        """Set attributes. A new delay holds for waiting messages too on FIFO queues, for new ones only on standard.
        https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html"""
        self.advance(now_s)
        delay_changed = settings.delay_s != self.settings.delay_s
        self.settings = settings
        if settings.fifo and delay_changed:
            for message in self._held.messages.values():
                if message.state is State.DELAYED:
                    self._held.reschedule(message, message.entered_at_s + settings.delay_s)

    def purge(self, now_s: float) -> None:
        """Delete everything, at once (SQS takes up to a minute). Raises PurgeQueueInProgress for a minute after."""
        if self._purged_at_s is not None and now_s - self._purged_at_s < PURGE_INTERVAL_S:
            text = f"Only one PurgeQueue operation on {self.name} is allowed every 60 seconds."
            raise Refusal(Code.PURGE_QUEUE_IN_PROGRESS, text)
        self._purged_at_s = now_s
        self.clear(now_s)

    def clear(self, now_s: float) -> None:
        """Delete every message: a purge, or the end of the queue."""
        self.advance(now_s)
        for message in list(self._held.messages.values()):
            self._held.drop(message)
            self.totals.purged += 1
            self._observer.deleted(self.name, message.sent.message_id, now_s)

    def advance(self, now_s: float) -> None:
        """Make visible what came due by `now_s`, and drop what is past the retention period."""
        self._held.come_due(now_s)
        for message in self._held.kept_since(now_s - self.settings.retention_s):
            self._held.drop(message)
            self.totals.expired += 1
            self._observer.expired(self.name, message.sent.message_id, now_s)

    def _enter(self, message: Message, delay_s: int) -> None:
        # A FIFO dead-letter queue counts retention from the move, a standard one from the sending.
        # https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html
        kept_from_s = message.entered_at_s if self.settings.fifo else message.sent_at_s
        self._held.enter(message, kept_from_s=kept_from_s, delay_s=delay_s)

    def _lease(self, message: Message, visibility_s: int, now_s: float) -> None:
        message.receive_count += 1
        message.leased_at_s = now_s
        if message.first_received_at_s is None:
            message.first_received_at_s = now_s
        if message.receive_count >= POISON_RECEIVES and not self.settings.fifo:
            self._held.leave_out_of_age(message)
        self._held.lease(message, now_s + visibility_s)
        self.totals.received += 1
        self._observer.received(self.name, message.sent.message_id, message.receive_count, now_s)

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    def _deduplication_key(self, draft: Draft) -> tuple[str, str] | None:
        if draft.deduplication_id is None:
            return None
        scope = draft.group if self.settings.deduplication_scope == "messageGroup" else None
        return scope or "", draft.deduplication_id

    def _find(self, handle: str) -> tuple[Message | None, int]:
        """The message, None when it is gone, and the number of the lease."""
        number, lease = self._handles.read(handle)
        return self._held.messages.get(number), lease
