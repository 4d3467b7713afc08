"""Messages: what goes in, what comes out, batches, delays, what is refused."""

import hashlib
import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.contract.sqs.account import Account, code_of

MIB = 1_048_576
ATTRIBUTES: dict[str, Any] = {
    "kind": {"DataType": "String", "StringValue": "grüße"},
    "kind.sub": {"DataType": "Number.int", "StringValue": "7"},
    "raw": {"DataType": "Binary", "BinaryValue": b"\x00\x01\x02"},
}


def test_a_message_comes_out_as_it_went_in_and_is_gone_after_its_delete(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url, body = sqs.queue(), 'grüße "😀" \n\t<&>'
    sent = sqs.client.send_message(QueueUrl=url, MessageBody=body)
    message = sqs.one(url)
    md5 = hashlib.md5(body.encode(), usedforsecurity=False).hexdigest()
    assert (message["Body"], message["MessageId"]) == (body, sent["MessageId"])
    assert message["MD5OfBody"] == sent["MD5OfMessageBody"] == md5
    sqs.delete(url, message)
    assert sqs.counts(url) == (0, 0, 0)


def test_an_empty_receive_has_no_list_of_messages(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html
    ("the call does not return a message list")"""
    assert "Messages" not in sqs.client.receive_message(QueueUrl=sqs.queue())


def test_the_three_counts_say_where_the_messages_are(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html"""
    url = sqs.queue()
    sqs.send(url, "a", "b")
    sqs.send(url, "c", DelaySeconds=60)
    sqs.one(url)
    assert sqs.counts(url) == (1, 1, 1)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([], set()),
        (["All"], {"kind", "kind.sub", "raw"}),
        ([".*"], {"kind", "kind.sub", "raw"}),
        (["kind.*"], {"kind", "kind.sub"}),
        (["raw", "other"], {"raw"}),
    ],
)
def test_message_attributes_come_back_when_asked_for(sqs: Account, names: list[str], expected: set[str]) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url = sqs.queue()
    sent = sqs.client.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=ATTRIBUTES)
    message = sqs.one(url, MessageAttributeNames=names)
    found = message.get("MessageAttributes", {})
    assert {name: value["DataType"] for name, value in found.items()} == {
        name: ATTRIBUTES[name]["DataType"] for name in expected
    }
    if len(expected) == len(ATTRIBUTES):
        assert message["MD5OfMessageAttributes"] == sent["MD5OfMessageAttributes"]
        assert found["raw"]["BinaryValue"] == b"\x00\x01\x02"


