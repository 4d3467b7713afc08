"""FIFO queues: order, groups, deduplication."""

import pytest
from botocore.exceptions import ClientError

from tests.contract.sqs.account import Account, code_of


def test_a_groups_messages_come_in_the_order_they_were_sent(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html"""
    url = sqs.fifo()
    sqs.send_to_group(url, "a", "1", "2", "3", "4")
    assert sqs.bodies(url, MaxNumberOfMessages=4) == ["1", "2", "3", "4"]


def test_a_group_waits_while_one_of_its_messages_is_in_flight_and_others_do_not(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html"""
    url = sqs.fifo()
    sqs.send_to_group(url, "a", "a1", "a2")
    first = sqs.one(url)
    sqs.send_to_group(url, "b", "b1")
    assert (first["Body"], sqs.bodies(url)) == ("a1", ["b1"])
    sqs.delete(url, first)
    assert sqs.bodies(url) == ["a2"]


def test_a_lapsed_message_comes_again_before_the_rest_of_its_group(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html"""
    url = sqs.fifo(VisibilityTimeout="1")
    sqs.send_to_group(url, "a", "a1", "a2")
    assert sqs.one(url)["Body"] == "a1"
    assert sqs.bodies(url, WaitTimeSeconds=5) == ["a1", "a2"]


def test_the_handle_of_a_lapsed_lease_is_refused(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
    (ReceiveRequestAttemptId: a delete after the visibility timeout fails); the code as recorded from AWS by
    LocalStack's test_fifo_delete_message_with_expired_receipt_handle"""
    url = sqs.fifo(VisibilityTimeout="1")
    sqs.send_to_group(url, "a", "a1")
    message = sqs.one(url)
    sqs.let_pass(1)
    with pytest.raises(ClientError) as error:
        sqs.delete(url, message)
    assert code_of(error.value) == "InvalidParameterValue"
    assert sqs.counts(url) == (1, 0, 0)


def test_a_repeated_deduplication_id_is_accepted_and_not_delivered(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/using-messagededuplicationid-property.html"""
    url = sqs.fifo()
    answers = [
        sqs.client.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="a", MessageDeduplicationId="same")
        for body in ("first", "second")
    ]
    assert answers[0]["MessageId"] == answers[1]["MessageId"]
    message = sqs.one(url)
    assert message["Body"] == "first"
    sqs.delete(url, message)
    sqs.send(url, "third", MessageGroupId="a", MessageDeduplicationId="same")
    assert sqs.counts(url) == (0, 0, 0)


def test_content_based_deduplication_goes_by_the_body(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    url = sqs.fifo(ContentBasedDeduplication="true")
    sqs.send(url, "x", "x", "y", MessageGroupId="a")
    assert sqs.bodies(url) == ["x", "y"]


def test_a_fifo_message_needs_a_group(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    with pytest.raises(ClientError) as error:
        sqs.send(sqs.fifo(), "x", MessageDeduplicationId="d")
    assert code_of(error.value) == "MissingParameter"


def test_a_fifo_message_needs_a_deduplication_id_or_content_based_deduplication(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    with pytest.raises(ClientError) as error:
        sqs.send(sqs.fifo(), "x", MessageGroupId="a")
    assert code_of(error.value) == "InvalidParameterValue"


def test_a_fifo_message_takes_no_delay_of_its_own(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    with pytest.raises(ClientError) as error:
        sqs.send(sqs.fifo(), "x", MessageGroupId="a", MessageDeduplicationId="d", DelaySeconds=2)
    assert code_of(error.value) == "InvalidParameterValue"


def test_sequence_numbers_grow(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    url = sqs.fifo(ContentBasedDeduplication="true")
    numbers = [
        sqs.client.send_message(QueueUrl=url, MessageBody=body, MessageGroupId="a")["SequenceNumber"]
        for body in ("x", "y")
    ]
    assert int(numbers[0]) < int(numbers[1])
    messages = sqs.receive(url, MessageSystemAttributeNames=["SequenceNumber"])
    assert [message["Attributes"]["SequenceNumber"] for message in messages] == numbers


def test_name_and_attribute_must_agree(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""
    with pytest.raises(ClientError):
        sqs.queue("plain", FifoQueue="true")
