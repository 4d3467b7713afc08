"""Leases: visibility timeouts that lapse, are extended, released and lost; handles; the dead-letter queue."""

import json

import pytest
from botocore.exceptions import ClientError

from tests.contract.sqs.account import Account, code_of

GARBAGE = "rubbish"


def test_a_leased_message_is_hidden_until_its_lease_lapses(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
    url = sqs.queue(VisibilityTimeout="1")
    sqs.send(url, "x")
    first = sqs.one(url)
    assert sqs.bodies(url) == []
    again = sqs.one(url, WaitTimeSeconds=5, MessageSystemAttributeNames=["ApproximateReceiveCount"])
    assert again["MessageId"] == first["MessageId"]
    assert again["ReceiptHandle"] != first["ReceiptHandle"]
    assert again["Attributes"]["ApproximateReceiveCount"] == "2"


def test_the_receives_own_timeout_goes_before_the_queues(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url = sqs.queue(VisibilityTimeout="600")
    sqs.send(url, "x")
    sqs.one(url, VisibilityTimeout=1)
    assert sqs.bodies(url, WaitTimeSeconds=5) == ["x"]


def test_a_released_message_is_visible_at_once(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html"""
    url = sqs.queue()
    sqs.send(url, "x")
    sqs.extend(url, sqs.one(url), 0)
    assert sqs.bodies(url) == ["x"]


def test_an_extended_lease_outlives_its_first_end(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html"""
    url = sqs.queue(VisibilityTimeout="1")
    sqs.send(url, "x")
    sqs.extend(url, sqs.one(url), 60)
    sqs.let_pass(1)
    assert sqs.counts(url) == (0, 1, 0)


def test_a_lapsed_lease_can_not_be_extended(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
    (MessageNotInflight: "the specified message isn't in flight")"""
    url = sqs.queue(VisibilityTimeout="1")
    sqs.send(url, "x")
    message = sqs.one(url)
    sqs.let_pass(1)
    with pytest.raises(sqs.client.exceptions.MessageNotInflight):
        sqs.extend(url, message, 60)


def test_a_lapsed_lease_fails_alone_in_a_batch_of_extensions(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibilityBatch.html"""
    url = sqs.queue()
    sqs.send(url, "a", "b")
    lapsed, held = sqs.one(url, VisibilityTimeout=1), sqs.one(url, VisibilityTimeout=600)
    sqs.let_pass(1)
    answer = sqs.client.change_message_visibility_batch(
        QueueUrl=url,
        Entries=[
            {"Id": "lapsed", "ReceiptHandle": lapsed["ReceiptHandle"], "VisibilityTimeout": 60},
            {"Id": "held", "ReceiptHandle": held["ReceiptHandle"], "VisibilityTimeout": 60},
        ],
    )
    assert [entry["Id"] for entry in answer["Successful"]] == ["held"]
    assert [entry["Id"] for entry in answer["Failed"]] == ["lapsed"]


def test_no_lease_lasts_longer_than_twelve_hours(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html"""
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    with pytest.raises(ClientError) as error:
        sqs.extend(url, message, 43_201)
    assert code_of(error.value) == "InvalidParameterValue"


def test_an_extension_beyond_twelve_hours_from_the_receive_is_an_error_and_not_cut_down(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
    ("greater than the maximum time left": an error, "doesn't automatically recalculate")"""
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    sqs.let_pass(1)
    with pytest.raises(ClientError) as error:
        sqs.extend(url, message, 43_200)
    assert code_of(error.value) == "InvalidParameterValue"


def test_a_deleted_message_can_not_be_extended(sqs: Account) -> None:
    """Unverified: AWS's reference names no error for it; clients report InvalidParameterValue, others know others."""
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    sqs.delete(url, message)
    with pytest.raises(ClientError):
        sqs.extend(url, message, 60)
    assert sqs.counts(url) == (0, 0, 0)


def test_deleting_twice_succeeds(sqs: Account) -> None:
    """Unverified."""
    url = sqs.queue()
    sqs.send(url, "x")
    message = sqs.one(url)
    sqs.delete(url, message)
    sqs.delete(url, message)
    assert sqs.counts(url) == (0, 0, 0)


def test_an_older_handle_of_a_standard_queue_deletes_nothing_and_says_nothing(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html
    ("the request will succeed, but the message might not be deleted")"""
    url = sqs.queue(VisibilityTimeout="1")
    sqs.send(url, "x")
    old = sqs.one(url)
    new = sqs.one(url, WaitTimeSeconds=5, VisibilityTimeout=60)
    sqs.delete(url, old)
    assert sqs.counts(url) == (0, 1, 0)
    sqs.delete(url, new)
    assert sqs.counts(url) == (0, 0, 0)


def test_a_handle_that_was_never_given_is_refused(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessage.html"""
    url = sqs.queue()
    with pytest.raises(sqs.client.exceptions.ReceiptHandleIsInvalid):
        sqs.client.delete_message(QueueUrl=url, ReceiptHandle=GARBAGE)
    with pytest.raises(sqs.client.exceptions.ReceiptHandleIsInvalid):
        sqs.client.change_message_visibility(QueueUrl=url, ReceiptHandle=GARBAGE, VisibilityTimeout=1)


def test_a_message_received_too_often_goes_to_the_dead_letter_queue(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html"""
    dead = sqs.queue("dead")
    policy = {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": "2"}
    url = sqs.queue("source", VisibilityTimeout="0", RedrivePolicy=json.dumps(policy))
    sent = sqs.client.send_message(QueueUrl=url, MessageBody="x")
    assert [sqs.bodies(url) for _ in range(3)] == [["x"], ["x"], []]
    assert sqs.counts(url) == (0, 0, 0)
    assert sqs.one(dead)["MessageId"] == sent["MessageId"]


def test_the_receive_count_goes_on_in_the_dead_letter_queue(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
    ("the number of times a message has been received across all queues but not deleted")"""
    dead = sqs.queue("dead")
    policy = {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": "1"}
    url = sqs.queue("source", VisibilityTimeout="0", RedrivePolicy=json.dumps(policy))
    sqs.send(url, "x")
    assert [sqs.bodies(url) for _ in range(2)] == [["x"], []]
    message = sqs.one(dead, MessageSystemAttributeNames=["ApproximateReceiveCount"])
    assert message["Attributes"]["ApproximateReceiveCount"] == "2"


def test_a_dead_letter_says_which_queue_it_comes_from(sqs: Account) -> None:
    """Unverified: the attribute is in AWS's model without a description."""
    dead = sqs.queue("dead")
    policy = {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": "1"}
    url = sqs.queue("source", VisibilityTimeout="0", RedrivePolicy=json.dumps(policy))
    sqs.send(url, "x")
    assert [sqs.bodies(url) for _ in range(2)] == [["x"], []]
    assert sqs.one(dead, MessageSystemAttributeNames=["All"])["Attributes"]["DeadLetterQueueSourceArn"] == sqs.arn(url)