@pytest.mark.parametrize("param", ["AttributeNames", "MessageSystemAttributeNames"])
def test_system_attributes_tell_times_and_receives(sqs: Account, param: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url = sqs.queue()
    before_ms = int(time.time() * 1000)
    sqs.send(url, "x")
    attributes = sqs.one(url, **{param: ["All"]})["Attributes"]
    after_ms = int(time.time() * 1000)
    assert before_ms <= int(attributes["SentTimestamp"]) <= after_ms
    assert int(attributes["SentTimestamp"]) <= int(attributes["ApproximateFirstReceiveTimestamp"]) <= after_ms
    assert attributes["ApproximateReceiveCount"] == "1"
    assert attributes["SenderId"]


def test_a_standard_queue_takes_a_group_and_gives_it_back(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html"""
    url = sqs.queue()
    sqs.send(url, "a", "b", MessageGroupId="tenant-1")
    messages = sqs.receive(url, MessageSystemAttributeNames=["MessageGroupId"])
    assert [message["Attributes"] for message in messages] == [{"MessageGroupId": "tenant-1"}] * 2


def test_a_delayed_message_comes_when_its_delay_is_over(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-timers.html"""
    url = sqs.queue()
    sqs.send(url, "x", DelaySeconds=1)
    assert sqs.bodies(url) == []
    assert sqs.bodies(url, WaitTimeSeconds=5) == ["x"]


def test_a_messages_own_delay_goes_before_the_queues(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-timers.html"""
    url = sqs.queue(DelaySeconds="900")
    sqs.send(url, "late")
    sqs.send(url, "now", DelaySeconds=0)
    assert sqs.counts(url) == (1, 0, 1)
    assert sqs.bodies(url) == ["now"]


def test_a_batch_answers_for_every_entry(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    url = sqs.queue()
    entries: Any = [{"Id": str(place), "MessageBody": f"m{place}"} for place in range(10)]
    answer = sqs.client.send_message_batch(QueueUrl=url, Entries=entries)
    assert [entry["Id"] for entry in answer["Successful"]] == [entry["Id"] for entry in entries]
    assert not answer.get("Failed")
    received = sqs.receive(url)
    handles: Any = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(received)]
    deleted = sqs.client.delete_message_batch(QueueUrl=url, Entries=handles)
    assert len(deleted["Successful"]) == len(received) == 10
    assert sqs.counts(url) == (0, 0, 0)


def test_a_bad_entry_fails_alone_and_the_call_succeeds(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_DeleteMessageBatch.html"""
    url = sqs.queue()
    sqs.send(url, "x")
    entries: Any = [
        {"Id": "good", "ReceiptHandle": sqs.one(url)["ReceiptHandle"]},
        {"Id": "bad", "ReceiptHandle": "rubbish"},
    ]
    answer = sqs.client.delete_message_batch(QueueUrl=url, Entries=entries)
    assert [entry["Id"] for entry in answer["Successful"]] == ["good"]
    (failed,) = answer["Failed"]
    assert (failed["Id"], failed["Code"], failed["SenderFault"]) == ("bad", "ReceiptHandleIsInvalid", True)


BATCHES: dict[str, Any] = {
    "send": lambda sqs, url, ids: sqs.client.send_message_batch(
        QueueUrl=url, Entries=[{"Id": each, "MessageBody": "x"} for each in ids]
    ),
    "delete": lambda sqs, url, ids: sqs.client.delete_message_batch(
        QueueUrl=url, Entries=[{"Id": each, "ReceiptHandle": f"h{place}"} for place, each in enumerate(ids)]
    ),
    "change": lambda sqs, url, ids: sqs.client.change_message_visibility_batch(
        QueueUrl=url,
        Entries=[{"Id": each, "ReceiptHandle": f"h{place}", "VisibilityTimeout": 1} for place, each in enumerate(ids)],
    ),
}


def refused_batch(sqs: Account, kind: str, ids: list[str]) -> str:
    url = sqs.queue()
    with pytest.raises(ClientError) as error:
        BATCHES[kind](sqs, url, ids)
    assert sqs.counts(url) == (0, 0, 0)
    return code_of(error.value)


@pytest.mark.parametrize("kind", BATCHES)
def test_an_empty_batch_is_refused(sqs: Account, kind: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    assert refused_batch(sqs, kind, []) == "EmptyBatchRequest"


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_of_eleven_is_refused(sqs: Account, kind: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    assert refused_batch(sqs, kind, [str(place) for place in range(11)]) == "TooManyEntriesInBatchRequest"


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_with_an_id_twice_is_refused(sqs: Account, kind: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    assert refused_batch(sqs, kind, ["a", "b", "a"]) == "BatchEntryIdsNotDistinct"


@pytest.mark.parametrize("kind", BATCHES)
def test_a_batch_with_a_malformed_id_is_refused(sqs: Account, kind: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    assert refused_batch(sqs, kind, ["a:b"]) == "InvalidBatchEntryId"


def test_a_message_may_be_one_mebibyte_and_no_more(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""
    url = sqs.queue()
    sqs.send(url, "x" * MIB)
    with pytest.raises(ClientError) as error:
        sqs.send(url, "x" * (MIB + 1))
    assert code_of(error.value) == "InvalidParameterValue"


def test_a_batch_may_be_one_mebibyte_and_no_more(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    url, half = sqs.queue(), "x" * (MIB // 2)
    entries: Any = [{"Id": "0", "MessageBody": half}, {"Id": "1", "MessageBody": half}]
    assert len(sqs.client.send_message_batch(QueueUrl=url, Entries=entries)["Successful"]) == 2
    with pytest.raises(sqs.client.exceptions.BatchRequestTooLong):
        sqs.client.send_message_batch(QueueUrl=url, Entries=[*entries, {"Id": "2", "MessageBody": "x"}])


def test_a_control_character_in_the_body_is_refused(sqs: Account) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    with pytest.raises(sqs.client.exceptions.InvalidMessageContents):
        sqs.send(sqs.queue(), "a\x00b")


@pytest.mark.parametrize("params", [{"MaxNumberOfMessages": 11}, {"VisibilityTimeout": 43_201}], ids=str)
def test_a_receive_out_of_range_is_refused(sqs: Account, params: dict[str, int]) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    with pytest.raises(ClientError) as error:
        sqs.receive(sqs.queue(), **params)
    assert code_of(error.value) == "InvalidParameterValue"
