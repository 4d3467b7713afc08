"""Requests that are refused, and answers in detail, without HTTP: JSON in, JSON out."""

import asyncio
import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        ({"RedrivePolicy": "[" * 100_000}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": ["a:jobs"], "maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
        *(
            ({"RedrivePolicy": f'{{"deadLetterTargetArn": "a:jobs", "maxReceiveCount": {odd}}}'}, refused)
            for odd in (
                "1e400",
                "Infinity",
                "NaN",
                "1.9",
                "true",
                '"\u0663"',
                "9" * 5_000,
                '"' + "9" * 5_000 + '"',
                "[]",
            )
            for refused in [Code.INVALID_PARAMETER_VALUE]
        ),
        ({"VisibilityTimeout": "\u0663"}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"VisibilityTimeout": "9" * 5_000}, Code.INVALID_ATTRIBUTE_VALUE),
        ({"VisibilityTimeout": 5}, Code.SERIALIZATION),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:nowhere", "maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:jobs", "maxReceiveCount": 0}'}, Code.INVALID_PARAMETER_VALUE),
        ({"RedrivePolicy": '{"deadLetterTargetArn": "a:q.fifo", "maxReceiveCount": 3}'}, Code.INVALID_PARAMETER_VALUE),
    ],
)
def test_a_bad_attribute_is_refused_and_changes_nothing(sqs: Client, attributes: dict[str, Any], code: Code) -> None:
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


def test_a_token_goes_on_with_its_own_list_only(sqs: Client) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ListQueues.html (text unverified)"""
    for name in ("a1", "a2", "a3"):
        sqs.create(name)
    token = sqs("ListQueues", QueueNamePrefix="a", MaxResults=1)["NextToken"]
    elsewhere = sqs("ListQueues", MaxResults=1)["NextToken"]
    for made_up in (
        "a1",
        "",
        "YTE=",
        "\u00e9",
        "\ud800",
        token[:-2],
        token + " ",
        elsewhere,
        base64.b64encode(b"ListQueues:a:").decode(),
    ):
        code, text = sqs.refused("ListQueues", QueueNamePrefix="a", NextToken=made_up)
        assert (code, "NextToken" in text) == (Code.INVALID_PARAMETER_VALUE, True)
    assert sqs.refused("ListDeadLetterSourceQueues", QueueUrl="a1", NextToken=token)[0] is Code.INVALID_PARAMETER_VALUE
    sqs("DeleteQueue", QueueUrl="a1")
    rest = sqs("ListQueues", QueueNamePrefix="a", NextToken=token)
    assert [url.rpartition("/")[2] for url in rest["QueueUrls"]] == ["a2", "a3"]


@pytest.mark.parametrize("odd", ["2", 1.9, 1.0, True, float("inf"), float("nan"), [], {}])
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("ReceiveMessage", "MaxNumberOfMessages"),
        ("ReceiveMessage", "WaitTimeSeconds"),
        ("ReceiveMessage", "VisibilityTimeout"),
        ("ChangeMessageVisibility", "VisibilityTimeout"),
        ("ListQueues", "MaxResults"),
    ],
)
def test_a_number_is_a_whole_number_and_nothing_that_could_be_made_one(
    sqs: Client, operation: str, name: str, odd: object
) -> None:
    """SQS on a text for an integer: https://github.com/async-aws/aws/issues/1667 (other types are unverified)."""
    sqs.create("jobs")
    code, text = sqs.refused(operation, **{"QueueUrl": "jobs", "ReceiptHandle": "h", name: odd})
    assert (code, text) == (Code.SERIALIZATION, f"{name} is not a whole number.")


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("CreateQueue", {"QueueName": 5}),
        ("CreateQueue", {"QueueName": "jobs", "tags": {"a": 1}}),
        ("TagQueue", {"QueueUrl": "jobs", "Tags": {"a": None}}),
        ("TagQueue", {"QueueUrl": "jobs", "Tags": "a"}),
        ("UntagQueue", {"QueueUrl": "jobs", "TagKeys": [5]}),
        ("GetQueueAttributes", {"QueueUrl": "jobs", "AttributeNames": "All"}),
        ("GetQueueAttributes", {"QueueUrl": ["jobs"]}),
        ("DeleteMessage", {"QueueUrl": "jobs", "ReceiptHandle": 5}),
        ("DeleteMessageBatch", {"QueueUrl": "jobs", "Entries": {"Id": "a"}}),
        ("DeleteMessageBatch", {"QueueUrl": "jobs", "Entries": ["a"]}),
        ("DeleteMessageBatch", {"QueueUrl": "jobs", "Entries": [{"Id": 5, "ReceiptHandle": "h"}]}),
        ("ListQueues", {"NextToken": 5}),
    ],
)
def test_a_value_of_another_type_than_its_parameters_is_refused(
    sqs: Client, operation: str, params: dict[str, Any]
) -> None:
    """As above."""
    sqs.create("jobs")
    assert sqs.refused(operation, **params)[0] is Code.SERIALIZATION


