"""What a worker may rely on from its queue: one suite for the fake and for the real adapter.

The real one talks to the sandbox's SQS endpoint, whose clock, like the fake's, the tests move: no lease is waited for.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import use_test_account
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.errors import Gone
from tidegate.ports import EntryFailure, Received, VisibilityChange, WorkQueue
from tidegate.sandbox.sqs import SqsServer
from tidegate.testing import FakeWorkQueue
from tidegate.worker.leases.keeper import lease_is_over

VISIBILITY_S = 30
START_S = 1_700_000_000.0


class MovedClock:
    """Wall time that only the test moves."""

    def __init__(self) -> None:
        self.now_s = START_S

    def __call__(self) -> float:
        return self.now_s


@dataclass
class Subject:
    """A queue under test, how to send to it, and its clock."""

    queue: WorkQueue
    send: Callable[[str], object]
    clock: MovedClock

    async def receive(self, limit: int = 10) -> list[Received]:
        return await self.queue.receive(limit, 0, VISIBILITY_S)


@pytest.fixture
def server_clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def server(server_clock: MovedClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqsServer]:
    use_test_account(monkeypatch)
    with SqsServer(clock=server_clock) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", server.url)
        yield server


@pytest.fixture(params=["fake", pytest.param("sqs", marks=pytest.mark.integration)])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "fake":
        clock = MovedClock()
        fake = FakeWorkQueue(visibility_s=VISIBILITY_S, clock=clock)
        yield Subject(fake, fake.send, clock)
        return
    request.getfixturevalue("server")
    client: Any = boto3.client("sqs")
    url = client.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": str(VISIBILITY_S)})["QueueUrl"]
    queue = await SqsWorkQueue.connect("orders")
    yield Subject(
        queue,
        lambda body: client.send_message(QueueUrl=url, MessageBody=body),
        request.getfixturevalue("server_clock"),
    )
    await queue.close()


async def test_the_queue_tells_its_own_lease(subject: Subject) -> None:
    assert await subject.queue.visibility_timeout_s() == VISIBILITY_S


async def test_an_empty_queue_gives_nothing(subject: Subject) -> None:
    assert await subject.receive() == []


async def test_a_message_comes_with_its_body_count_and_times(subject: Subject) -> None:
    subject.send("hello")
    subject.clock.now_s += 5
    (message,) = await subject.receive()
    assert message.body == "hello"
    assert message.attributes["ApproximateReceiveCount"] == "1"
    assert int(message.attributes["SentTimestamp"]) == START_S * 1000
    assert int(message.attributes["ApproximateFirstReceiveTimestamp"]) == (START_S + 5) * 1000


async def test_no_more_than_the_limit_is_handed_out(subject: Subject) -> None:
    for index in range(5):
        subject.send(f"b{index}")
    assert 1 <= len(await subject.receive(limit=3)) <= 3


async def test_a_long_poll_ends_as_soon_as_a_message_is_sent(subject: Subject) -> None:
    poll = asyncio.create_task(subject.queue.receive(10, 20, VISIBILITY_S))
    await asyncio.sleep(0)
    if isinstance(subject.queue, FakeWorkQueue):
        subject.send("hello")
    else:
        await asyncio.to_thread(subject.send, "hello")
    (message,) = await poll
    assert message.body == "hello"


async def test_a_held_message_is_hidden_until_its_lease_runs_out_and_then_has_another_handle(subject: Subject) -> None:
    subject.send("hello")
    (first,) = await subject.receive()
    subject.clock.now_s += VISIBILITY_S - 1
    assert await subject.receive() == []
    subject.clock.now_s += 1
    (second,) = await subject.receive()
    assert second.message_id == first.message_id
    assert second.receipt_handle != first.receipt_handle
    assert second.attributes["ApproximateReceiveCount"] == "2"


async def test_an_extension_counts_from_the_call(subject: Subject) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
    subject.send("hello")
    (message,) = await subject.receive()
    subject.clock.now_s += 20
    assert await subject.queue.change_visibility([VisibilityChange(message.receipt_handle, 30)]) == []
    subject.clock.now_s += 29
    assert await subject.receive() == []
    subject.clock.now_s += 1
    assert len(await subject.receive()) == 1


async def test_a_message_released_with_0_is_visible_at_once(subject: Subject) -> None:
    subject.send("hello")
    (message,) = await subject.receive()
    assert await subject.queue.change_visibility([VisibilityChange(message.receipt_handle, 0)]) == []
    assert len(await subject.receive()) == 1


async def test_a_lease_that_has_run_out_cannot_be_extended(subject: Subject) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html"""
    subject.send("hello")
    (message,) = await subject.receive()
    subject.clock.now_s += VISIBILITY_S
    (failure,) = await subject.queue.change_visibility([VisibilityChange(message.receipt_handle, 30)])
    assert lease_is_over(failure)


async def test_a_deleted_message_cannot_be_extended(subject: Subject) -> None:
    """Unverified on AWS which code a deleted message's handle gets; the worker takes any of them as "over"."""
    subject.send("hello")
    (message,) = await subject.receive()
    assert await subject.queue.delete([message.receipt_handle]) == []
    (failure,) = await subject.queue.change_visibility([VisibilityChange(message.receipt_handle, 30)])
    assert lease_is_over(failure)


async def test_beyond_twelve_hours_an_extension_is_refused_and_the_lease_goes_on(subject: Subject) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
    subject.send("hello")
    (message,) = await subject.receive()
    subject.clock.now_s += 10
    (failure,) = await subject.queue.change_visibility([VisibilityChange(message.receipt_handle, 43_200)])
    assert not lease_is_over(failure)
    assert await subject.receive() == []


