"""The same contract through aiobotocore: long polls that wake, errors by class, order under many consumers."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from aiobotocore.session import get_session
from types_aiobotocore_sqs import SQSClient

from tests.contract.sqs.account import Account


@pytest.fixture
async def aio(server_url: str) -> AsyncIterator[SQSClient]:
    session = get_session()
    async with session.create_client(
        "sqs",
        endpoint_url=server_url,
        region_name="us-east-1",
        aws_access_key_id="contract",
        aws_secret_access_key="contract",
    ) as client:
        yield client


async def test_a_long_poll_wakes_on_a_send(sqs: Account, aio: SQSClient) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-short-and-long-polling.html"""
    url = sqs.queue()
    began_s = time.monotonic()
    poll = asyncio.ensure_future(aio.receive_message(QueueUrl=url, WaitTimeSeconds=20))
    first = await aio.receive_message(QueueUrl=url, WaitTimeSeconds=1)
    assert "Messages" not in first
    assert not poll.done()
    await aio.send_message(QueueUrl=url, MessageBody="x")
    answer = await poll
    assert [message["Body"] for message in answer["Messages"]] == ["x"]
    assert time.monotonic() - began_s < 10


async def test_a_cancelled_long_poll_takes_no_message_with_it(sqs: Account, aio: SQSClient) -> None:
    """AWS promises nothing here (unverified); a worker's drain relies on ours being strict."""
    url = sqs.queue()
    poll = asyncio.ensure_future(aio.receive_message(QueueUrl=url, WaitTimeSeconds=20))
    await aio.receive_message(QueueUrl=url, WaitTimeSeconds=1)
    poll.cancel()
    with pytest.raises(asyncio.CancelledError):
        await poll
    await aio.send_message(QueueUrl=url, MessageBody="x")
    answer = await aio.receive_message(QueueUrl=url, WaitTimeSeconds=1)
    assert [message["Body"] for message in answer.get("Messages", [])] == ["x"]


async def test_a_refusal_has_its_class_here_too(sqs: Account, aio: SQSClient) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html"""
    with pytest.raises(aio.exceptions.QueueDoesNotExist):
        await aio.get_queue_url(QueueName=f"{sqs.prefix}-never")


async def test_each_group_keeps_its_order_under_eight_consumers(sqs: Account, aio: SQSClient) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html"""
    url, groups, length = sqs.fifo(), ("a", "b", "c"), 20
    for number in range(length):
        for group in groups:
            sqs.send_to_group(url, group, f"{number:02}")
    seen: dict[str, list[str]] = {group: [] for group in groups}

    async def consume() -> None:
        while True:
            answer = await aio.receive_message(QueueUrl=url, MaxNumberOfMessages=3, AttributeNames=["All"])
            for message in answer.get("Messages", []):
                seen[message["Attributes"]["MessageGroupId"]].append(message["Body"])
                await aio.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            if sum(map(len, seen.values())) >= length * len(groups):
                return

    await asyncio.wait_for(asyncio.gather(*(consume() for _ in range(8))), 30)
    assert seen == {group: [f"{number:02}" for number in range(length)] for group in groups}
