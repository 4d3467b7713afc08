"""Requests that are refused, and answers in detail, without HTTP: JSON in, JSON out."""

import asyncio
from typing import Any

import pytest

from tests.sandbox.sqs.builders import START_S, a_service
from tests.sandbox.sqs.test_digest import STARS
from tidegate.sandbox.sqs.call import Call
from tidegate.sandbox.sqs.faults import Code, Refusal
from tidegate.sandbox.sqs.message_actions import MESSAGE_ACTIONS, receive_message
from tidegate.sandbox.sqs.params import Params
from tidegate.sandbox.sqs.polls import LongPolls
from tidegate.sandbox.sqs.queue import Limits
from tidegate.sandbox.sqs.queue_actions import QUEUE_ACTIONS

MIB = 1_048_576
FIFO = {"FifoQueue": "true"}


class Client:
    """Speaks to the operations as the HTTP layer does; `now_s` is what the clock says."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.now_s = START_S
        self.polls = LongPolls(lambda: self.now_s)
        self.service = a_service(lambda: self.now_s, touched=self.polls.wake, limits=limits)

    def call(self, params: dict[str, Any]) -> Call:
        return Call(self.service, self.polls, Params(params), "http://sqs.test:9", lambda: False)

    def __call__(self, operation: str, **params: Any) -> dict[str, Any]:
        call = self.call(params)
        if operation == "ReceiveMessage":
            return asyncio.run(receive_message(call))
        return {**QUEUE_ACTIONS, **MESSAGE_ACTIONS}[operation](call)

    def create(self, name: str, **attributes: str) -> str:
        return str(self("CreateQueue", QueueName=name, Attributes=attributes)["QueueUrl"])

    def refused(self, operation: str, **params: Any) -> tuple[Code, str]:
        with pytest.raises(Refusal) as refusal:
            self(operation, **params)
        return refusal.value.code, str(refusal.value)


@pytest.fixture
def sqs() -> Client:
    return Client()


def test_the_url_is_the_requests_own_origin_and_read_by_its_last_segment(sqs: Client) -> None:
    assert sqs.create("jobs") == "http://sqs.test:9/000000000000/jobs"
    sqs("SendMessage", QueueUrl="https://elsewhere/123456789012/jobs", MessageBody="x")
    assert sqs("ReceiveMessage", QueueUrl="jobs")["Messages"][0]["Body"] == "x"


@pytest.mark.parametrize("name", ["", "no spaces", "x" * 81, "a.b", "x" * 76 + ".fifo", ".fifo"])
def test_a_bad_name_is_refused(sqs: Client, name: str) -> None:
    assert sqs.refused("CreateQueue", QueueName=name)[0] is Code.INVALID_PARAMETER_VALUE


@pytest.mark.parametrize(("name", "attributes"), [("jobs.fifo", {}), ("jobs", FIFO)])
def test_name_and_kind_must_agree(sqs: Client, name: str, attributes: dict[str, str]) -> None:
    assert sqs.refused("CreateQueue", QueueName=name, Attributes=attributes)[0] in (
        Code.INVALID_PARAMETER_VALUE,
        Code.INVALID_ATTRIBUTE_VALUE,
    )


@pytest.mark.parametrize(
    ("attributes", "code"),
    [
        ({"VisibilityTimeout": "43201"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"VisibilityTimeout": "-1"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"VisibilityTimeout": "soon"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"DelaySeconds": "901"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"ReceiveMessageWaitTimeSeconds": "21"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"MessageRetentionPeriod": "59"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"MaximumMessageSize": str(MIB + 1)}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"ContentBasedDeduplication": "true"}, Code.INVALID_ATTRIBUTE_NAME),
        ({"Colour": "blue"}, Code.INVALID_ATTRIBUTE_NAME),
        ({"RedrivePolicy": "not json"}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:nowhere", "maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:jobs", "maxReceiveCount": 0}'}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:q.fifo", "maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
    ],
)
def test_a_bad_attribute_is_refused_and_changes_nothing(sqs: Client, attributes: dict[str, str], code: Code) -> None:
    url = sqs.create("jobs")
    sqs.create("q.fifo", **FIFO)
    before = sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"])
    good = {"VisibilityTimeout": "5"} if "VisibilityTimeout" not in attributes else {}
    assert sqs.refused("SetQueueAttributes", QueueUrl=url, Attributes={**good, **attributes})[0] is code
    assert sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"]) == before


def test_the_attributes_of_a_new_queue_are_sqss_defaults(sqs: Client) -> None:
    url = sqs.create("q.fifo", **FIFO)
    attributes = sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert attributes == {
        "QueueArn": "arn:aws:sqs:eu-west-1:000000000000:q.fifo",
        "ApproximateNumberOfMessages": "0",
        "ApproximateNumberOfMessagesNotVisible": "0",
        "ApproximateNumberOfMessagesDelayed": "0",
        "CreatedTimestamp": str(int(START_S)),
        "LastModifiedTimestamp": str(int(START_S)),
        "VisibilityTimeout": "30",
        "DelaySeconds": "0",
        "ReceiveMessageWaitTimeSeconds": "0",
        "MessageRetentionPeriod": "345600",
        "MaximumMessageSize": str(MIB),
        "SqsManagedSseEnabled": "true",
        "FifoQueue": "true",
        "ContentBasedDeduplication": "false",
        "DeduplicationScope": "queue",
        "FifoThroughputLimit": "perQueue",
    }


def test_an_unknown_attribute_can_not_be_asked_for(sqs: Client) -> None:
    url = sqs.create("jobs")
    code, _ = sqs.refused("GetQueueAttributes", QueueUrl=url, AttributeNames=["QueueArn", "Colour"])
    assert code is Code.INVALID_ATTRIBUTE_NAME
    assert sqs("GetQueueAttributes", QueueUrl=url) == {}


def test_setting_attributes_moves_the_time_of_change_and_an_empty_redrive_policy_ends_it(sqs: Client) -> None:
    url, policy = sqs.create("jobs"), '{"deadLetterTargetArn": "a:dead", "maxReceiveCount": "3"}'
    dead = sqs.create("dead")
    sqs.now_s += 60
    sqs("SetQueueAttributes", QueueUrl=url, Attributes={"RedrivePolicy": policy})
    asked = sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["LastModifiedTimestamp", "RedrivePolicy"])
    assert asked["Attributes"]["LastModifiedTimestamp"] == str(int(START_S) + 60)
    assert asked["Attributes"]["RedrivePolicy"] == '{"deadLetterTargetArn": "a:dead", "maxReceiveCount": 3}'
    sqs("SetQueueAttributes", QueueUrl=url, Attributes={"RedrivePolicy": ""})
    assert sqs("GetQueueAttributes", QueueUrl=url, AttributeNames=["RedrivePolicy"]) == {}
    assert sqs("ListDeadLetterSourceQueues", QueueUrl=dead) == {"queueUrls": []}


def test_lists_come_in_pages(sqs: Client) -> None:
    for name in ("a1", "a2", "a3", "b1"):
        sqs.create(name)
    first = sqs("ListQueues", QueueNamePrefix="a", MaxResults=2)
    second = sqs("ListQueues", QueueNamePrefix="a", MaxResults=2, NextToken=first["NextToken"])
    assert [url.rpartition("/")[2] for url in first["QueueUrls"] + second["QueueUrls"]] == ["a1", "a2", "a3"]
    assert "NextToken" not in second
    assert sqs("ListQueues", QueueNamePrefix="zzz") == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({}, Code.MISSING_PARAMETER),
        ({"MessageBody": ""}, Code.MISSING_PARAMETER),
        ({"MessageBody": "\x00"}, Code.INVALID_MESSAGE_CONTENTS),
        ({"MessageBody": "\ud800"}, Code.INVALID_MESSAGE_CONTENTS),
        ({"MessageBody": "\ufffe"}, Code.INVALID_MESSAGE_CONTENTS),
        ({"MessageBody": "x" * (MIB + 1)}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "DelaySeconds": 901}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "DelaySeconds": "soon"}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "MessageDeduplicationId": "d"}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "MessageGroupId": "not a token"}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "MessageAttributes": {"a": {}}}, Code.INVALID_PARAMETER_VALUE),
        ({"MessageBody": "x", "MessageAttributes": {"a": {"DataType": "String"}}}, Code.INVALID_PARAMETER_VALUE),
        (
            {"MessageBody": "x", "MessageAttributes": {"a": {"DataType": "Text", "StringValue": "v"}}},
            Code.INVALID_PARAMETER_VALUE,
        ),
        (
            {"MessageBody": "x", "MessageAttributes": {"aws.a": {"DataType": "String", "StringValue": "v"}}},
            Code.INVALID_PARAMETER_VALUE,
        ),
        (
            {"MessageBody": "x", "MessageAttributes": {"a": {"DataType": "Binary", "BinaryValue": "no base64!"}}},
            Code.INVALID_PARAMETER_VALUE,
        ),
        (
            {"MessageBody": "x", "MessageSystemAttributes": {"Colour": {"DataType": "String", "StringValue": "v"}}},
            Code.INVALID_PARAMETER_VALUE,
        ),
        ({"MessageBody": "x", "MessageAttributes": {"a": "flat"}}, Code.SERIALIZATION),
        ({"MessageBody": "x", "MessageAttributes": ["a"]}, Code.SERIALIZATION),
    ],
)
def test_a_message_that_sqs_would_refuse_is_refused(sqs: Client, message: dict[str, Any], code: Code) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html (texts unverified)"""
    url = sqs.create("jobs")
    assert sqs.refused("SendMessage", QueueUrl=url, **message)[0] is code
    assert sqs("ReceiveMessage", QueueUrl=url) == {}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"MessageBody": "x", "MessageDeduplicationId": "d"}, Code.MISSING_PARAMETER),
        ({"MessageBody": "x", "MessageGroupId": "g"}, Code.INVALID_PARAMETER_VALUE),
        (
            {"MessageBody": "x", "MessageGroupId": "g", "MessageDeduplicationId": "d", "DelaySeconds": 2},
            Code.INVALID_PARAMETER_VALUE,
        ),
    ],
)
def test_a_fifo_message_needs_group_and_deduplication_and_takes_no_delay(
    sqs: Client, message: dict[str, Any], code: Code
) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html"""
    url = sqs.create("q.fifo", **FIFO)
    assert sqs.refused("SendMessage", QueueUrl=url, **message)[0] is code


def test_a_message_of_exactly_one_mebibyte_passes_and_attributes_count(sqs: Client) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""
    url = sqs.create("jobs")
    sqs("SendMessage", QueueUrl=url, MessageBody="x" * MIB)
    attributes = {"a": {"DataType": "String", "StringValue": "v"}}
    code, text = sqs.refused("SendMessage", QueueUrl=url, MessageBody="x" * MIB, MessageAttributes=attributes)
    assert (code, str(MIB) in text) == (Code.INVALID_PARAMETER_VALUE, True)


def test_a_batch_may_be_one_mebibyte_in_all(sqs: Client) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    url = sqs.create("jobs")
    half = {"MessageBody": "x" * (MIB // 2)}
    sqs("SendMessageBatch", QueueUrl=url, Entries=[{"Id": "0", **half}, {"Id": "1", **half}])
    entries = [{"Id": "0", **half}, {"Id": "1", **half}, {"Id": "2", "MessageBody": "x"}]
    assert sqs.refused("SendMessageBatch", QueueUrl=url, Entries=entries)[0] is Code.BATCH_REQUEST_TOO_LONG
    assert sqs.service.snapshot()["jobs"].visible == 2


def test_a_bad_entry_of_a_batch_fails_alone(sqs: Client) -> None:
    url = sqs.create("jobs")
    entries = [{"Id": "good", "MessageBody": "x"}, {"Id": "bad", "MessageBody": "\x00"}]
    answer = sqs("SendMessageBatch", QueueUrl=url, Entries=entries)
    assert [entry["Id"] for entry in answer["Successful"]] == ["good"]
    assert [(entry["Id"], entry["Code"]) for entry in answer["Failed"]] == [("bad", "InvalidMessageContents")]


@pytest.mark.parametrize(
    "params",
    [
        {"MaxNumberOfMessages": 0},
        {"MaxNumberOfMessages": 11},
        {"WaitTimeSeconds": 21},
        {"VisibilityTimeout": 43_201},
        {"WaitTimeSeconds": -1},
    ],
)
def test_a_receive_out_of_range_is_refused(sqs: Client, params: dict[str, int]) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url = sqs.create("jobs")
    (name,) = params
    code, text = sqs.refused("ReceiveMessage", QueueUrl=url, **params)
    assert (code, name in text) == (Code.INVALID_PARAMETER_VALUE, True)


def test_the_trace_header_comes_back_as_a_system_attribute_with_its_digest(sqs: Client) -> None:
    url = sqs.create("jobs")
    header = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-2-3"}}
    sent = sqs("SendMessage", QueueUrl=url, MessageBody="x", MessageSystemAttributes=header)
    assert len(sent["MD5OfMessageSystemAttributes"]) == 32
    asked = sqs("ReceiveMessage", QueueUrl=url, MessageSystemAttributeNames=["AWSTraceHeader"])
    assert asked["Messages"][0]["Attributes"] == {"AWSTraceHeader": "Root=1-2-3"}


@pytest.mark.parametrize("operation", ["SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"])
@pytest.mark.parametrize(
    ("ids", "code"),
    [
        ([], Code.EMPTY_BATCH_REQUEST),
        ([str(place) for place in range(11)], Code.TOO_MANY_ENTRIES),
        (["a", "b", "a"], Code.BATCH_ENTRY_IDS_NOT_DISTINCT),
        (["a b"], Code.INVALID_BATCH_ENTRY_ID),
        ([None], Code.MISSING_PARAMETER),
    ],
)
def test_a_malformed_batch_is_refused_as_a_whole(sqs: Client, operation: str, ids: list[Any], code: Code) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""
    url = sqs.create("jobs")
    entries = [{"Id": each, "MessageBody": "x", "ReceiptHandle": "h"} for each in ids]
    assert sqs.refused(operation, QueueUrl=url, Entries=entries)[0] is code
    assert sqs.service.snapshot()["jobs"].sent == 0


@pytest.mark.parametrize(
    ("names", "md5"),
    [(["Hel.*"], "83fee93c1bcd8b9a5a923ffacdc636c7"), (["Hello", "Other"], "a311262e065454b75da111d535b8dacd")],
)
def test_the_digest_is_of_the_attributes_that_are_given(sqs: Client, names: list[str], md5: str) -> None:
    """Digests recorded from AWS, see test_digest."""
    url = sqs.create("jobs")
    sqs("SendMessage", QueueUrl=url, MessageBody="x", MessageAttributes=STARS)
    (message,) = sqs("ReceiveMessage", QueueUrl=url, MessageAttributeNames=names)["Messages"]
    assert message["MD5OfMessageAttributes"] == md5


def test_too_many_in_flight_is_an_error_for_a_short_poll_of_a_standard_queue_only() -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html"""
    sqs = Client(limits=Limits(in_flight=1))
    standard, fifo = sqs.create("jobs"), sqs.create("q.fifo", **FIFO)
    for url in (standard, fifo):
        for body in ("a", "b"):
            unique = {"MessageGroupId": body, "MessageDeduplicationId": body} if url == fifo else {}
            sqs("SendMessage", QueueUrl=url, MessageBody=body, **unique)
        sqs("ReceiveMessage", QueueUrl=url)
    assert sqs.refused("ReceiveMessage", QueueUrl=standard)[0] is Code.OVER_LIMIT
    assert sqs("ReceiveMessage", QueueUrl=fifo) == {}


