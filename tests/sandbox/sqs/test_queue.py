"""A queue over time: delays, leases, handles, retention, the age, counts. No clock but the test's."""

import pytest

from tests.sandbox.sqs.builders import START_S, a_draft, a_queue
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.queue import Limits, Queue
from tidegate.sandbox.sqs.shards import Shards

T = START_S


def counts(queue: Queue, now_s: float) -> tuple[int, int, int]:
    queue.advance(now_s)
    return queue.visible, queue.in_flight, queue.delayed


def bodies(queue: Queue, now_s: float, limit: int = 10, visibility_s: int = 30) -> list[str]:
    return [message.draft.body for message in queue.take(limit, visibility_s, now_s).leased]


def one_handle(queue: Queue, now_s: float, visibility_s: int = 30) -> str:
    (message,) = queue.take(1, visibility_s, now_s).leased
    return queue.handle(message)


def refused(code: Code, queue: Queue, handle: str, timeout_s: int, now_s: float) -> bool:
    with pytest.raises(Refusal) as refusal:
        queue.change_visibility(handle, timeout_s, now_s)
    return refusal.value.code is code


def test_a_delayed_message_is_counted_apart_and_handed_out_when_its_delay_ends() -> None:
    queue = a_queue(delay_s=5)
    queue.send(a_draft("late"), T)
    queue.send(a_draft("soon", delay_s=0), T)
    assert counts(queue, T) == (1, 0, 1)
    assert bodies(queue, T + 4.999) == ["soon"]
    assert bodies(queue, T + 5) == ["late"]


def test_a_leased_message_is_hidden_until_the_lease_lapses_and_then_received_again() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    assert bodies(queue, T, visibility_s=10) == ["work"]
    assert bodies(queue, T + 9.999) == []
    (again,) = queue.take(1, 10, T + 10).leased
    assert (again.receive_count, again.first_received_at_s) == (2, T)


def test_extending_counts_from_the_call_and_can_shorten() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    handle = one_handle(queue, T, visibility_s=30)
    queue.change_visibility(handle, 60, T + 20)
    assert counts(queue, T + 79) == (0, 1, 0)
    queue.change_visibility(handle, 1, T + 79)
    assert counts(queue, T + 80) == (1, 0, 0)


def test_releasing_shows_the_message_at_once() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    queue.change_visibility(one_handle(queue, T), 0, T + 1)
    assert bodies(queue, T + 1) == ["work"]


def test_a_lapsed_lease_can_not_be_extended() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    handle = one_handle(queue, T, visibility_s=10)
    assert refused(Code.MESSAGE_NOT_IN_FLIGHT, queue, handle, 10, T + 10)


def test_an_older_lease_can_not_extend_the_newest() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    old = one_handle(queue, T, visibility_s=10)
    one_handle(queue, T + 10, visibility_s=10)
    assert refused(Code.MESSAGE_NOT_IN_FLIGHT, queue, old, 10, T + 11)
    assert counts(queue, T + 20) == (1, 0, 0)


def test_no_extension_goes_beyond_twelve_hours_from_the_receive() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    handle = one_handle(queue, T, visibility_s=43_200)
    queue.change_visibility(handle, 43_200 - 100, T + 100)
    assert refused(Code.INVALID_PARAMETER_VALUE, queue, handle, 43_200 - 99, T + 100)
    assert counts(queue, T + 43_199) == (0, 1, 0)


def test_a_deleted_message_can_not_be_extended_but_deleted_again() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    handle = one_handle(queue, T)
    queue.delete(handle, T)
    queue.delete(handle, T)
    assert refused(Code.INVALID_PARAMETER_VALUE, queue, handle, 10, T)
    assert queue.totals.deleted == 1


def test_a_lapsed_but_newest_lease_still_deletes_on_a_standard_queue() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    handle = one_handle(queue, T, visibility_s=10)
    queue.delete(handle, T + 100)
    assert counts(queue, T + 100) == (0, 0, 0)
    assert bodies(queue, T + 100) == []


def test_a_message_deleted_in_the_middle_of_its_shard_is_not_handed_out() -> None:
    queue = a_queue(limits=Limits(shards=1))
    for body in ("a", "b"):
        queue.send(a_draft(body), T)
    handles = {message.draft.body: queue.handle(message) for message in queue.take(2, 10, T).leased}
    queue.advance(T + 10)
    queue.delete(handles["a"], T + 10)
    assert bodies(queue, T + 10) == ["b"]


