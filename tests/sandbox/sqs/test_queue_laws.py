"""Laws that hold for every history of a queue: nothing is lost, nothing is leased twice, counts are exact."""

from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.sandbox.sqs.builders import START_S, a_draft, a_queue
from tidegate.sandbox.sqs.faults import Refusal
from tidegate.sandbox.sqs.model import Message
from tidegate.sandbox.sqs.queue import Limits

RETENTION_S = 300
MAX_RECEIVES = 4
LIMIT = 12
GROUPS = ("a", "b", "c")


class QueueHistory(RuleBasedStateMachine):
    """Random sends, receives, deletes, extensions and waits, followed along by a model that knows only leases."""

    settings_of_queue: Mapping[str, Any] = {"retention_s": RETENTION_S}

    def __init__(self) -> None:
        super().__init__()
        self.queue = a_queue(limits=Limits(in_flight=LIMIT), **self.settings_of_queue)
        self.now_s = START_S
        self.leases: dict[str, tuple[Message, float]] = {}
        """Handle → message and the end of its lease, for every lease that was not ended by hand."""
        self.sent = 0
        self.moved = 0

    @rule(group=st.sampled_from(GROUPS), delay_s=st.sampled_from([0, 0, 5, 40]))
    def send(self, group: str, delay_s: int) -> None:
        self.sent += 1
        delay = None if self.queue.settings.fifo else delay_s
        self.queue.send(
            a_draft(str(self.sent), group=group, deduplication_id=str(self.sent), delay_s=delay), self.now_s
        )

    @rule(limit=st.integers(1, 10), visibility_s=st.sampled_from([0, 1, 10, 60]), redrive=st.booleans())
    def take(self, limit: int, visibility_s: int, redrive: bool) -> None:
        held = {id(message) for message, end_s in self.leases.values() if end_s > self.now_s}
        taken = self.queue.take(limit, visibility_s, self.now_s, MAX_RECEIVES if redrive else None)
        assert len(taken.leased) <= limit
        for message in taken.leased + taken.spent:
            assert id(message) not in held, "handed out while leased"
        for message in taken.leased:
            held.add(id(message))
            self.leases[self.queue.handle(message)] = (message, self.now_s + visibility_s)
        self.moved += len(taken.spent)
        self.check_order(taken.leased, held)

    def check_order(self, leased: list[Message], held: set[int]) -> None:
        """The FIFO machine says more."""

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        handle = data.draw(st.sampled_from(sorted(self.leases)))
        self._try(lambda: self.queue.delete(handle, self.now_s))
        self.leases.pop(handle)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), timeout_s=st.sampled_from([0, 1, 30]))
    def change_visibility(self, data: st.DataObject, timeout_s: int) -> None:
        handle = data.draw(st.sampled_from(sorted(self.leases)))
        message, end_s = self.leases[handle]
        done = self._try(lambda: self.queue.change_visibility(handle, timeout_s, self.now_s))
        assert not (done and end_s <= self.now_s), "a lapsed lease was extended"
        if done:
            self.leases[handle] = (message, self.now_s + timeout_s)

    @rule(step_s=st.sampled_from([0.5, 1.0, 10.0, 61.0, 301.0]))
    def wait(self, step_s: float) -> None:
        self.now_s += step_s

    @invariant()
    def every_message_is_in_exactly_one_place(self) -> None:
        snapshot = self.queue.snapshot(self.now_s)
        inside = snapshot.visible + snapshot.in_flight + snapshot.delayed
        assert self.sent == snapshot.sent
        assert self.moved == snapshot.moved_out
        assert snapshot.sent == inside + snapshot.deleted + snapshot.expired + snapshot.moved_out + snapshot.purged

    @invariant()
    def the_counts_are_those_of_the_messages(self) -> None:
        self.queue.advance(self.now_s)
        states = [message.state.name for message in self.queue._held.messages.values()]
        assert self.queue.visible == states.count("VISIBLE")
        assert self.queue.in_flight == states.count("IN_FLIGHT") <= LIMIT
        assert self.queue.delayed == states.count("DELAYED")

    def teardown(self) -> None:
        """At the end everything can be drained: no message is stuck for good."""
        self.now_s += 61
        inside = self.queue.snapshot(self.now_s)
        left = inside.visible + inside.in_flight + inside.delayed
        drained = 0
        while leased := self.queue.take(10, 30, self.now_s).leased:
            for message in leased:
                self.queue.delete(self.queue.handle(message), self.now_s)
            drained += len(leased)
        assert drained == left

    @staticmethod
    def _try(act: Any) -> bool:
        try:
            act()
        except Refusal:
            return False
        return True


class FifoHistory(QueueHistory):
    """As above, and: a group's messages come in order, and none while another of the group is in flight."""

    settings_of_queue: Mapping[str, Any] = {"fifo": True, "retention_s": RETENTION_S, "delay_s": 3}

    def check_order(self, leased: list[Message], held: set[int]) -> None:
        now_leased = {id(message) for message in leased}
        for message in leased:
            group = [each for each in self.queue._held.messages.values() if each.draft.group == message.draft.group]
            earlier = [each for each in group if each.number < message.number]
            assert all(id(each) in now_leased for each in earlier), "out of order within its group"
            assert all(id(each) in now_leased for each in group if id(each) in held), "group was in flight"
        numbers: dict[str | None, int] = {}
        for message in leased:
            assert numbers.get(message.draft.group, 0) < message.number
            numbers[message.draft.group] = message.number


TestQueueHistory = QueueHistory.TestCase
TestQueueHistory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestFifoHistory = FifoHistory.TestCase
TestFifoHistory.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
