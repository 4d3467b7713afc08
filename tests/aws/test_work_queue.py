"""What only the real queue adapter has: finding the queue, clients and timeouts, calls that fail as a whole."""

import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any

import boto3
import pytest

from tests.aws.moto_cloud import REGION, our_sqs, use_test_account
from tests.aws.wrong_answers import WRONG_ANSWERS, always
from tidegate.aws.aio import QUICK_CONFIG, poll_config
from tidegate.aws.queues import queue_address
from tidegate.aws.work_queue import SqsWorkQueue
from tidegate.errors import Gone, Invalid, Throttled, Unreachable
from tidegate.ports import VisibilityChange
from tidegate.sandbox.sqs import SqsServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[SqsServer]:
    with our_sqs(monkeypatch) as server:
        yield server


@pytest.fixture
def sqs(server: SqsServer) -> Any:
    return boto3.client("sqs")


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


async def connect(stack: AsyncExitStack, queue: str, **options: Any) -> SqsWorkQueue:
    connected = await SqsWorkQueue.connect(queue, **options)
    stack.push_async_callback(connected.close)
    return connected


@pytest.mark.integration
@pytest.mark.parametrize("notation", ["name", "arn", "url"])
async def test_a_queue_is_found_by_name_arn_and_url(sqs: Any, stack: AsyncExitStack, notation: str) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    queue = await connect(stack, {"name": "orders", "arn": arn, "url": url}[notation])
    assert [message.body for message in await queue.receive(1, 0, 30)] == ["hello"]


@pytest.mark.integration
async def test_a_queue_that_does_not_exist_is_gone(sqs: Any, stack: AsyncExitStack) -> None:
    unknown = await connect(stack, "nowhere")
    with pytest.raises(Gone, match="sqs:GetQueueUrl on nowhere"):
        await unknown.visibility_timeout_s()
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    queue = await connect(stack, url.replace("orders", "nowhere"))
    with pytest.raises(Gone, match="sqs:GetQueueAttributes"):
        await queue.visibility_timeout_s()
    with pytest.raises(Gone, match="sqs:ReceiveMessage"):
        await queue.receive(1, 0, 30)


@pytest.mark.integration
async def test_attributes_of_the_sender_come_as_sqs_gives_them(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    tenant = {"DataType": "String", "StringValue": "acme"}
    sqs.send_message(QueueUrl=url, MessageBody="hello", MessageAttributes={"tenant": tenant}, MessageGroupId="acme")
    (message,) = await (await connect(stack, "orders")).receive(1, 0, 30)
    assert message.message_attributes["tenant"]["StringValue"] == "acme"
    assert message.attributes["MessageGroupId"] == "acme"


@pytest.mark.integration
async def test_each_receive_asks_for_its_lease_whatever_the_queues_own_is(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders", Attributes={"VisibilityTimeout": "0"})["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody="hello")
    queue = await connect(stack, "orders")
    assert await queue.visibility_timeout_s() == 0
    assert len(await queue.receive(1, 0, 60)) == 1
    assert await queue.receive(1, 0, 60) == []


async def test_nobody_there_is_unreachable(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", f"http://127.0.0.1:{port}")
    queue = await connect(stack, f"http://127.0.0.1:{port}/000000000000/orders")
    for call in (queue.visibility_timeout_s(), queue.receive(1, 0, 30), queue.delete(["r"])):
        with pytest.raises(Unreachable):
            await call


async def test_no_region_is_said_with_where_to_set_it(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    with pytest.raises(Invalid, match="AWS_REGION"):
        await connect(stack, "orders")


async def test_an_endpoint_that_is_no_url_is_said(stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch) -> None:
    use_test_account(monkeypatch)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "nonsense")
    with pytest.raises(Invalid, match="http://host:port"):
        await connect(stack, "orders")


def test_a_poll_may_take_longer_than_its_wait_and_is_never_repeated_unseen() -> None:
    config: Any = poll_config(20)
    assert config.read_timeout > 20
    assert config.retries["total_max_attempts"] == 1


def test_a_call_for_a_lease_is_known_to_have_failed_within_seconds() -> None:
    config: Any = QUICK_CONFIG
    assert config.read_timeout * config.retries["total_max_attempts"] <= 6


URL = "https://sqs.us-east-1.amazonaws.com/000000000000/orders"


class Client:
    """The two batch calls of an SQS client; calls for entries from `broken_from` on fail as a whole."""

    def __init__(self, broken_from: int) -> None:
        self.broken_from = broken_from
        self.ids: list[list[str]] = []

    async def delete_message_batch(self, QueueUrl: str, Entries: list[dict[str, str]]) -> dict[str, Any]:  # noqa: N803  boto's names
        self.ids.append([entry["Id"] for entry in Entries])
        if int(Entries[0]["Id"]) >= self.broken_from:
            raise Throttled("sqs:DeleteMessageBatch", "orders", "slow down")
        failed = {"Id": Entries[0]["Id"], "Code": "InternalError", "SenderFault": False}
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries[1:]], "Failed": [failed]}


def queue_on(client: object) -> SqsWorkQueue:
    anything: Any = client
    return SqsWorkQueue("orders", queue_address(URL), anything, anything, AsyncExitStack(), None)


async def test_a_call_that_fails_among_others_fails_its_own_entries_only() -> None:
    client = Client(broken_from=20)
    failures = await queue_on(client).delete([f"r{i}" for i in range(23)])
    assert [len(ids) for ids in client.ids] == [10, 10, 3]
    assert [(failure.index, failure.code) for failure in failures] == [
        (0, "InternalError"),
        (10, "InternalError"),
        (20, "Throttled"),
        (21, "Throttled"),
        (22, "Throttled"),
    ]