def test_an_older_lease_deletes_nothing_on_a_standard_queue_and_says_nothing() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    old = one_handle(queue, T, visibility_s=10)
    new = one_handle(queue, T + 10)
    queue.delete(old, T + 11)
    assert counts(queue, T + 11) == (0, 1, 0)
    queue.delete(new, T + 11)
    assert counts(queue, T + 11) == (0, 0, 0)


@pytest.mark.parametrize("age_s", [10, 11])
def test_a_lapsed_lease_is_refused_on_a_fifo_queue(age_s: int) -> None:
    queue = a_queue(fifo=True)
    queue.send(a_draft(group="g", deduplication_id="1"), T)
    handle = one_handle(queue, T, visibility_s=10)
    with pytest.raises(Refusal, match="The receipt handle has expired"):
        queue.delete(handle, T + age_s)


@pytest.mark.parametrize("handle", ["", "rubbish", "cnViYmlzaA==", "AQEB/+//", "ünicode"])
def test_a_handle_that_was_never_made_is_refused(handle: str) -> None:
    queue = a_queue()
    with pytest.raises(Refusal) as refusal:
        queue.delete(handle, T)
    assert refusal.value.code is Code.RECEIPT_HANDLE_IS_INVALID


def test_a_handle_of_another_queue_is_refused() -> None:
    mine, other = a_queue(), a_queue(fifo=True)
    mine.send(a_draft(), T)
    with pytest.raises(Refusal) as refusal:
        other.delete(one_handle(mine, T), T)
    assert refusal.value.code is Code.RECEIPT_HANDLE_IS_INVALID


def test_messages_past_retention_are_dropped_wherever_they_are() -> None:
    queue = a_queue(retention_s=60)
    for body in ("visible", "leased", "delayed"):
        queue.send(a_draft(body, delay_s=900 if body == "delayed" else 0), T)
    queue.take(1, 1_000, T)
    assert counts(queue, T + 59.9) == (1, 1, 1)
    assert counts(queue, T + 60) == (0, 0, 0)
    assert queue.totals.expired == 3
    assert bodies(queue, T + 2_000) == []


def test_a_shorter_retention_holds_for_messages_that_wait_already() -> None:
    queue = a_queue()
    queue.send(a_draft(), T)
    queue.configure(a_queue(retention_s=60).settings, T + 61)
    assert counts(queue, T + 61) == (0, 0, 0)


def test_the_age_is_of_the_oldest_message_that_is_not_deleted_also_while_it_is_in_flight() -> None:
    """That in flight counts is unverified (AWS does not say)."""
    queue = a_queue()
    queue.send(a_draft("old"), T)
    handle = one_handle(queue, T)
    queue.send(a_draft("young"), T + 10)
    assert queue.snapshot(T + 12).oldest_age_s == 12
    queue.delete(handle, T + 12)
    assert queue.snapshot(T + 12).oldest_age_s == 2


def test_an_empty_queue_has_no_age() -> None:
    assert a_queue().snapshot(T).oldest_age_s is None


@pytest.mark.parametrize(("fifo", "oldest_age_s"), [(False, 50), (True, 100)])
def test_a_message_received_three_times_is_left_out_of_a_standard_queues_age(fifo: bool, oldest_age_s: float) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""
    queue = a_queue(fifo=fifo)
    queue.send(a_draft("poison", group="g", deduplication_id="1"), T)
    for _ in range(2):
        queue.take(1, 0, T)
    assert queue.snapshot(T + 50).oldest_age_s == 50
    queue.send(a_draft("healthy", group="g", deduplication_id="2"), T + 50)
    assert bodies(queue, T + 50, limit=1, visibility_s=0) in (["poison"], ["healthy"])
    while max(message.receive_count for message in queue._held.messages.values()) < 3:
        queue.take(1, 0, T + 50)
    assert queue.snapshot(T + 100).oldest_age_s == oldest_age_s