async def test_more_than_ten_deletes_go_through_in_one_call_of_the_port(subject: Subject) -> None:
    for index in range(25):
        subject.send(f"b{index}")
    held: list[Received] = []
    while len(held) < 25:
        held += await subject.receive()
    assert await subject.queue.delete([message.receipt_handle for message in held]) == []
    subject.clock.now_s += VISIBILITY_S
    assert await subject.receive() == []


async def test_a_failure_names_its_place_in_the_request_and_spares_the_others(subject: Subject) -> None:
    for index in range(12):
        subject.send(f"b{index}")
    held: list[Received] = []
    while len(held) < 12:
        held += await subject.receive()
    await subject.queue.delete([held[11].receipt_handle])
    failures = await subject.queue.change_visibility([VisibilityChange(each.receipt_handle, 100) for each in held])
    assert [failure.index for failure in failures] == [11]
    subject.clock.now_s += 99
    assert await subject.receive() == []


async def test_two_copies_of_one_message_fit_in_one_batch(subject: Subject) -> None:
    """Ids are places, not MessageIds: two copies of a message would collide (BatchEntryIdsNotDistinct).

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html
    """
    subject.send("hello")
    (first,) = await subject.receive()
    subject.clock.now_s += VISIBILITY_S
    (second,) = await subject.receive()
    assert first.message_id == second.message_id
    assert await subject.queue.delete([first.receipt_handle, second.receipt_handle]) == []
    subject.clock.now_s += VISIBILITY_S
    assert await subject.receive() == []


async def test_a_stale_handle_is_answered_like_a_good_one_and_deletes_nothing(subject: Subject) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html"""
    subject.send("hello")
    (first,) = await subject.receive()
    subject.clock.now_s += VISIBILITY_S
    (second,) = await subject.receive()
    assert await subject.queue.delete([first.receipt_handle]) == []
    subject.clock.now_s += VISIBILITY_S
    (third,) = await subject.receive()
    assert third.message_id == second.message_id


async def test_an_empty_batch_asks_for_nothing(subject: Subject) -> None:
    nothing: list[EntryFailure] = []
    assert await subject.queue.delete([]) == nothing
    assert await subject.queue.change_visibility([]) == nothing


@pytest.mark.integration
async def test_a_dead_letter_is_a_copy_with_the_reason_and_the_message_itself_stays_in_hand(
    server: SqsServer, server_clock: MovedClock
) -> None:
    client: Any = boto3.client("sqs")
    dead_url = client.create_queue(QueueName="orders-dead")["QueueUrl"]
    dead_arn = client.get_queue_attributes(QueueUrl=dead_url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": "5"})
    url = client.create_queue(QueueName="orders", Attributes={"RedrivePolicy": policy})["QueueUrl"]
    mark = {"tenant": {"DataType": "String", "StringValue": "acme"}}
    client.send_message(QueueUrl=url, MessageBody="hello", MessageAttributes=mark)
    queue = await SqsWorkQueue.connect("orders")
    (received,) = await queue.receive(1, 0, VISIBILITY_S)
    await queue.dead_letter(received, "no such customer\x00")
    assert await queue.receive(1, 0, VISIBILITY_S) == []
    await queue.close()
    (dead,) = client.receive_message(QueueUrl=dead_url, MessageAttributeNames=["All"])["Messages"]
    assert dead["Body"] == "hello"
    assert dead["MessageAttributes"]["tenant"]["StringValue"] == "acme"
    assert dead["MessageAttributes"]["tidegate.reason"]["StringValue"] == "no such customer?"


@pytest.mark.integration
async def test_a_queue_without_a_dead_letter_queue_says_so_and_how_to_mend_it(server: SqsServer) -> None:
    client: Any = boto3.client("sqs")
    client.send_message(QueueUrl=client.create_queue(QueueName="orders")["QueueUrl"], MessageBody="hello")
    queue = await SqsWorkQueue.connect("orders")
    (received,) = await queue.receive(1, 0, VISIBILITY_S)
    with pytest.raises(Gone, match="has no dead-letter queue; give the queue a redrive policy, or the worker dead_l"):
        await queue.dead_letter(received, "why")
    await queue.close()


@pytest.mark.integration
async def test_a_message_with_ten_attributes_is_dead_lettered_with_those_and_without_the_reason(
    server: SqsServer,
) -> None:
    client: Any = boto3.client("sqs")
    dead_url = client.create_queue(QueueName="orders-dead.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    url = client.create_queue(QueueName="orders")["QueueUrl"]
    ten = {f"a{n}": {"DataType": "String", "StringValue": "x"} for n in range(10)}
    client.send_message(QueueUrl=url, MessageBody="hello", MessageAttributes=ten)
    queue = await SqsWorkQueue.connect("orders", dead_letter_queue="orders-dead.fifo")
    (received,) = await queue.receive(1, 0, VISIBILITY_S)
    for _ in range(2):  # the second is the same message to a FIFO queue
        await queue.dead_letter(received, "why")
    await queue.close()
    answer = client.receive_message(QueueUrl=dead_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"])
    (dead,) = answer["Messages"]
    assert set(dead["MessageAttributes"]) == set(ten)


async def test_a_queue_without_a_redrive_policy_lets_messages_be_received_for_ever(subject: Subject) -> None:
    assert await subject.queue.max_receives() is None


@pytest.mark.integration
async def test_the_redrive_policy_says_how_often_a_message_may_be_received(server: SqsServer) -> None:
    client: Any = boto3.client("sqs")
    dead = client.create_queue(QueueName="dead")["QueueUrl"]
    arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "3"})
    client.create_queue(QueueName="orders", Attributes={"RedrivePolicy": policy})
    queue = await SqsWorkQueue.connect("orders")
    assert await queue.max_receives() == 3
    await queue.close()
