"""Where each message of a queue is, and until when: the only place in which a message changes its state."""

from collections.abc import Iterator

from tidegate.sandbox.sqs.agenda import Agenda
from tidegate.sandbox.sqs.model import Message, State
from tidegate.sandbox.sqs.shards import Order

__all__ = ["Holding"]


class Holding:
    """Messages by number, their exact counts by state, and what ends when. Every step is O(log n)."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.messages: dict[int, Message] = {}
        self._counts = dict.fromkeys(State, 0)
        self._due = Agenda()
        self._kept_from = Agenda()
        self._aged_from = Agenda()

    def count(self, state: State) -> int:
        return self._counts[state]

    def next_due_s(self) -> float | None:
        """When the next delay or lease ends."""
        return self._due.first_s()

    def oldest_s(self) -> float | None:
        """When the oldest message that counts for the age came in."""
        return self._aged_from.first_s()

    def come_due(self, now_s: float) -> None:
        """Make visible every message whose delay or lease ends by `now_s`."""
        for number in self._due.take_due(now_s):
            self._show(self.messages[number])

    def kept_since(self, limit_s: float) -> Iterator[Message]:
        """The messages whose retention began by `limit_s`; each must be dropped before the next is asked for."""
        for number in self._kept_from.take_due(limit_s):
            yield self.messages[number]

    def enter(self, message: Message, *, kept_from_s: float, delay_s: int) -> None:
        self.messages[message.number] = message
        self._kept_from.set(message.number, kept_from_s)
        self._aged_from.set(message.number, message.entered_at_s)
        self._counts[State.DELAYED] += 1
        if delay_s:
            self.reschedule(message, message.entered_at_s + delay_s)
        else:
            self._show(message)

    def lease(self, message: Message, until_s: float) -> None:
        """A message that was drawn from the order is in flight until then."""
        self._move(message, State.IN_FLIGHT)
        self.reschedule(message, until_s)

    def reschedule(self, message: Message, until_s: float) -> None:
        """Its delay or lease ends then instead."""
        self._due.set(message.number, until_s)

    def release(self, message: Message) -> None:
        """Its lease ends now."""
        self._due.forget(message.number)
        self._show(message)

    def leave_out_of_age(self, message: Message) -> None:
        self._aged_from.forget(message.number)

    def drop(self, message: Message) -> None:
        """It leaves the queue, from wherever it is."""
        was = message.state
        self._remove(message)
        if was is State.IN_FLIGHT:
            self.order.settle(message)
        elif was is State.VISIBLE:
            self.order.forget(message)

    def drop_drawn(self, message: Message) -> None:
        """It was drawn from the order and leaves the queue instead of being leased."""
        self._remove(message)
        self.order.settle(message)

    def _show(self, message: Message) -> None:
        was = message.state
        self._move(message, State.VISIBLE)
        if was is State.DELAYED:
            self.order.add(message)
        else:
            self.order.put_back(message)

    def _remove(self, message: Message) -> None:
        self._move(message, State.GONE)
        del self.messages[message.number]
        for agenda in (self._due, self._kept_from, self._aged_from):
            agenda.forget(message.number)

    def _move(self, message: Message, state: State) -> None:
        self._counts[message.state] -= 1
        self._counts[state] += 1
        message.state = state