def test_a_returned_message_keeps_its_place_and_a_poisonous_one_goes_to_the_back() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
    (the back of the queue for poison; that others keep their place is unverified)"""
    queue = a_queue(limits=Limits(shards=1))
    queue.send(a_draft("first"), T)
    queue.send(a_draft("second"), T)
    seen = []
    for _ in range(4):
        (message,) = queue.take(1, 30, T).leased
        seen.append(message.draft.body)
        queue.change_visibility(queue.handle(message), 0, T)
    assert seen == ["first", "first", "first", "second"]


def test_a_standard_queue_reads_its_shards_in_random_order_but_loses_none() -> None:
    queue = a_queue()
    sent = [str(number) for number in range(200)]
    for body in sent:
        queue.send(a_draft(body), T)
    seen: list[str] = []
    while drawn := bodies(queue, T):
        seen.extend(drawn)
    assert seen != sent
    assert sorted(seen) == sorted(sent)


def test_nothing_is_handed_out_beyond_the_limit_in_flight_until_some_is_deleted() -> None:
    queue = a_queue(limits=Limits(in_flight=3))
    for number in range(5):
        queue.send(a_draft(str(number)), T)
    leased = queue.take(10, 30, T).leased
    assert len(leased) == 3
    assert queue.full
    assert bodies(queue, T) == []
    queue.delete(queue.handle(leased[0]), T)
    assert len(bodies(queue, T)) == 1


def test_a_purge_drops_everything_and_not_twice_within_a_minute() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html"""
    queue = a_queue()
    queue.send(a_draft(), T)
    queue.send(a_draft(delay_s=60), T)
    queue.take(1, 30, T)
    queue.purge(T)
    assert counts(queue, T) == (0, 0, 0)
    assert (queue.totals.purged, queue.totals.deleted) == (2, 0)
    with pytest.raises(Refusal) as refusal:
        queue.purge(T + 59)
    assert refusal.value.code is Code.PURGE_QUEUE_IN_PROGRESS
    queue.purge(T + 60)


def test_an_adopted_message_keeps_id_sending_time_and_receives_but_its_age_begins_anew() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html"""
    source, target = a_queue(), a_queue(retention_s=100)
    sent = source.send(a_draft(), T)
    source.take(1, 0, T)
    (spent,) = source.take(1, 30, T + 40, max_receive_count=1).spent
    target.adopt(spent, source.arn, T + 40)
    (message,) = target.take(1, 0, T + 40).leased
    assert (message.sent, message.sent_at_s, message.receive_count) == (sent, T, 2)
    assert message.dead_letter_source == source.arn
    assert target.snapshot(T + 50).oldest_age_s == 10
    assert counts(target, T + 99) == (1, 0, 0)
    assert counts(target, T + 100) == (0, 0, 0), "a standard queue's retention counts from the sending"


def test_a_fifo_dead_letter_queues_retention_counts_from_the_move() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/setting-up-dead-letter-queue-retention.html"""
    source, target = a_queue(fifo=True), a_queue(fifo=True, retention_s=100)
    source.send(a_draft(group="g", deduplication_id="1"), T)
    source.take(1, 0, T)
    (spent,) = source.take(1, 30, T + 40, max_receive_count=1).spent
    target.adopt(spent, source.arn, T + 40)
    assert counts(target, T + 139) == (1, 0, 0)
    assert counts(target, T + 140) == (0, 0, 0)


def test_a_new_delay_holds_for_new_messages_only_on_standard_and_for_all_on_fifo() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-delay-queues.html"""
    for fifo, visible in ((False, 0), (True, 1)):
        queue = a_queue(fifo=fifo, delay_s=100)
        queue.send(a_draft(group="g", deduplication_id="1"), T)
        queue.configure(a_queue(fifo=fifo, delay_s=10).settings, T)
        assert counts(queue, T + 10) == (visible, 0, 1 - visible)


def test_the_snapshot_says_what_was_counted() -> None:
    queue = a_queue()
    for _ in range(3):
        queue.send(a_draft(), T)
    queue.delete(one_handle(queue, T), T)
    one_handle(queue, T)
    snapshot = queue.snapshot(T + 1)
    assert (snapshot.sent, snapshot.received, snapshot.deleted) == (3, 2, 1)
    assert (snapshot.visible, snapshot.in_flight, snapshot.delayed) == (1, 1, 0)


def test_what_expired_unread_is_not_kept_in_memory() -> None:
    queue = a_queue(retention_s=60)
    for number in range(1_000):
        queue.send(a_draft(), T + number)
    queue.advance(T + 5_000)
    assert isinstance(queue._held.order, Shards)
    assert [len(shard) for shard in queue._held.order._shards] == [0] * 8
