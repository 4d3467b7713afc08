"""FIFO queues: order within a group, one group's messages in flight at a time, deduplication.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html
"""

import pytest

from tests.sandbox.sqs.builders import START_S, a_draft, a_queue
from tidegate.sandbox.sqs.fifo import Groups
from tidegate.sandbox.sqs.model import Message, Sent, State
from tidegate.sandbox.sqs.queue import Queue

T = START_S


def send(queue: Queue, group: str, body: str, now_s: float = T) -> None:
    queue.send(a_draft(body, group=group, deduplication_id=body), now_s)


def take(queue: Queue, limit: int, now_s: float = T, visibility_s: int = 30) -> list[Message]:
    return queue.take(limit, visibility_s, now_s).leased


def bodies(messages: list[Message]) -> list[str]:
    return [message.draft.body for message in messages]


def test_a_receive_gives_as_many_as_possible_of_one_group_in_order_and_then_of_the_next() -> None:
    queue = a_queue(fifo=True)
    for group, body in (("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")):
        send(queue, group, body)
    assert bodies(take(queue, 3)) == ["a1", "a2", "b1"]


def test_a_group_is_blocked_while_any_of_its_messages_is_in_flight() -> None:
    queue = a_queue(fifo=True)
    for body in ("a1", "a2", "a3"):
        send(queue, "a", body)
    first, second = take(queue, 2)
    queue.delete(queue.handle(first), T)
    assert take(queue, 10) == []
    queue.delete(queue.handle(second), T)
    assert bodies(take(queue, 10)) == ["a3"]


def test_a_blocked_group_does_not_block_another() -> None:
    queue = a_queue(fifo=True)
    send(queue, "a", "a1")
    send(queue, "a", "a2")
    take(queue, 1)
    send(queue, "b", "b1")
    assert bodies(take(queue, 10)) == ["b1"]


def test_a_lapsed_message_comes_back_before_the_later_ones_of_its_group() -> None:
    queue = a_queue(fifo=True)
    for body in ("a1", "a2"):
        send(queue, "a", body)
    take(queue, 1, visibility_s=10)
    assert bodies(take(queue, 10, T + 10)) == ["a1", "a2"]


def test_a_spent_message_makes_way_for_the_next_of_its_group() -> None:
    queue = a_queue(fifo=True)
    for body in ("a1", "a2"):
        send(queue, "a", body)
    take(queue, 1, visibility_s=0)
    taken = queue.take(10, 30, T, max_receive_count=1)
    assert (bodies(taken.spent), bodies(taken.leased)) == (["a1"], ["a2"])
    queue.delete(queue.handle(taken.leased[0]), T)
    send(queue, "a", "a3")
    assert bodies(take(queue, 10)) == ["a3"]


def test_a_group_goes_on_after_its_first_message_expired() -> None:
    queue = a_queue(fifo=True, retention_s=60)
    send(queue, "a", "a1", T)
    send(queue, "a", "a2", T + 30)
    assert bodies(take(queue, 10, T + 60)) == ["a2"]


def test_a_duplicate_within_five_minutes_is_told_the_originals_id_and_not_delivered_also_after_its_delete() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html"""
    queue = a_queue(fifo=True)
    original = queue.send(a_draft("one", group="a", deduplication_id="d"), T)
    (message,) = take(queue, 1)
    queue.delete(queue.handle(message), T)
    assert queue.send(a_draft("two", group="a", deduplication_id="d"), T + 299.9) == original
    assert (queue.totals.sent, queue.visible) == (1, 0)
    assert queue.send(a_draft("three", group="a", deduplication_id="d"), T + 300) != original
    assert bodies(take(queue, 1, T + 300)) == ["three"]


@pytest.mark.parametrize(("scope", "delivered"), [("queue", 1), ("messageGroup", 2)])
def test_the_scope_says_whether_another_groups_equal_id_is_a_duplicate(scope: str, delivered: int) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/high-throughput-fifo.html"""
    queue = a_queue(fifo=True, deduplication_scope=scope)
    for group in ("a", "b"):
        queue.send(a_draft(group=group, deduplication_id="d"), T)
    assert queue.visible == delivered


def test_sequence_numbers_grow_and_have_twenty_digits() -> None:
    queue = a_queue(fifo=True)
    numbers = [queue.send(a_draft(group="a", deduplication_id=str(n)), T).sequence or "" for n in range(3)]
    assert numbers == sorted(set(numbers))
    assert {len(number) for number in numbers} == {20}


def test_groups_that_are_done_are_forgotten() -> None:
    queue = a_queue(fifo=True)
    for number in range(100):
        send(queue, f"group-{number}", str(number))
        (message,) = take(queue, 1)
        queue.delete(queue.handle(message), T)
    assert isinstance(queue._held.order, Groups)
    assert (queue._held.order._groups, queue._held.order._open) == ({}, [])


def test_a_stale_offer_does_not_open_a_group_that_is_still_in_flight() -> None:
    groups = Groups()
    sent = Sent("id", None)
    first, second, dropped = (
        Message(number, sent, a_draft(group="a"), T, T, state=State.VISIBLE) for number in (1, 2, 3)
    )
    for message in (first, second, dropped):
        groups.add(message)
    dropped.state = State.GONE
    groups.forget(dropped)  # offers the group's first message once more
    assert groups.draw(2) == [first, second]
    groups.put_back(first)
    assert groups.draw(1) == []
    groups.put_back(second)
    assert groups.draw(2) == [first, second]