@pytest.mark.parametrize("value", ["7", "-7", "+7.5", ".5", "5.", "1e3", "12.5E-100"])
def test_a_number_attribute_holds_any_number(sqs: Client, value: str) -> None:
    """https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-message-metadata.html"""
    url = sqs.create("jobs")
    number = {"n": {"DataType": "Number", "StringValue": value}}
    assert sqs("SendMessage", QueueUrl=url, MessageBody="x", MessageAttributes=number)["MD5OfMessageAttributes"]


@pytest.mark.parametrize("text", ["jobs.fifo", "\u0663", "9" * 5_000, "-1", ""])
def test_a_handle_with_anything_but_counts_in_it_is_none(sqs: Client, text: str) -> None:
    url = sqs.create("jobs")
    sqs("SendMessage", QueueUrl=url, MessageBody="x")
    handle = sqs("ReceiveMessage", QueueUrl=url)["Messages"][0]["ReceiptHandle"]
    prefix, _, _ = base64.b64decode(handle).decode().rpartition(":")
    made_up = base64.b64encode(f"{prefix}:{text}".encode()).decode()
    assert sqs.refused("DeleteMessage", QueueUrl=url, ReceiptHandle=made_up)[0] is Code.RECEIPT_HANDLE_IS_INVALID


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
        *(
            ({"MessageBody": "x", "DelaySeconds": odd}, Code.SERIALIZATION)
            for odd in ("soon", "3", "\u0663", 1.0, True)
        ),
        *(({"MessageBody": odd}, Code.SERIALIZATION) for odd in ({"a": 1}, 5, ["x"], True)),
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
        *(
            ({"MessageBody": "x", "MessageAttributes": {"a": attribute}}, Code.INVALID_PARAMETER_VALUE)
            for attribute in (
                {"DataType": "String.\ud800", "StringValue": "v"},
                {"DataType": "String." + "x" * 250, "StringValue": "v"},
                {"DataType": 5, "StringValue": "v"},
                {"DataType": "Binary", "BinaryValue": "\u00e9"},
                {"DataType": "Binary", "BinaryValue": 5},
                *(
                    {"DataType": "Number.x", "StringValue": odd}
                    for odd in ("abc", "", "1e", ".", "0x1", "nan", "\u0663")
                ),
            )
        ),
        *(
            ({"MessageBody": "x", "MessageSystemAttributes": {"AWSTraceHeader": header}}, Code.INVALID_PARAMETER_VALUE)
            for header in (
                {"DataType": "Binary", "BinaryValue": "eA=="},
                {"DataType": "Number", "StringValue": "1"},
                {"DataType": "String", "BinaryValue": "eA=="},
            )
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


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"nonsense",
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"MaxResults": Infinity}',
        b'{"MaxResults": NaN}',
        b'{"MaxResults": ' + b"9" * 5_000 + b"}",
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refusal) as refusal:
        Params.of_json(body)
    assert refusal.value.code is Code.SERIALIZATION


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.characters(categories=["Cs"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
_LIKELY = st.sampled_from(["jobs", "q.fifo", "x", "String", "Number", "Binary", "eA==", 1, 0, "All", ["All"]])
_VALUE = _LIKELY | _JSON
_ATTRIBUTES = st.dictionaries(
    st.sampled_from(["a", "AWSTraceHeader", "VisibilityTimeout", "RedrivePolicy"]),
    st.fixed_dictionaries({}, optional={"DataType": _VALUE, "StringValue": _VALUE, "BinaryValue": _VALUE}) | _VALUE,
    max_size=2,
)
_FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("QueueName", "QueueUrl"), st.sampled_from(["jobs", "q.fifo"]) | _VALUE),
    **dict.fromkeys(
        ("MessageAttributes", "MessageSystemAttributes", "Attributes", "Tags", "tags"), _ATTRIBUTES | _VALUE
    ),
    **dict.fromkeys(("MessageBody", "MessageGroupId", "MessageDeduplicationId", "ReceiptHandle", "NextToken"), _VALUE),
    **dict.fromkeys(("DelaySeconds", "VisibilityTimeout", "MaxNumberOfMessages", "MaxResults"), _VALUE),
    **dict.fromkeys(("AttributeNames", "MessageAttributeNames", "MessageSystemAttributeNames", "TagKeys"), _VALUE),
    "QueueNamePrefix": _VALUE,
    "Id": _VALUE,
}
_ENTRY = st.fixed_dictionaries({}, optional=_FIELDS)
_REQUEST = st.fixed_dictionaries({}, optional={**_FIELDS, "Entries": st.lists(_ENTRY, max_size=3) | _VALUE})


@given(st.sampled_from([*QUEUE_ACTIONS, *MESSAGE_ACTIONS, "ReceiveMessage"]), _REQUEST)
def test_no_request_at_all_gets_anything_but_an_answer_in_json_or_a_refusal(
    operation: str, request: dict[str, Any]
) -> None:
    sqs = Client()
    sqs.create("jobs")
    sqs.create("q.fifo", **FIFO)
    try:
        answer = sqs(operation, **request)
    except Refusal as refusal:
        answer = {"message": str(refusal)}
    assert json.loads(json.dumps(answer)) == answer