async def test_when_every_call_fails_the_error_is_raised() -> None:
    with pytest.raises(Throttled):
        await queue_on(Client(broken_from=0)).delete(["r0"])


async def test_an_entry_that_the_answer_says_nothing_of_has_failed() -> None:
    class Forgetful:
        async def delete_message_batch(self, **_: object) -> dict[str, Any]:
            return {"Successful": [{"Id": "1"}]}

    failures = await queue_on(Forgetful()).delete(["r0", "r1", "r2"])
    assert [(failure.index, failure.code, failure.sender_fault) for failure in failures] == [
        (0, "NoResult", False),
        (2, "NoResult", False),
    ]


@pytest.mark.integration
async def test_a_queue_that_could_not_be_looked_up_is_looked_up_again_by_the_next_call(
    sqs: Any, stack: AsyncExitStack
) -> None:
    queue = await connect(stack, "orders")
    with pytest.raises(Gone):
        await queue.visibility_timeout_s()
    sqs.create_queue(QueueName="orders")
    assert await queue.visibility_timeout_s() == 30


@pytest.mark.integration
@pytest.mark.parametrize("answer", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
async def test_an_answer_that_is_not_sqs_s_is_unreachable_and_no_delete_counts_by_it(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch, answer: tuple[str, bytes]
) -> None:
    use_test_account(monkeypatch)
    with always(*answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", url)
        by_name, by_url = await connect(stack, "orders"), await connect(stack, URL)
        for call in (by_name.visibility_timeout_s(), by_url.visibility_timeout_s(), by_url.receive(1, 1, 30)):
            with pytest.raises(Unreachable, match="whatever answered there does not speak AWS's API") as caught:
                await call
            assert "secret" not in str(caught.value)
        with pytest.raises(Unreachable):
            await by_url.delete(["r0", "r1"])


@pytest.mark.integration
async def test_an_empty_object_means_no_queue_no_lease_and_nothing_deleted(
    stack: AsyncExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`{}` is SQS's own answer to a receive that brings nothing, so only the other calls can tell."""
    use_test_account(monkeypatch)
    with always("application/x-amz-json-1.0", b"{}") as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", url)
        by_name, by_url = await connect(stack, "orders"), await connect(stack, URL)
        with pytest.raises(Unreachable, match="no 'QueueUrl' in it"):
            await by_name.visibility_timeout_s()
        with pytest.raises(Unreachable, match="no 'Attributes' in it"):
            await by_url.visibility_timeout_s()
        assert await by_url.receive(1, 0, 30) == []
        assert [failure.index for failure in await by_url.delete(["r0", "r1"])] == [0, 1]


class Answers:
    """An SQS client that gives one answer to whatever is asked."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = {**answer, "ResponseMetadata": {"HTTPHeaders": {}}}

    async def get_queue_attributes(self, **_: object) -> dict[str, Any]:
        return self._answer

    async def receive_message(self, **_: object) -> dict[str, Any]:
        return self._answer


@pytest.mark.parametrize("said", ["soon", "-1", "43201", None])
async def test_a_visibility_timeout_that_is_none_of_sqs_s_is_not_believed(said: object) -> None:
    with pytest.raises(Unreachable, match="the answer can't be read"):
        await queue_on(Answers({"Attributes": {"VisibilityTimeout": said}})).visibility_timeout_s()


GOOD = {"MessageId": "m1", "ReceiptHandle": "r1", "Body": "secret"}


@pytest.mark.parametrize(
    "message",
    [
        {"ReceiptHandle": "r1", "Body": "secret"},
        {"MessageId": "m1", "Body": "secret"},
        {**GOOD, "MessageId": 1},
        {**GOOD, "ReceiptHandle": None},
        {**GOOD, "Body": {"secret": 1}},
        {**GOOD, "Attributes": {"ApproximateReceiveCount": "secret"}},
        {**GOOD, "Attributes": {"SentTimestamp": "secret"}},
        {**GOOD, "MessageAttributes": {"a": "secret"}},
    ],
)
async def test_a_message_that_is_none_of_sqs_s_fails_its_poll_and_is_not_quoted(message: dict[str, Any]) -> None:
    with pytest.raises(Unreachable, match="the answer can't be read") as caught:
        await queue_on(Answers({"Messages": [message]})).receive(1, 0, 30)
    assert "secret" not in str(caught.value)


@pytest.mark.integration
async def test_polls_and_everything_else_have_a_connection_pool_each(sqs: Any, stack: AsyncExitStack) -> None:
    """The mistake of misk #3811: long polls take the connections that deletes need."""
    sqs.create_queue(QueueName="orders")
    queue: Any = await connect(stack, "orders", region=REGION)
    assert queue._polls._endpoint.http_session is not queue._rest._endpoint.http_session


@pytest.mark.integration
async def test_a_visibility_change_carries_each_messages_own_timeout(sqs: Any, stack: AsyncExitStack) -> None:
    url = sqs.create_queue(QueueName="orders")["QueueUrl"]
    for body in ("a", "b"):
        sqs.send_message(QueueUrl=url, MessageBody=body)
    queue = await connect(stack, "orders")
    held = await queue.receive(10, 0, 30)
    held += await queue.receive(10, 0, 30)
    first, second = held
    assert (
        await queue.change_visibility(
            [VisibilityChange(first.receipt_handle, 0), VisibilityChange(second.receipt_handle, 100)]
        )
        == []
    )
    assert [message.message_id for message in await queue.receive(10, 0, 30)] == [first.message_id]