@pytest.mark.looptime
async def test_the_queues_own_wait_holds_unless_the_receive_says_another(sqs: Client) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url, loop = sqs.create("jobs", ReceiveMessageWaitTimeSeconds="7"), asyncio.get_running_loop()
    for params, wait_s in (({}, 7), ({"WaitTimeSeconds": 0}, 0), ({"WaitTimeSeconds": 3}, 3)):
        began_s = loop.time()
        assert await receive_message(sqs.call({"QueueUrl": url, **params})) == {}
        assert loop.time() - began_s == pytest.approx(wait_s)


def test_a_receive_may_ask_for_no_lease_at_all(sqs: Client) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ReceiveMessage.html"""
    url = sqs.create("jobs")
    sqs("SendMessage", QueueUrl=url, MessageBody="x")
    for _ in range(3):
        assert len(sqs("ReceiveMessage", QueueUrl=url, VisibilityTimeout=0)["Messages"]) == 1


def test_empty_receives_are_counted(sqs: Client) -> None:
    url = sqs.create("jobs")
    sqs("ReceiveMessage", QueueUrl=url)
    assert sqs.service.snapshot()["jobs"].empty_receives == 1


@pytest.mark.parametrize("body", [b"[]", b"nonsense", b"\xff"])
def test_a_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as refusal:
        Params.of_json(body)
    assert refusal.value.code is Code.SERIALIZATION
