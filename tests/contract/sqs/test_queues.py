"""Queues: create, find, describe, set, purge, delete, tag."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.sqs.account import Account, code_of


def test_creating_again_with_equal_attributes_gives_the_same_url(sqs: Account) -> None:
    """API_CreateQueue: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""
    first = sqs.queue(VisibilityTimeout="7", DelaySeconds="1")
    assert sqs.queue(VisibilityTimeout="7", DelaySeconds="1") == first
    assert sqs.client.get_queue_url(QueueName=f"{sqs.prefix}-q")["QueueUrl"] == first


def test_creating_again_with_another_attribute_is_refused(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html"""
    sqs.queue(VisibilityTimeout="7")
    with pytest.raises(sqs.client.exceptions.QueueNameExists):
        sqs.queue(VisibilityTimeout="8")


def test_a_queue_that_does_not_exist_is_said_by_its_class(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueUrl.html"""
    gone = sqs.queue()
    sqs.client.delete_queue(QueueUrl=gone)
    missing = sqs.client.exceptions.QueueDoesNotExist
    with pytest.raises(missing) as error:
        sqs.client.get_queue_url(QueueName=f"{sqs.prefix}-never")
    assert error.value.response["Error"]["Code"] == "AWS.SimpleQueueService.NonExistentQueue"
    with pytest.raises(missing):
        sqs.send(gone, "x")
    with pytest.raises(missing):
        sqs.receive(gone)
    with pytest.raises(missing):
        sqs.counts(gone)


def test_queues_are_listed_by_prefix(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html"""
    urls = [sqs.queue(name) for name in ("a1", "a2", "b")]
    assert sorted(sqs.client.list_queues(QueueNamePrefix=f"{sqs.prefix}-a")["QueueUrls"]) == urls[:2]


def test_attributes_are_given_back_as_set(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"""
    url = sqs.queue()
    wanted: Any = {
        "VisibilityTimeout": "45",
        "DelaySeconds": "3",
        "ReceiveMessageWaitTimeSeconds": "2",
        "MessageRetentionPeriod": "86400",
        "MaximumMessageSize": "2048",
    }
    sqs.client.set_queue_attributes(QueueUrl=url, Attributes=wanted)
    found = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert {name: found[name] for name in wanted} == wanted
    assert found["QueueArn"].endswith(f":{sqs.prefix}-q")


def test_timestamps_are_whole_seconds_of_the_epoch(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html"""
    url = sqs.queue()
    sqs.client.set_queue_attributes(QueueUrl=url, Attributes={"DelaySeconds": "1"})
    found = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert 1_600_000_000 < int(found["CreatedTimestamp"]) <= int(found["LastModifiedTimestamp"])


@pytest.mark.parametrize(("name", "value"), [("VisibilityTimeout", "43201"), ("DelaySeconds", "901")])
def test_an_attribute_out_of_range_is_refused(sqs: Account, name: str, value: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"""
    url = sqs.queue()
    attributes: Any = {name: value}
    with pytest.raises(ClientError) as error:
        sqs.client.set_queue_attributes(QueueUrl=url, Attributes=attributes)
    assert code_of(error.value) == "InvalidAttributeValue"


def test_an_unknown_attribute_can_not_be_asked_for(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html"""
    url = sqs.queue()
    with pytest.raises(ClientError) as error:
        sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=["Colour"])  # type: ignore[list-item] # on purpose
    assert code_of(error.value) == "InvalidAttributeName"


def test_the_dead_letter_queue_must_exist(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
    (that it is checked when set, and with which code, is unverified)"""
    url = sqs.queue()
    policy = {"deadLetterTargetArn": f"{sqs.arn(url)}-nowhere", "maxReceiveCount": "3"}
    with pytest.raises(ClientError):
        sqs.client.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": json.dumps(policy)})


def test_a_dead_letter_queue_knows_its_sources(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListDeadLetterSourceQueues.html"""
    dead = sqs.queue("dead")
    policy = {"deadLetterTargetArn": sqs.arn(dead), "maxReceiveCount": "3"}
    source = sqs.queue("source", RedrivePolicy=json.dumps(policy))
    assert sqs.client.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"] == [source]


def test_a_purge_leaves_nothing(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html"""
    url = sqs.queue()
    sqs.send(url, "a", "b")
    sqs.one(url)
    sqs.client.purge_queue(QueueUrl=url)
    assert sqs.counts(url) == (0, 0, 0)


def test_a_second_purge_within_a_minute_is_refused(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_PurgeQueue.html"""
    url = sqs.queue()
    sqs.client.purge_queue(QueueUrl=url)
    with pytest.raises(sqs.client.exceptions.PurgeQueueInProgress):
        sqs.client.purge_queue(QueueUrl=url)


def test_tags_are_set_listed_and_removed(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_TagQueue.html"""
    name = f"{sqs.prefix}-tagged"
    url = sqs.client.create_queue(QueueName=name, tags={"team": "a"})["QueueUrl"]
    sqs.client.tag_queue(QueueUrl=url, Tags={"cost": "b"})
    sqs.client.untag_queue(QueueUrl=url, TagKeys=["team"])
    assert sqs.client.list_queue_tags(QueueUrl=url)["Tags"] == {"cost": "b"}
